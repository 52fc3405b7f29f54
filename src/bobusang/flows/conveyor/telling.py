"""What people are told of stages and batches that failed: one alert a brand and stage, one a mode, whichever batch it
was, over when that has run well or is run no more."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.conveyor import choosing
from bobusang.flows.conveyor.model import Brand, Mode, Stage
from bobusang.platform.alerting import open_alerts, settle_alerts
from bobusang.platform.notifier import Level, Notice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Database, Tx

STAGE, BATCH = "conveyor.stage", "conveyor.batch"
LONGEST_KEY = 200
EVERY = timedelta(minutes=1)


def stage_key(stage: Stage, brand: Brand) -> str:
    """Which trouble it is. PARTIAL has no pictures, so by running well it does not end what FULL said of them."""
    return f"{STAGE}:{stage}:{brand.mall}:{brand.name}"[:LONGEST_KEY]


def batch_key(mode: Mode) -> str:
    """A mode that fails every hour is one trouble, not twenty-four a day."""
    return f"{BATCH}:{mode}"


def stage_failed(stage: Stage, brand: Brand, batch_id: str, text: str) -> Notice:
    """A stage of a brand is in ERROR."""
    return _notice(stage_key(stage, brand), f"{brand.mall} {brand.name}: {stage} failed", batch_id, text)


def batch_failed(mode: Mode, batch_id: str, text: str) -> Notice:
    """A batch is over, and not well."""
    return _notice(batch_key(mode), f"{mode} batch {batch_id} failed", batch_id, text)


def _notice(key: str, title: str, batch_id: str, text: str) -> Notice:
    words = f"{text}. `bobusang run show {batch_id}` tells more."
    return Notice(key, Level.WARNING, title, words, fields={"batch": batch_id})


def settle(db: Database, collector: Collector) -> Duty:
    """Every minute: alerts of brands that nobody runs any more, because they were blocked or their mall was switched
    off. They cannot run well again, and would be reminded of for ever."""

    async def run() -> int:
        async with db.read() as tx:
            gone = await _retired(tx, collector)
        if gone:
            await db.transact(lambda tx: settle_alerts(tx, gone))
        return 0

    return Duty("conveyor alerts", EVERY, run)


async def _retired(tx: Tx, collector: Collector) -> list[str]:
    lasting = [one.key for one in await open_alerts(tx) if one.rule == STAGE]
    if not lasting:
        return []
    malls = await choosing.enabled(tx, collector)
    known = _keys([*await choosing.accepted(tx, malls), *await choosing.on_sale(tx, malls)])
    return [key for key in lasting if key not in known]


def _keys(brands: Iterable[Brand]) -> set[str]:
    return {stage_key(stage, brand) for brand in brands for stage in Stage}
