"""API keys: who gets in, how far, and what is written down about it."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bobusang.entry.api import create_app, keys
from bobusang.entry.api.keys import first_key, hashed
from bobusang.entry.tables import Role, api_keys
from bobusang.kit.db import connect
from bobusang.testing.clock import ManualClock
from bobusang.wiring import build
from tests.integration.api.door import opened, settings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tests.integration.api.door import Door

OPEN = {"/health", "/health/live", "/health/ready", "/media/{sha256}", "/webhooks/{market}/{account}", "/in/{source}"}
ADMIN_ONLY = {
    ("post", "/workflows"),
    ("post", "/workflows/{workflow_id}/activate"),
    ("post", "/workflows/{workflow_id}/deactivate"),
    ("put", "/workflows/{workflow_id}/limits"),
    ("delete", "/workflows/{workflow_id}/limits"),
    ("put", "/target-mappings"),
    ("put", "/queues/pools/{pool}"),
    ("post", "/subscriptions"),
    ("delete", "/subscriptions/{subscription_id}"),
    ("post", "/subscriptions/{subscription_id}/pause"),
    ("post", "/subscriptions/{subscription_id}/resume"),
    ("post", "/subscriptions/{subscription_id}/redrive"),
    ("post", "/sources/{name}/enable"),
    ("post", "/sources/{name}/key"),
    ("post", "/suppliers"),
    ("put", "/suppliers/{name}"),
    ("patch", "/suppliers/{name}"),
    ("post", "/accounts"),
    ("patch", "/accounts/{market}/{name}"),
    ("post", "/rates/{sheet}"),
    ("post", "/fx"),
    ("post", "/fx/import"),
    ("put", "/prices/policy"),
    ("get", "/api-keys"),
    ("post", "/api-keys"),
    ("delete", "/api-keys/{key_id}"),
    ("get", "/users"),
    ("post", "/users/invitations"),
    ("post", "/users/{user_id}/link"),
    ("put", "/users/{user_id}/role"),
    ("post", "/users/{user_id}/disable"),
    ("post", "/users/{user_id}/enable"),
}
FOR_VIEWERS = {("post", "/workflows/check"), ("post", "/previews"), ("post", "/webhooks/{market}/{account}")}
FOR_VIEWERS |= {("post", "/in/{source}")}


def operations(door: Door) -> list[tuple[str, str]]:
    return [(method, path) for path, found in door.api.openapi()["paths"].items() for method in found]


def sent(method: str, path: str) -> dict[str, Any]:
    url = re.sub(r"\{\w+\}", "1", path)
    return {"method": method, "url": url} | ({"json": {}} if method in ("post", "put", "patch") else {})


async def test_every_path_but_health_pictures_and_webhooks_needs_a_key(small: Door) -> None:
    answers = {(method, path): await small.stranger.request(**sent(method, path)) for method, path in operations(small)}

    let_in = {path for (_, path), answer in answers.items() if answer.status_code != 401}
    assert let_in == OPEN
    refused = answers["get", "/jobs"]
    assert refused.headers["www-authenticate"] == 'Bearer realm="bobusang"'
    assert refused.headers["content-type"] == "application/problem+json"
    assert {name: refused.json()[name] for name in ("status", "code", "detail")} == {
        "status": 401,
        "code": "unauthorised",
        "detail": "no API key was sent",
    }


@pytest.mark.parametrize("role", list(Role))
async def test_each_role_may_do_what_it_may_and_no_more(small: Door, role: Role) -> None:
    await small.app.finder.rebuilding.heal()  # there is something to search
    client = small.clients[role]
    forbidden = set()
    for method, path in operations(small):
        answer = await client.request(**sent(method, path))
        assert answer.status_code < 500, (method, path, answer.text)
        assert answer.status_code != 401
        if answer.status_code == 403:
            assert answer.json()["code"] == "forbidden"
            forbidden.add((method, path))

    acts = {one for one in operations(small) if one[0] != "get"} - FOR_VIEWERS
    expected = {Role.VIEWER: acts | ADMIN_ONLY, Role.OPERATOR: ADMIN_ONLY, Role.ADMIN: set()}
    assert forbidden == expected[role]


async def test_a_key_is_made_shown_once_used_and_revoked(door: Door) -> None:
    made = (await door.admin.post("/api-keys", json={"name": "손님 🧳", "role": "operator"})).json()
    assert re.fullmatch(r"bobu_[A-Za-z0-9_-]{43}", made["key"])
    guest = {"authorization": f"Bearer {made['key']}"}
    assert (await door.stranger.get("/jobs", headers=guest)).status_code == 200

    listed = (await door.admin.get("/api-keys")).json()["items"]
    line = next(one for one in listed if one["id"] == made["id"])
    assert {name: line[name] for name in ("name", "role", "prefix", "revoked_at")} == {
        "name": "손님 🧳",
        "role": "operator",
        "prefix": made["key"][:12],
        "revoked_at": None,
    }
    assert line["last_used_at"] is not None
    assert all("key" not in one and "hash" not in one for one in listed)

    assert (await door.admin.delete(f"/api-keys/{made['id']}")).status_code == 204
    refused = await door.stranger.get("/jobs", headers=guest)
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthorised")
    again = await door.admin.delete(f"/api-keys/{made['id']}")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    acts = (await door.get("/audit", subject_type="api_key"))["items"]
    assert [(act["actor"], act["action"]) for act in acts] == [
        ("the admin", "api_key.revoke"),
        ("the admin", "api_key.create"),
    ]
    assert made["key"] not in str(acts)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic YTpi",
        f"Bearer bobu_{'a' * 43}",
        f"Bearer bobu_{'a' * 5000}",
        "Bearer 열쇠",
    ],
)
async def test_what_is_no_key_of_ours_opens_nothing(small: Door, header: str) -> None:
    answer = await small.stranger.get("/jobs", headers=[(b"authorization", header.encode())])

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorised")


async def test_the_last_admin_key_stays(small: Door) -> None:
    (mine,) = [one for one in (await small.admin.get("/api-keys")).json()["items"] if one["role"] == "admin"]

    refused = await small.admin.delete(f"/api-keys/{mine['id']}")

    assert (refused.status_code, refused.json()["detail"]) == (409, f"API key {mine['id']} is the last admin key")
    await small.admin.post("/api-keys", json={"name": "second", "role": "admin"})
    assert (await small.admin.delete(f"/api-keys/{mine['id']}")).status_code == 204
    assert (await small.admin.get("/jobs")).status_code == 401


async def test_the_use_of_a_key_is_written_down_once_a_minute(empty_sqlite: str) -> None:
    clock = ManualClock()
    db = await connect(empty_sqlite, clock=clock)
    made = await db.transact(lambda tx: keys.make(tx, "k", Role.VIEWER))

    async def used_after(**span: float) -> datetime | None:
        clock.advance(**span)
        await keys.find(db, made.key)
        async with db.read() as tx:
            return (await keys.listed(tx, None, 1))[0].last_used_at

    first = await used_after(seconds=0)
    assert first == clock.now()
    assert await used_after(seconds=59) == first
    assert await used_after(seconds=1) == clock.now()
    await db.close()


async def test_a_database_keeps_no_key_itself(small: Door) -> None:
    async with small.app.engine.db.read() as tx:
        rows = [dict(row) for row in await tx.fetch(api_keys.select())]  # type: ignore[call-overload]

    assert {row["hash"] for row in rows} == {hashed(key) for key in small.keys.values()}
    assert not any(key in str(rows) for key in small.keys.values())


async def test_an_embedded_database_gets_a_first_key_in_a_file_for_its_owner(empty_sqlite: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    db = await connect(empty_sqlite)
    app = build(settings(empty_sqlite, home), db)
    path = await first_key(app)
    assert path == home / "api-key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = path.read_text().strip()
    transport = httpx.ASGITransport(create_app(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://door") as client:
        (line,) = (await client.get("/api-keys", headers={"authorization": f"Bearer {key}"})).json()["items"]
    assert (line["name"], line["role"]) == ("first", "admin")

    assert await first_key(app) == path
    assert path.read_text().strip() == key
    path.write_text("something else")
    assert await first_key(app) is None
    path.unlink()
    assert await first_key(app) is None
    assert list(home.iterdir()) == []
    await db.close()


async def test_a_folder_that_cannot_be_written_leaves_no_key_behind(empty_sqlite: str, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    db = await connect(empty_sqlite)
    app = build(settings(empty_sqlite, blocked / "home"), db)
    with pytest.raises(Exception, match="cannot be written"):
        await first_key(app)
    async with db.read() as tx:
        assert await keys.listed(tx, None, 10) == []
    await db.close()


async def test_a_server_database_gets_no_first_key(fresh_postgres: str, tmp_path: Path) -> None:
    db = await connect(fresh_postgres)

    assert await first_key(build(settings(fresh_postgres, tmp_path), db)) is None

    await db.close()


async def test_a_caller_in_our_own_process_is_trusted(empty_sqlite: str, tmp_path: Path) -> None:
    async with opened(empty_sqlite, tmp_path) as door:
        transport = httpx.ASGITransport(create_app(door.app, local=True))
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
            made = await client.post("/api-keys", json={"name": "by hand", "role": "viewer"})
            acts = (await client.get("/audit")).json()["items"]

    assert made.status_code == 201
    assert [(act["actor"], act["action"]) for act in acts] == [("cli", "api_key.create")]
