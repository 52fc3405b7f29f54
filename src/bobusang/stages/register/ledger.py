"""The ledger of calls: what an account has used, booked with the intent, so that a crash never counts too little."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.stages.register.budget import DAY, HOUR, Used, slot
from bobusang.stages.register.market import Family

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from bobusang.kit.db import Tx

USED = Statement("select slot, family, calls from call_ledger where account_id = :account and slot >= :since")
ALL_USED = Statement("select account_id, slot, family, calls from call_ledger where slot >= :since")
_BOOK = "insert into call_ledger (account_id, slot, family, calls) values (:account, :slot, :family, :calls)"
BOOK = Statement(
    f"{_BOOK} on conflict (account_id, slot, family) do update set calls = call_ledger.calls + excluded.calls",
    mariadb=f"{_BOOK} on duplicate key update calls = calls + values(calls)",
)
FORGET = Statement("delete from call_ledger where account_id = :account and slot < :before")


async def used(tx: Tx, account: int, lease: timedelta) -> Used:
    """The calls of the last day, and those that were booked before it and sent in it; read under the account's lock."""
    rows = await tx.fetch(USED, account=account, since=slot(tx.now - DAY - lease))
    return Used({(utc(row["slot"]), Family(row["family"])): row["calls"] for row in rows}, lease)


async def all_used(tx: Tx) -> dict[int, Used]:
    """The same of every account that called, for whoever only looks."""
    found: dict[int, dict[tuple[datetime, Family], int]] = {}
    for row in await tx.fetch(ALL_USED, since=slot(tx.now - DAY)):
        found.setdefault(row["account_id"], {})[utc(row["slot"]), Family(row["family"])] = row["calls"]
    return {account: Used(calls) for account, calls in found.items()}


async def book(tx: Tx, account: int, families: Iterable[Family]) -> None:
    """Count calls that are about to be made, and forget those that count no more: no lease is an hour long."""
    for family, calls in sorted(Counter(families).items()):
        await tx.execute(BOOK, account=account, slot=slot(tx.now), family=family, calls=calls)
    await tx.execute(FORGET, account=account, before=slot(tx.now - DAY - HOUR))
