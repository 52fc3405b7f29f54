"""People of the screen, by the API: invited, changed, shut out; the last admin stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.entry.people import links, passwords, signed_in, users
from bobusang.entry.people.signed_in import Attendance
from bobusang.entry.tables import Role

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

PASSWORD = "correct horse battery"


async def person(door: Door, name: str, role: Role) -> int:
    stored = await passwords.hashed(PASSWORD)
    return (await door.app.engine.db.transact(lambda tx: users.make(tx, name, role, stored))).id


async def session(door: Door, user_id: int) -> str:
    return await door.app.engine.db.transact(lambda tx: signed_in.begin(tx, user_id, "a browser"))


async def shown(door: Door) -> list[tuple[str, str, bool]]:
    found: list[dict[str, Any]] = (await door.admin.get("/users")).json()["items"]
    return [(one["name"], one["role"], one["disabled_at"] is None) for one in found]


async def test_an_invitation_makes_a_person_of_its_role_once(door: Door) -> None:
    path = (await door.admin.post("/users/invitations", json={"role": "operator"})).json()["path"]
    token = path.removeprefix("/ui/welcome/")
    stored = await passwords.hashed(PASSWORD)

    made = await door.app.engine.db.transact(lambda tx: links.use(tx, token, "길동", stored))

    assert (made.name, made.role) == ("길동", Role.OPERATOR)
    assert await shown(door) == [("길동", "operator", True)]
    acts = (await door.get("/audit", subject_type="user"))["items"]
    assert [(act["actor"], act["action"]) for act in acts] == [("길동", "user.create"), ("the admin", "user.invite")]
    assert token not in str(acts)


async def test_a_link_for_a_password_ends_all_sessions_when_it_is_used(door: Door) -> None:
    user_id = await person(door, "길동", Role.VIEWER)
    token, attendance = await session(door, user_id), Attendance(door.app.engine.db)
    path = (await door.admin.post(f"/users/{user_id}/link", json={})).json()["path"]
    assert (await attendance.find(token)) is not None

    stored = await passwords.hashed("another long password")
    link = path.removeprefix("/ui/welcome/")
    await door.app.engine.db.transact(lambda tx: links.use(tx, link, "", stored))
    attendance.forget()

    assert await attendance.find(token) is None
    async with door.app.engine.db.read() as tx:
        found = await users.named(tx, "길동")
    assert found is not None
    assert [await passwords.is_right(found[1], one) for one in ("another long password", PASSWORD)] == [True, False]


async def test_who_is_shut_out_is_out_and_may_come_back(door: Door) -> None:
    user_id = await person(door, "길동", Role.VIEWER)
    token = await session(door, user_id)

    assert (await door.admin.post(f"/users/{user_id}/disable")).status_code == 200

    assert await Attendance(door.app.engine.db).find(token) is None
    assert await shown(door) == [("길동", "viewer", False)]
    assert (await door.admin.post(f"/users/{user_id}/link", json={})).status_code == 409
    assert (await door.admin.post(f"/users/{user_id}/enable")).status_code == 200
    assert await shown(door) == [("길동", "viewer", True)]


async def test_the_last_admin_stays(door: Door) -> None:
    only = await person(door, "주인", Role.ADMIN)
    refused = [
        (await door.admin.post(f"/users/{only}/disable")).status_code,
        (await door.admin.put(f"/users/{only}/role", json={"role": "viewer"})).status_code,
    ]
    other = await person(door, "딴 주인", Role.ADMIN)

    assert refused == [409, 409]
    assert (await door.admin.put(f"/users/{only}/role", json={"role": "viewer"})).json()["role"] == "viewer"
    assert (await door.admin.post(f"/users/{other}/disable")).status_code == 409


async def test_the_first_link_is_made_until_there_is_an_admin(door: Door) -> None:
    db = door.app.engine.db
    first, second = await links.first(db), await links.first(db)
    assert first is not None
    assert second is not None
    stored = await passwords.hashed(PASSWORD)

    async def used(tx: Tx) -> None:
        await links.use(tx, second, "주인", stored)

    await db.transact(used)

    assert await links.first(db) is None
    async with db.read() as tx:
        found = await users.named(tx, "주인")
    assert found is not None
    assert found[0].role is Role.ADMIN
