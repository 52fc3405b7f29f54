"""Who comes in and how: signing in and out, one-time links, and what is refused at the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.entry.people import links
from bobusang.entry.tables import Role
from tests.web.screen import PASSWORD

if TYPE_CHECKING:
    from tests.web.screen import Screen


async def test_a_stranger_is_sent_to_the_door_and_then_to_where_he_wanted(screen: Screen) -> None:
    page = await screen.stranger.get("/held", kind="brands")
    assert (page.status, page.url) == (200, "https://shop.test/ui/sign-in")

    jar = screen.stranger.client
    answer = await jar.post("/ui/sign-in", data={"name": "the viewer", "password": PASSWORD})

    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/held?kind=brands")


async def test_a_wrong_password_says_no_more_than_a_wrong_name(screen: Screen) -> None:
    said = []
    for name in ("the viewer", "nobody"):
        page = await screen.stranger.client.post("/ui/sign-in", data={"name": name, "password": "wrong password"})
        assert page.status_code == 401
        said.append(page.text.replace(f'value="{name}"', ""))

    assert said[0] == said[1]


async def test_guessing_is_slowed_down(screen: Screen) -> None:
    answers = [
        (
            await screen.stranger.client.post("/ui/sign-in", data={"name": "the admin", "password": f"guess {one}"})
        ).status_code
        for one in range(12)
    ]

    assert answers[0] == 401
    assert answers[-1] == 429


async def test_signing_out_ends_the_session_and_not_only_the_cookie(screen: Screen) -> None:
    assert (await screen.viewer.get("/")).url == "https://shop.test/ui/"

    await screen.viewer.post("/sign-out")

    assert (await screen.viewer.get("/")).url == "https://shop.test/ui/sign-in"


async def test_a_link_makes_one_person_once(screen: Screen) -> None:
    token = await screen.app.engine.db.transact(lambda tx: links.make(tx, "the admin", Role.OPERATOR))
    form = {"name": "길동", "password": PASSWORD}

    first = await screen.stranger.client.post(f"/ui/welcome/{token}", data=form)
    screen.stranger.client.cookies.clear()
    second = await screen.stranger.client.post(f"/ui/welcome/{token}", data={**form, "name": "꺽정"})

    assert (first.status_code, first.headers["location"], second.status_code) == (303, "/ui/", 404)


@pytest.mark.parametrize("headers", [{"origin": "http://evil"}, {"sec-fetch-site": "cross-site"}])
async def test_a_form_of_another_site_is_refused(screen: Screen, headers: dict[str, str]) -> None:
    token = (await screen.admin.get("/")).csrf

    answer = await screen.admin.client.post("/ui/me", data={"csrf": token, "language": "ko"}, headers=headers)

    assert answer.status_code == 403


@pytest.mark.parametrize("token", ["", "0" * 80])
async def test_a_form_without_our_secret_is_refused(screen: Screen, token: str) -> None:
    answer = await screen.admin.client.post("/ui/me", data={"csrf": token, "language": "ko"})

    assert answer.status_code == 403


async def test_a_person_chooses_his_language(screen: Screen) -> None:
    assert (await screen.viewer.get("/")).text("h1") == "Overview"

    page = await screen.viewer.post("/me", language="ko", theme="dark", zone="Asia/Tokyo")

    assert (page.text("h1"), page.text(".said")) == ("개요", "저장했습니다")
    assert 'data-theme="dark"' in page.html


async def test_every_answer_carries_the_policy(screen: Screen) -> None:
    for path in ("/", "/sign-in", "/no-such-page"):
        page = await screen.admin.get(path)
        assert page.headers["content-security-policy"].startswith("default-src 'self'; script-src 'self';")
        assert page.headers["cache-control"] == "no-store"
