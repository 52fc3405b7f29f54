"""Pages become truth once, in whatever order; a list that was not proved changes nothing by what it lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bobusang.catalog.model import Snapshot
from bobusang.stages.collect import archive, counts, runs
from bobusang.stages.collect.counts import Counts, Daily, Place
from bobusang.stages.collect.model import ItemFacts, RunMode, RunState, Saved
from bobusang.stages.collect.policy import Guards
from bobusang.stages.collect.source import Ask, Brand, Extent, Kind
from tests.integration.collect.mall import BRAND, NAME, Collector, item, item_ask, list_ask

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock


@pytest.fixture
def mall(db: Database, tmp_path: Path) -> Collector:
    return Collector(db, tmp_path)


async def test_a_page_becomes_truth_with_its_evidence(mall: Collector, clock: ManualClock) -> None:
    asks = await mall.plan(7)
    page = await mall.fetched(7, list_ask(1), item("a"), item("b", 5_000), Extent(("a", "b"), 2), task_id=70)
    saved = await mall.save(page)
    summary = await mall.close(7)

    evidence = await mall.rows("""
        select r.source_id, p.url, p.sha256, p.job_id, p.task_id, l.reader from source_records r
        join data_lineage l on l.child_id = r.version_id join raw_pages p on p.id = l.raw_id order by r.source_id""")
    told = (page.url, page.sha256, 7, 70, "mall@1")
    assert asks == [list_ask(1)]
    assert saved == Saved(pages=1, items=2, new=2)
    assert await mall.prices() == {"a": 10_000, "b": 5_000}
    assert evidence == [("a", *told), ("b", *told)]
    assert (await mall.blobs.get(page.sha256))[:2] == b"[7"
    run = summary.run
    assert (run.state, run.known, run.total, run.pages_read, run.listed, run.new, run.changed, run.held) == (
        RunState.PROVED,
        0,
        2,
        1,
        2,
        2,
        0,
        0,
    )
    assert run.closed_at == clock.now()
    assert await mall.events("collect.finished") == [
        {
            "source": NAME,
            "target": BRAND.name,
            "job_id": 7,
            "mode": "FULL",
            "state": "PROVED",
            "reason": "",
            "tripped": "",
            "pages": 1,
            "known": 0,
            "total": 2,
            "listed": 2,
            "new": 2,
            "changed": 0,
            "held": 0,
            "missed": 0,
            "absent": 0,
        }
    ]


async def test_the_same_page_again_changes_nothing(mall: Collector) -> None:
    await mall.whole_run(1, item("a"), item("b"))
    await mall.plan(2)
    saved = await mall.listed(2, item("a"), item("b"), total=2)
    assert saved == Saved(pages=1, items=2, same=2)
    assert await mall.rows("select count(*) from source_data") == [(2,)]


async def test_pages_of_two_runs_and_kinds_are_saved_together(mall: Collector) -> None:
    await mall.plan(1)
    one = await mall.fetched(1, list_ask(1), item("a"), Extent(("a",), 2))
    two = await mall.fetched(1, list_ask(2), item("b"), Extent(("b",), 2, 2))
    detail = await mall.fetched(1, item_ask("a"), Snapshot(NAME, "a", {"materials": "wool"}))
    other = await mall.fetched(2, list_ask(1), item("c"), Extent(("c",), 1))
    saved = await mall.save(one, two, detail, other)
    assert saved == Saved(pages=4, items=4, new=3, changed=1)
    assert (await mall.truth())["a"] == {"name": "item a", "price": 10_000, "materials": "wool"}
    run = (await mall.close(1)).run
    assert (run.state, run.pages_read, run.listed, run.new, run.changed) == (RunState.PROVED, 2, 2, 2, 1)


async def test_a_partial_run_takes_nothing_new_and_asks_for_nothing_new(mall: Collector) -> None:
    await mall.whole_run(1, item("a"))
    await mall.plan(2, RunMode.PARTIAL)
    found = (item("a", 9_000), item("b"), item_ask("a"), item_ask("b"), list_ask(2), Extent(("a", "b"), 2))
    page = await mall.fetched(2, list_ask(1), *found)
    async with mall.db.read() as tx:
        asks = await mall.collecting.wanted(tx, [page], lambda when, facts: True)
    assert asks == [(item_ask("a"), list_ask(2))]
    assert await mall.save(page) == Saved(pages=1, items=2, changed=1, dropped=1)
    assert await mall.prices() == {"a": 9_000}
    assert (await mall.close(2)).run.state is RunState.PROVED


async def test_conditions_see_the_item_as_it_is_known(mall: Collector, clock: ManualClock) -> None:
    await mall.whole_run(1, item("same"), item("dearer"))
    await mall.detail(1, item("same"))
    clock.advance(hours=2)
    seen: dict[str, ItemFacts] = {}

    def holds(when: str, facts: ItemFacts) -> bool:
        seen[when] = facts
        return facts.new or "price" in facts.changed

    whens = {key: f"changed(price) of {key}" for key in ("same", "dearer", "new")}
    asks = [item_ask(key, when) for key, when in whens.items()]
    page = await mall.fetched(2, list_ask(1), item("same"), item("dearer", 11_000), item("new"), *asks)
    async with mall.db.read() as tx:
        kept = await mall.collecting.wanted(tx, [page], holds)
    assert kept == [(asks[1], asks[2])]
    told = clock.now()
    assert seen == {
        whens["same"]: ItemFacts(new=False, age=told - page.fetched_at.replace(hour=12), due=False),
        whens["dearer"]: ItemFacts(new=False, changed=frozenset({"price"})),
        whens["new"]: ItemFacts(),
    }


async def test_a_list_that_only_names_items_keeps_them_alive(mall: Collector) -> None:
    await mall.plan(1)
    await mall.save(await mall.fetched(1, list_ask(1), Extent(("a", "b"), 2)))
    await mall.detail(1, item("a"))
    assert await mall.prices() == {"a": 10_000}  # what was only named is not registered
    for run in (2, 3, 4):
        await mall.plan(run)
        await mall.save(await mall.fetched(run, list_ask(1), Extent(("a", "b"), 2)))
        assert (await mall.close(run)).missed == 0
    await mall.plan(5)
    await mall.save(await mall.fetched(5, list_ask(1), Extent(("b",), 1)))
    assert (await mall.close(5)).missed == 1


# --- absence -------------------------------------------------------------------------------------------------------


def shelf(count: int, *, without: str = "") -> list[Snapshot]:
    return [item(str(key)) for key in range(count) if str(key) not in without.split()]


async def test_absence_needs_two_proved_runs_and_its_return_one_page(mall: Collector) -> None:
    await mall.whole_run(1, *shelf(5))
    first = await mall.whole_run(2, *shelf(5, without="3"))
    assert (first.missed, first.absent, await mall.unlisted()) == (1, 0, set())
    assert await mall.plan(3) == [list_ask(1), item_ask("3")]  # the item's own page is looked at
    await mall.listed(3, *shelf(5, without="3"), total=4)
    second = await mall.close(3)
    assert (second.missed, second.absent, await mall.unlisted()) == (0, 1, {"3"})
    evidence = await mall.rows("""
        select f.field, f.new_value, f.reader, p.job_id from field_changes f join raw_pages p on p.id = f.raw_id
        where f.field = 'listed'""")
    assert evidence == [("listed", "false", "coverage@1", 3)]

    third = await mall.whole_run(4, *shelf(5, without="3"))
    assert (third.run.known, third.missed, third.absent) == (4, 0, 0)  # it is no longer expected
    await mall.whole_run(5, *shelf(5))
    assert await mall.unlisted() == set()


async def test_a_run_without_proof_misses_nothing_however_often(mall: Collector) -> None:
    """The faults of a list one after the other, each twice; the rules themselves are tested in unit/collect."""
    await mall.whole_run(1, *shelf(6))
    faults: list[tuple[list[tuple[list[Snapshot], int]], int, str]] = [
        ([(shelf(3), 6)], 0, "3 of 6 announced items were listed (50.0%, 98% needed)"),
        ([([], 0)], 0, "the list is empty, but had 6 items before"),
        ([(shelf(3), 3)], 1, "1 list page could not be read"),
        ([(shelf(3), 3), (shelf(3), 3)], 0, "page 2 repeats page 1"),
        ([(shelf(3), 6), ([item("5")], 3)], 0, "the announced total wobbles between 3 and 6"),
        ([], 0, "no list page was read"),
    ]
    for run, (pages, failed, reason) in enumerate([fault for fault in faults for _ in range(2)], start=2):
        await mall.plan(run)
        for number, (items, total) in enumerate(pages, start=1):
            await mall.listed(run, *items, page=number, total=total)
        summary = await mall.close(run, failed=failed)
        assert (summary.run.state, summary.run.reason) == (RunState.UNPROVED, reason)
        assert (summary.missed, summary.absent, summary.held) == (0, 0, 0)
    assert await mall.unlisted() == set()
    assert await mall.rows("select max(missed) from source_seen") == [(0,)]


async def test_an_item_that_lives_elsewhere_is_not_absent(mall: Collector, clock: ManualClock) -> None:
    """Its own page answers, or another list shows it: only this list has lost it."""
    await mall.whole_run(1, *shelf(9))
    await mall.whole_run(2, *shelf(9, without="0 1 2"))
    clock.advance(hours=1)
    seller = replace(mall, target=replace(BRAND, kind="seller"))
    await seller.whole_run(3, item("1"))
    clock.advance(hours=1)
    await mall.plan(4)
    await mall.detail(4, Snapshot(NAME, "0", {"sold_out": False}))
    await mall.detail(4, Snapshot(NAME, "2", {"gone": True}))
    await mall.listed(4, *shelf(9, without="0 1 2"), total=6)
    summary = await mall.close(4)
    assert (summary.missed, summary.absent) == (0, 1)
    assert await mall.unlisted() == {"2"}


async def test_a_page_that_says_gone_closes_the_item_at_once_and_registers_none(mall: Collector) -> None:
    await mall.whole_run(1, *shelf(2))
    gone = [Snapshot(NAME, key, {"gone": True}) for key in ("1", "never seen")]
    await mall.plan(2)
    saved = [await mall.detail(2, one) for one in gone]
    assert saved == [Saved(pages=1, items=1, changed=1), Saved(pages=1, items=1, dropped=1)]
    assert (await mall.truth())["1"] == {"name": "item 1", "price": 10_000, "gone": True, "listed": False}
    assert await mall.unlisted() == {"1"}


async def test_closing_or_planning_twice_is_as_good_as_once(mall: Collector) -> None:
    await mall.whole_run(1, *shelf(5))
    await mall.whole_run(2, *shelf(4))
    again = await mall.close(2)
    assert (again.run.state, again.missed) == (RunState.PROVED, 0)
    assert await mall.rows("select max(missed) from source_seen") == [(1,)]
    assert await mall.plan(2) == [list_ask(1), item_ask("4")]
    assert (await mall.do(lambda tx: runs.get(tx, 2))).known == 5
    assert len(await mall.events("collect.finished")) == 2


async def test_a_page_that_is_read_twice_is_one_page_of_the_list(mall: Collector) -> None:
    await mall.plan(1)
    for _ in range(2):
        await mall.listed(1, *shelf(3), total=3)
    run = (await mall.close(1)).run
    assert (run.state, run.pages_read, run.listed) == (RunState.PROVED, 1, 3)


# --- brands, counts, archive ---------------------------------------------------------------------------------------


async def test_the_index_of_brands_is_proposed(mall: Collector) -> None:
    index = Ask("https://mall.example/brands", Kind.INDEX, "brands")
    await mall.save(await mall.fetched(1, index, Brand("100", "나이키", "NIKE"), Brand("101", "", "Acme")))
    assert await mall.rows("""
        select mall_name, mall_brand_no, mall_brand_name_ko, mall_brand_name_en, is_active from mall_brands
        order by mall_brand_no""") == [(NAME, "100", "나이키", "NIKE", None), (NAME, "101", None, "Acme", None)]


async def test_counts_by_day_source_target_and_endpoint_survive_folding(mall: Collector, clock: ManualClock) -> None:
    await mall.plan(1)
    await mall.listed(1, *shelf(3), total=3)
    not_modified = await mall.fetched(1, list_ask(2), Extent((), 3, 2), status=304, size=0)
    await mall.save(not_modified, await mall.fetched(1, item_ask("0"), item("0"), size=11))
    trouble = [(Place(NAME, BRAND.name, "list", 1), Counts(failure=1, retries=2, throttled=3))]
    await mall.do(lambda tx: counts.add(tx, trouble))
    size = (await mall.rows("select size from raw_pages order by id"))[0][0]
    at_list = Counts(2, 1, 2, 3, 1, items=3, changed=3, bytes=size)
    expected = [
        Daily("2026-01-27", Place(NAME, BRAND.name, "detail"), Counts(success=1, items=1, bytes=11)),
        Daily("2026-01-27", Place(NAME, BRAND.name, "list"), at_list),
    ]
    day = clock.now().date()

    async def daily() -> list[Daily]:
        async with mall.db.read() as tx:
            return await counts.daily(tx, day, day, source=NAME)

    assert await daily() == expected
    assert (await mall.do(lambda tx: counts.of_job(tx, 1)))["list"] == at_list
    assert await mall.do(lambda tx: counts.fold(tx, day)) == 0  # the day is not over
    clock.advance(days=2)
    assert await mall.do(lambda tx: counts.fold(tx, clock.now().date())) == 4
    assert await daily() == expected
    assert await mall.rows("select count(*) from fetch_counts") == [(2,)]
    assert await mall.do(lambda tx: counts.fold(tx, clock.now().date())) == 0


async def test_a_page_is_asked_for_conditionally_on_its_last_good_one(mall: Collector) -> None:
    modified = {"last-modified": "Tue, 27 Jan 2026 11:00:00 GMT"}
    old = await mall.fetched(1, list_ask(1), body=b"old")
    good = await mall.fetched(1, list_ask(1), body=b"good", headers={"etag": '"g"', **modified, "set-cookie": "a=b"})
    drifted = await mall.fetched(2, list_ask(1), body=b"drifted")
    await mall.save(old)
    await mall.save(good)
    await mall.do(lambda tx: mall.collecting.archive.index(tx, [drifted], good=False))
    await mall.save(replace(good, status=404, sha256="f" * 64), replace(good, status=304, headers={}))
    async with mall.db.read() as tx:
        found = await archive.validators(tx, [list_ask(1).url, list_ask(2).url])
    one = archive.Validators(good.sha256, "text/html", '"g"', modified["last-modified"])
    assert found == {list_ask(1).url: one}
    assert one.headers == {"If-None-Match": '"g"', "If-Modified-Since": modified["last-modified"]}
    kept = await mall.rows("select headers from raw_pages order by id")
    assert not any("set-cookie" in headers for (headers,) in kept)


async def test_only_old_pages_without_reference_are_thrown_away(mall: Collector, clock: ManualClock) -> None:
    await mall.whole_run(1, item("a"))  # its page is evidence
    same = [await mall.fetched(run, list_ask(9), body=b"same") for run in (2, 3)]
    lone = await mall.fetched(2, list_ask(8), body=b"lone")
    await mall.save(same[0], lone)
    clock.advance(days=20)
    await mall.save(replace(same[1], fetched_at=clock.now()))
    prune = mall.collecting.archive.prune
    assert await prune(mall.db) == archive.Pruned(0, 0)
    clock.advance(days=20)
    assert await prune(mall.db, at_once=1) == archive.Pruned(pages=2, blobs=1)
    kept = {address async for address in mall.blobs.addresses()}
    [(evidence,)] = await mall.rows("""
        select p.sha256 from raw_pages p join data_lineage l on l.raw_id = p.id""")
    assert kept == {evidence, same[0].sha256}
    assert await prune(mall.db) == archive.Pruned(0, 0)


async def test_a_thin_price_is_neither_zero_nor_sold_out(db: Database, tmp_path: Path) -> None:
    """What could not be read leaves the last value; too much of it stops the run's changes."""
    mall = Collector(db, tmp_path, Guards(null_rate={"price": 0.1}))
    await mall.whole_run(1, *shelf(20))
    await mall.plan(2)
    broken = [item(str(key), unknown=["price"], name="broken") for key in range(3)]
    await mall.listed(2, *broken, *shelf(20)[3:], total=20)
    assert set((await mall.prices()).values()) == {10_000}
    summary = await mall.close(2)
    assert (summary.run.tripped, summary.run.state, summary.run.held) == ("null_rate", RunState.UNPROVED, 3)
