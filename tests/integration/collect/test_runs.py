"""Runs count what their batches add, from several processes at once; and what a target's data are worth."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.errors import Missing
from bobusang.stages.collect import quality, runs
from bobusang.stages.collect.model import Run, RunMode, RunState, Saved
from bobusang.stages.collect.policy import Guards
from bobusang.stages.collect.quality import Quality
from bobusang.stages.collect.source import Extent
from tests.integration.collect.mall import BRAND, NAME, Collector, item, list_ask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bobusang.catalog.model import Snapshot
    from bobusang.kit.db import Database, Tx
    from bobusang.testing.clock import ManualClock


@pytest.fixture
def mall(db: Database, tmp_path: Path) -> Collector:
    return Collector(db, tmp_path)


def good(key: str, price: int = 10_000, **more: Any) -> Snapshot:
    """An item that lacks nothing."""
    told = {"brand": "나이키", "images": ["https://mall.example/1.jpg"], "url": "https://mall.example/1"}
    return item(key, price, **{**told, "sold_out": False, **more})


async def test_two_processes_add_to_one_run_and_none_loses_anything(
    mall: Collector, other: Database, clock: ManualClock
) -> None:
    second = replace(mall, db=other)
    await mall.plan(1)
    pages = [
        await mall.fetched(1, list_ask(page), item(f"{page}-1"), item(f"{page}-2", unknown=["price"]), extent(page))
        for page in range(1, 9)
    ]
    await asyncio.gather(*((mall, second)[at % 2].save(page) for at, page in enumerate(pages)))
    assert await mall.do(lambda tx: runs.get(tx, 1)) == Run(
        job_id=1,
        source=NAME,
        target=BRAND.name,
        mode=RunMode.FULL,
        known=0,
        started_at=clock.now(),
        total=16,
        pages_read=8,
        new=16,
        tallies={"seen": {"price": 16}, "unknown": {"price": 8}, "changed": {}},
    )
    summary = await mall.close(1)
    assert (summary.run.state, summary.run.listed) == (RunState.PROVED, 16)


def extent(page: int) -> Extent:
    return Extent((f"{page}-1", f"{page}-2"), 16, page)


async def test_two_processes_that_read_the_same_new_item_make_it_once(mall: Collector, other: Database) -> None:
    second = replace(mall, db=other)
    await mall.plan(1)
    await mall.plan(2)
    pages = [await mall.fetched(run, list_ask(1), item("a"), item("b")) for run in (1, 2)]
    saved = await asyncio.gather(mall.save(pages[0]), second.save(pages[1]))
    assert saved[0] + saved[1] == Saved(pages=2, items=4, new=2, same=2)


async def test_two_processes_that_hold_the_same_reading_hold_it_once(mall: Collector, other: Database) -> None:
    await mall.whole_run(1, item("a"))
    second = replace(mall, db=other)
    pages = [await mall.fetched(run, list_ask(1), item("a", 100)) for run in (2, 3)]
    await asyncio.gather(mall.save(pages[0]), second.save(pages[1]))
    assert await mall.rows("select state, readings from held_writes") == [("HELD", 2)]


async def test_a_batch_costs_the_same_statements_however_many_items_it_has(mall: Collector) -> None:
    async def cost(run: int, items: Sequence[Snapshot]) -> int:
        await mall.plan(run)
        page = await mall.fetched(run, list_ask(1), *items, Extent(tuple(one.key for one in items), len(items)))
        counted = 0

        async def once(tx: Tx) -> Saved:
            nonlocal counted
            inner = tx._fetch, tx._execute, tx._insert, tx._revise
            for name, call in zip(("_fetch", "_execute", "_insert", "_revise"), inner, strict=True):
                setattr(tx, name, counting(call))
            return await mall.collecting.save(tx, [page])

        def counting(call: Any) -> Any:
            async def counts(*args: Any) -> Any:
                nonlocal counted
                counted += 1
                return await call(*args)

            return counts

        await mall.db.transact(once)
        return counted

    few, many = [item(f"f{at}") for at in range(2)], [item(f"m{at}") for at in range(200)]
    await cost(1, [item("w")])  # scopes are made and ids taken in blocks, once
    first = [await cost(2, few), await cost(3, many)]
    again = [await cost(4, few), await cost(5, many)]
    assert first[0] == first[1]
    assert again[0] == again[1] < first[0]


async def test_runs_are_shown_the_newest_first(mall: Collector) -> None:
    for run in (1, 2, 3):
        await mall.whole_run(run, item("a"))
    async with mall.db.read() as tx:
        shown = [await runs.recent(tx, limit=2), await runs.recent(tx, source=NAME, target=BRAND.name, before=2)]
        assert [[run.job_id for run in part] for part in shown] == [[3, 2], [1]]
        assert await runs.recent(tx, source="elsewhere") == []
        with pytest.raises(Missing, match="job 9 has collected nothing"):
            await runs.get(tx, 9)


async def test_what_lists_told_is_forgotten_some_time_after_their_runs(mall: Collector, clock: ManualClock) -> None:
    await mall.whole_run(1, item("a"))
    clock.advance(days=2)
    await mall.whole_run(2, item("a"))
    before = clock.advance(days=1)
    old = before.replace(day=before.day - 2)
    assert [await mall.do(lambda tx: runs.forget_pages(tx, old)) for _ in range(2)] == [1, 0]
    assert await mall.rows("select job_id from list_pages") == [(2,)]


async def test_a_guard_that_tripped_stops_the_other_process_too(db: Database, other: Database, tmp_path: Path) -> None:
    mall = Collector(db, tmp_path, Guards(mass_least=2))
    second = replace(mall, db=other)
    await mall.whole_run(1, *(item(key) for key in "abcd"))
    await mall.plan(2)
    await mall.listed(2, item("a", 9_000), item("b", 9_000))
    saved = await second.listed(2, item("c", 9_000), page=2)
    assert (saved, await mall.prices()) == (
        Saved(pages=1, items=1, held=1),
        {"a": 9_000, "b": 10_000, "c": 10_000, "d": 10_000},
    )


async def test_the_quality_of_a_target_and_its_parts(mall: Collector, clock: ManualClock) -> None:
    await mall.whole_run(1, good("fresh"), good("old"), good("held"), good("dear", list_price=9_000), item("bare"))
    clock.advance(hours=30)
    others = (good("fresh"), good("held", 100), good("dear", list_price=9_000), item("bare"))
    await mall.plan(2)
    await mall.listed(2, *others, total=5)
    async with mall.db.read() as tx:
        assert await quality.measure(tx, NAME, BRAND.name) == Quality(
            items=5, completeness=26 / 30, validity=4 / 5, freshness=4 / 5, consistency=4 / 5
        )
        assert await quality.measure(tx, NAME, "brand:none") == Quality(0, 0.0, 0.0, 0.0, 0.0)


async def test_a_price_that_flaps_is_not_consistent(mall: Collector) -> None:
    for run in range(1, 10):
        await mall.whole_run(run, good("flaps", 10_000 + run % 2), good("calm"))
    async with mall.db.read() as tx:
        assert (await quality.measure(tx, NAME, BRAND.name)).consistency == 0.5
