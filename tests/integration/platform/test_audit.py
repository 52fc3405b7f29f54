"""The audit log commits with the act it tells of, and holds no secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.platform.audit import Entry, Subject, record, record_all
from bobusang.platform.tables import audit_log

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from tests.integration.platform.manual import ManualClock


@dataclass
class Account:
    name: str
    api_key: str
    url: str


async def entries(db: Database) -> list[tuple[object, ...]]:
    async with db.read() as tx:
        rows = await tx.fetch(audit_log.select().order_by(audit_log.c.id))
    names = ("actor", "action", "subject_type", "subject_id")
    return [
        (utc(row["at"]), *(row[name] for name in names), *(_data(row[name]) for name in ("before_data", "after_data")))
        for row in rows
    ]


def _data(text: str | None) -> object:
    return None if text is None else json.loads(text)


async def test_an_act_is_recorded_with_before_and_after_but_no_secret(db: Database, clock: ManualClock) -> None:
    account = Account("부산점", "k-123", "https://bob:pw@shop.example/")
    async with db.begin() as tx:
        await record(tx, "minji", "account.create", Subject("account", 7), after=account)
        await record_all(
            tx,
            Entry("key:ci", "schedule.pause", Subject("schedule", "s-1"), {"active": True}, {"active": False}),
            Entry("system", "account.delete", Subject("account", 7), {"nested": [{"token": "t", "kept": 1}]}, None),
        )
    now = clock.now()
    safe = {"name": "부산점", "api_key": "***", "url": "https://bob:***@shop.example/"}
    assert await entries(db) == [
        (now, "minji", "account.create", "account", "7", None, safe),
        (now, "key:ci", "schedule.pause", "schedule", "s-1", {"active": True}, {"active": False}),
        (now, "system", "account.delete", "account", "7", {"nested": [{"token": "***", "kept": 1}]}, None),
    ]


async def test_an_act_that_is_rolled_back_is_not_recorded(db: Database) -> None:
    async def doomed() -> None:
        async with db.begin() as tx:
            await record(tx, "minji", "job.cancel", Subject("job", 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await doomed()
    assert await entries(db) == []


async def test_what_is_not_data_is_refused(small_db: Database) -> None:
    with pytest.raises(Invalid) as caught:
        async with small_db.begin() as tx:
            await record(tx, "minji", "job.cancel", Subject("job", 1), before=object())
    assert caught.value.field == "before"
