"""What is for sale again after the market had confirmed that it is out is told once more, without a run."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.market.closing import limited
from bobusang.flows.market.inbox import accounts_of
from bobusang.kit import log
from bobusang.stages.register import reopening

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.service import Register

EVERY = timedelta(minutes=1)
PAUSE = timedelta(seconds=2)
AT_ONCE = 50


def close_again(db: Database, register: Register) -> Duty:
    """Soon after a word that nobody asked for; one question a minute an account for those whose bell nobody heard."""

    async def run() -> int:
        return sum([await _closed_again(db, register, account) for account in await accounts_of(db, register)])

    return Duty("reopened listings", EVERY, run, frozenset({reopening.BELL}), PAUSE)


async def _closed_again(db: Database, register: Register, account: Account) -> int:
    """By the guards of every run; each account by itself: one that cannot send must not keep the others waiting."""
    if not account.enabled:
        return 0
    async with db.read() as tx:
        found, day = await reopening.found(tx, account.id), f"{tx.now:%Y-%m-%d}"
    try:
        parts = [found[start : start + AT_ONCE] for start in range(0, len(found), AT_ONCE)]
        return sum([await limited(db, register, account, f"reopened {day}", part, {}) for part in parts])
    except Exception as error:
        log.get("market").error("reopened listings cannot be sent", account=account.name, error=repr(error))
        return 0
