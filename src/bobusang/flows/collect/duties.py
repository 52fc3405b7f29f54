"""What upkeep does for collecting: rests that are over, limits nobody shares, old counts, raw pages nobody needs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.stages.collect import counts, identities, runs

if TYPE_CHECKING:
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

KEEP_PAGES = timedelta(days=7)
"""What each list page told is needed until its run is closed, and looked at for some days after."""
FOLD_AFTER = timedelta(days=2)


def awaken(collector: Collector) -> Duty:
    """Every minute: identities whose rest is over."""

    async def run() -> int:
        await collector.db.transact(identities.awaken)
        return 0

    return Duty("identities", timedelta(minutes=1), run)


def share(collector: Collector) -> Duty:
    """Every five seconds: whether several workers count calls each for itself."""

    async def run() -> int:
        await collector.sharing.watch()
        return 0

    return Duty("shared limits", timedelta(seconds=5), run)


def tidy(collector: Collector) -> Duty:
    """Every hour: fold old counts, forget the pages of old runs."""

    async def run() -> int:
        async def work(tx: Tx) -> int:
            before = (tx.now - FOLD_AFTER).date()
            return await counts.fold(tx, before) + await runs.forget_pages(tx, tx.now - KEEP_PAGES)

        return await collector.db.transact(work)

    return Duty("collect tidying", timedelta(hours=1), run, pause=timedelta(seconds=1))


def prune_raw(collector: Collector, keep: timedelta) -> Duty:
    """Every six hours: raw pages that nothing refers to any more."""
    run = partial(_pruned, collector, keep)
    return Duty("raw pages", timedelta(hours=6), run)


async def _pruned(collector: Collector, keep: timedelta) -> int:
    await collector.service.archive.prune(collector.db, keep)
    return 0
