"""Accidents of real shops, tried here: a mall's bad hour takes nothing off our shelves (docs/incidents.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.catalog.model import Snapshot
from bobusang.stages.collect import held
from bobusang.stages.collect.guards import Guard
from bobusang.stages.collect.policy import Guards
from tests.integration.collect.mall import NAME, Collector, item

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database

KEYS = [f"k{number:02}" for number in range(40)]


@pytest.fixture
async def mall(db: Database, tmp_path: Path) -> Collector:
    """A list of forty, collected once."""
    found = Collector(db, tmp_path, Guards(mass_least=4))
    await found.whole_run(1, *(item(key, sold_out=False) for key in KEYS))
    return found


async def guards(mall: Collector) -> list[str]:
    async with mall.db.read() as tx:
        return sorted({str(one.guard) for one in await held.find(tx)})


async def test_a_page_that_is_away_while_the_list_shows_the_product_closes_nothing(mall: Collector) -> None:
    """One mall's reader took every error for "gone" while its eleven sisters did not."""
    await mall.plan(2)
    await mall.listed(2, *(item(key, sold_out=False) for key in KEYS), total=40)
    saved = await mall.detail(2, Snapshot(NAME, KEYS[0], {"gone": True}))
    await mall.close(2)

    assert (saved.changed, saved.held) == (0, 1)
    assert await guards(mall) == [Guard.CONTRADICTION]
    assert await mall.unlisted() == set()


async def test_all_items_sold_out_at_once_are_held_before_a_market_hears_of_it(mall: Collector) -> None:
    """A bug upstream sets all stock to 0: the breaker of the run comes before that of the market."""
    await mall.plan(2)
    for place in range(0, 40, 4):
        await mall.listed(2, *(item(key, sold_out=True) for key in KEYS[place : place + 4]), page=place, total=40)
    summary = await mall.close(2)

    assert (summary.run.tripped, summary.absent) == ("mass_change", 0)
    assert await guards(mall) == [Guard.MASS_CHANGE]
    sold_out = sum(fields["sold_out"] is True for fields in (await mall.truth()).values())
    assert (sold_out, summary.run.held) == (8, 32)


async def test_pages_of_which_none_could_be_read_leave_everything_as_it_was(mall: Collector) -> None:
    before = await mall.truth()
    for run in (2, 3, 4):
        await mall.plan(run)
        summary = await mall.close(run, failed=1)

        assert (summary.missed, summary.absent) == (0, 0)
    assert await mall.truth() == before
