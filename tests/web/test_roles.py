"""Who may do what: every route of the screen, as somebody of every role. A viewer changes nothing by any of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.entry.tables import Role
from bobusang.entry.web import MODULES

if TYPE_CHECKING:
    from bobusang.entry.web.pages import Route
    from tests.web.screen import Screen

ROUTES = [route for module in MODULES for route in module.routes]
CHANGING = [route for route in ROUTES if route.method == "POST"]
OWN = {"/sign-out", "/me"}
"""What everybody may change: himself."""
FOR_ALL = {"/sign-in", "/welcome/{token}", "/language"}


def address(route: Route) -> str:
    return re.sub(r"\{[^}]+\}", "1", route.path)


def name(route: Route) -> str:
    return f"{route.method} {route.path}"


def test_no_two_routes_have_the_same_address() -> None:
    names = [name(route) for route in ROUTES]

    assert sorted(names) == sorted(set(names))


def test_only_the_doors_are_open_to_strangers() -> None:
    assert {route.path for route in ROUTES if route.role is None} == FOR_ALL


def test_whatever_changes_something_needs_more_than_a_viewer() -> None:
    assert {route.path for route in CHANGING if route.role is Role.VIEWER} == OWN


async def test_strangers_are_sent_to_the_door_by_every_route(screen: Screen) -> None:
    for route in ROUTES:
        if route.role is not None:
            answer = await screen.stranger.client.request(route.method, f"/ui{address(route)}")
            assert (answer.status_code, answer.headers["location"]) == (303, "/ui/sign-in"), name(route)


async def test_who_may_not_is_refused_by_every_route_and_nothing_is_changed(screen: Screen) -> None:
    before = await _contents(screen)
    for role in (Role.VIEWER, Role.OPERATOR):
        token = (await screen.people[role].get("/")).csrf
        for route in ROUTES:
            if route.role is None or role.includes(route.role):
                continue
            answer = await screen.people[role].client.request(
                route.method, f"/ui{address(route)}", data={"csrf": token} if route.method == "POST" else None
            )
            assert answer.status_code == 403, f"{role}: {name(route)}"

    assert await _contents(screen) == before


@pytest.mark.parametrize("how", ["no token", "another's token", "another site"])
async def test_no_form_is_taken_that_is_not_ours(screen: Screen, how: str) -> None:
    token = (await screen.operator.get("/")).csrf if how == "another's token" else ""
    headers = {"origin": "http://evil"} if how == "another site" else {}
    if how == "another site":
        token = (await screen.admin.get("/")).csrf
    before = await _contents(screen)
    for route in CHANGING:
        if route.role is not None:
            answer = await screen.admin.client.post(f"/ui{address(route)}", data={"csrf": token}, headers=headers)
            assert answer.status_code == 403, name(route)

    assert await _contents(screen) == before


async def _contents(screen: Screen) -> dict[str, Any]:
    """How many lines each table has; sessions and figures move by themselves."""
    from sqlalchemy import func, select

    from bobusang.kit.schema import metadata

    moving = {"engine_statistics", "engine_history", "sessions", "leaders", "workers", "preferences"}
    async with screen.app.engine.db.read() as tx:
        return {
            table.name: await tx.value(select(func.count().label("value")).select_from(table))
            for table in metadata.sorted_tables
            if table.name not in moving
        }
