"""What a guard stops is kept, replaced by newer readings, and written or remembered as a person decides."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.catalog.model import Reading, Snapshot
from bobusang.kit import json
from bobusang.kit.db import connect
from bobusang.kit.errors import Conflict, Missing
from bobusang.stages.collect import archive, held
from bobusang.stages.collect.deciding import Decided, Refused
from bobusang.stages.collect.guards import Guard
from bobusang.stages.collect.held import Filter, HeldWrite
from bobusang.stages.collect.model import RunState, Saved
from bobusang.stages.collect.policy import Guards
from bobusang.stages.collect.tables import HeldState
from tests.integration.collect.mall import BRAND, NAME, Collector, item, item_ask
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

JUMP = "price 10,000 → 1,000 (-90%, more than 40% is held)"


@pytest.fixture
async def mall(db: Database, tmp_path: Path) -> Collector:
    """A list of five, collected once."""
    found = Collector(db, tmp_path)
    await found.whole_run(1, *(item(key) for key in "abcde"))
    return found


async def reads(mall: Collector, run: int, **prices: int | None) -> Saved:
    """A run in which some items have other prices."""
    await mall.plan(run)
    saved = await mall.listed(run, *(item(key, prices.get(key, 10_000)) for key in "abcde"), total=5)
    await mall.close(run)
    return saved


async def shown(mall: Collector, **which: Any) -> list[tuple[str, str, str, int, Any]]:
    """(key, guard, state, readings, price) of held writes, the oldest first."""
    async with mall.db.read() as tx:
        found = await held.find(tx, Filter(**which))
    return [(one.key, one.guard, one.state, one.readings, one.after.get("price")) for one in reversed(found)]


async def one_id(mall: Collector) -> int:
    async with mall.db.read() as tx:
        [one] = await held.find(tx)
    return one.id


async def audit(mall: Collector) -> list[tuple[Any, ...]]:
    rows = await mall.rows("select actor, action, subject_id, before_data, after_data from audit_log order by id")
    return [(*row[:3], json.loads(row[3])["fields"], json.loads(row[4])["fields"]) for row in rows]


async def test_a_price_jump_is_held_with_all_that_a_person_needs(mall: Collector, clock: ManualClock) -> None:
    saved = await reads(mall, 2, a=1_000, b=9_000)
    assert saved == Saved(pages=1, items=5, changed=1, same=3, held=1)
    assert await mall.prices() == {"a": 10_000, "b": 9_000, "c": 10_000, "d": 10_000, "e": 10_000}
    [(raw_id, record_id)] = await mall.rows("""
        select max(p.id), min(r.id) from raw_pages p, source_records r where p.job_id = 2 and r.source_id = 'a'""")
    async with mall.db.read() as tx:
        found = await held.get(tx, await one_id(mall))
    assert found == HeldWrite(
        id=found.id,
        source=NAME,
        target=BRAND.name,
        key="a",
        record_id=record_id,
        guard=Guard.PRICE_JUMP,
        reason=JUMP,
        reading=Reading(item("a", 1_000), "list", "mall@1", raw_id, f"list:{BRAND.name}"),
        before={"price": 10_000},
        after={"price": 1_000},
        raw_id=raw_id,
        job_id=2,
        readings=1,
        state=HeldState.HELD,
        created_at=clock.now(),
    )
    event = {"source": NAME, "target": BRAND.name, "job_id": 2, "guard": "price_jump", "count": 1}
    assert await mall.events("source.held") == [{**event, "reason": JUMP, "keys": ["a"]}]


async def test_what_is_held_was_seen_and_is_not_missing(mall: Collector) -> None:
    for run in (2, 3, 4):
        await reads(mall, run, a=1_000)
    assert await mall.rows("select max(missed), min(last_run) from source_seen") == [(0, 4)]
    assert await shown(mall) == [("a", "price_jump", "HELD", 3, 1_000)]
    assert len(await mall.events("source.held")) == 1


async def test_a_newer_reading_replaces_the_open_one(mall: Collector) -> None:
    await reads(mall, 2, a=1_000, b=1_000)
    await reads(mall, 3, a=1_100, b=10_000)  # another price; the old price
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 1_100)]
    superseded = [("a", "price_jump", "SUPERSEDED", 1, 1_000), ("b", "price_jump", "SUPERSEDED", 1, 1_000)]
    assert await shown(mall, state=HeldState.SUPERSEDED) == superseded
    await reads(mall, 4, a=9_500)
    assert await shown(mall) == []
    assert (await mall.prices())["a"] == 9_500


PRICES = st.none() | st.sampled_from([0, 1_000, 5_999, 6_000, 9_000, 10_000, 14_000, 14_001, 20_000])


@settings(max_examples=25, deadline=None)
@given(told=st.lists(st.tuples(PRICES, PRICES), min_size=1, max_size=5))
def test_a_held_change_never_writes(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, told: list[tuple[int | None, int | None]]
) -> None:
    """Whatever the pages say one after the other: a price moves by what its guard allows, or not at all."""
    folder = tmp_path_factory.mktemp("held")
    path = shutil.copy(sqlite_template, folder / "bobusang.db")

    async def collected() -> tuple[dict[str, int | None], list[tuple[str, Any]]]:
        mall = Collector(await connect(f"sqlite:///{path}"), folder)
        await mall.whole_run(1, item("a"), item("b"))
        for run, (a, b) in enumerate(told, start=2):
            await mall.whole_run(run, item("a", a), item("b", b))
        held_now = [(key, price) for key, _, _, _, price in await shown(mall)]
        prices = await mall.prices()
        await mall.db.close()
        return prices, sorted(held_now)

    truth: dict[str, int] = {"a": 10_000, "b": 10_000}
    open_now: dict[str, int | None] = {}
    for prices in told:
        for key, price in zip("ab", prices, strict=True):
            if price and abs(price - truth[key]) * 10 <= 4 * truth[key]:
                truth[key] = price
                open_now.pop(key, None)
            else:
                open_now[key] = price
    assert wait_for(collected()) == (truth, sorted(open_now.items()))


async def test_an_approved_reading_is_written_with_its_evidence(mall: Collector) -> None:
    await reads(mall, 2, a=1_000)
    await reads(mall, 3, a=1_000)
    id = await one_id(mall)
    decided = await mall.do(lambda tx: mall.collecting.deciding.approve(tx, id, "minji"))
    assert (decided.state, decided.decided_by, decided.readings) == (HeldState.APPROVED, "minji", 2)
    assert (await mall.prices())["a"] == 1_000
    changes = await mall.rows("""
        select f.field, f.old_value, f.new_value, f.reader, p.job_id from field_changes f
        join raw_pages p on p.id = f.raw_id""")
    assert changes == [("price", "10000", "1000", "mall@1", 3)]
    assert await audit(mall) == [("minji", "held.approve", str(id), {"price": 10_000}, {"price": 1_000})]
    assert await reads(mall, 4, a=1_000) == Saved(pages=1, items=5, same=5)
    with pytest.raises(Conflict, match=f"held write {id} is APPROVED already by minji"):
        await mall.do(lambda tx: mall.collecting.deciding.reject(tx, id, "bora"))
    with pytest.raises(Missing, match="there is no held write 999999"):
        await mall.do(lambda tx: mall.collecting.deciding.approve(tx, 999_999, "bora"))


async def test_approval_is_refused_when_the_record_has_moved_on(mall: Collector) -> None:
    await reads(mall, 2, a=1_000)
    id = await one_id(mall)
    await mall.detail(2, Snapshot(NAME, "a", {"price": 8_000, "name": "item a"}))
    with pytest.raises(Conflict, match="price of mall a is 8,000 now; it was 10,000 when this was held"):
        await mall.do(lambda tx: mall.collecting.deciding.approve(tx, id, "minji"))
    assert (await mall.prices())["a"] == 8_000
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 1_000)]


async def test_a_rejected_reading_is_neither_held_nor_written_again_but_the_rest_of_it_is(
    mall: Collector, clock: ManualClock
) -> None:
    await reads(mall, 2, a=1_000)
    id = await one_id(mall)
    await mall.do(lambda tx: mall.collecting.deciding.reject(tx, id, "minji"))
    assert await audit(mall) == [("minji", "held.reject", str(id), {"price": 10_000}, {"price": 1_000})]
    assert await reads(mall, 3, a=1_000) == Saved(pages=1, items=5, same=5)
    await mall.listed(3, item("a", 1_000, name="new name"), page=2)
    assert (await mall.truth())["a"] == {"name": "new name", "price": 10_000}
    assert await shown(mall) == []
    await reads(mall, 4, a=900)  # that is another question
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 900)]
    clock.advance(days=31)
    await reads(mall, 5, a=1_000)  # and this one is old enough to be asked again
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 1_000)]


async def test_enough_runs_confirm_a_price_by_themselves(db: Database, tmp_path: Path) -> None:
    mall = Collector(db, tmp_path, Guards(price_confirm=2))
    await mall.whole_run(1, *(item(key) for key in "abcde"))
    await reads(mall, 2, a=1_000)
    await mall.listed(2, item("a", 1_000), page=2)  # the same run counts once
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 1_000)]
    id = await one_id(mall)
    assert await reads(mall, 3, a=1_000) == Saved(pages=1, items=5, changed=1, same=4)
    assert (await mall.prices())["a"] == 1_000
    assert await shown(mall, state=HeldState.APPROVED) == [("a", "price_jump", "APPROVED", 1, 1_000)]
    assert await audit(mall) == [("price_confirm", "held.confirm", str(id), {"price": 10_000}, {"price": 1_000})]


async def told(mall: Collector, run: int, price: int, **fields: Any) -> Saved:
    """The own page of `a`."""
    page = await mall.fetched(run, item_ask("a"), Snapshot(NAME, "a", {"name": "item a", "price": price, **fields}))
    return await mall.save(page)


async def test_one_jump_is_held_once_whichever_pages_tell_it(mall: Collector) -> None:
    await reads(mall, 2, a=1_000)
    assert await told(mall, 2, 1_000, materials="wool") == Saved(pages=1, items=1, held=1)
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 1_000)]
    assert len(await mall.events("source.held")) == 1

    await reads(mall, 3, a=1_000)
    assert await shown(mall) == [("a", "price_jump", "HELD", 2, 1_000)]
    id = await one_id(mall)
    await mall.do(lambda tx: mall.collecting.deciding.approve(tx, id, "kim"))
    assert (await mall.truth())["a"] == {"name": "item a", "price": 1_000, "materials": "wool"}


async def test_a_jump_that_a_person_rejected_is_rejected_on_every_page(mall: Collector) -> None:
    await reads(mall, 2, a=1_000)
    id = await one_id(mall)
    await mall.do(lambda tx: mall.collecting.deciding.reject(tx, id, "kim"))

    assert await told(mall, 3, 1_000, materials="wool") == Saved(pages=1, items=1, changed=1)
    assert await shown(mall) == []
    assert (await mall.truth())["a"] == {"name": "item a", "price": 10_000, "materials": "wool"}


async def test_a_jump_ends_by_the_page_that_is_held_for_it(mall: Collector) -> None:
    """The list's reading gave way to the item's page, which tells more: only that page can take it back."""
    await reads(mall, 2, a=1_000)
    await told(mall, 2, 1_000, materials="wool")
    await reads(mall, 3)
    assert await shown(mall) == [("a", "price_jump", "HELD", 1, 1_000)]

    await told(mall, 3, 10_000, materials="wool")
    assert await shown(mall) == []
    assert await shown(mall, state=HeldState.SUPERSEDED) == [("a", "price_jump", "SUPERSEDED", 1, 1_000)]


async def test_other_streams_of_a_held_record_are_written(mall: Collector) -> None:
    """Even in the same batch, and though they were compared with what is held."""
    await mall.plan(2)
    page = await mall.fetched(2, item_ask("a"), item("a", 1_000), Snapshot(NAME, "a", {"materials": "wool"}))
    assert await mall.save(page) == Saved(pages=1, items=2, changed=1, held=1)
    assert (await mall.truth())["a"] == {"name": "item a", "price": 10_000, "materials": "wool"}


async def test_a_mass_change_stops_the_run_and_can_be_approved_at_once(db: Database, tmp_path: Path) -> None:
    mall = Collector(db, tmp_path, Guards(mass_least=4))
    keys = [f"k{number:02}" for number in range(20)]
    await mall.whole_run(1, *(item(key) for key in keys))
    await mall.plan(2)
    await mall.listed(2, *(item(key, 9_000) for key in keys[:3]), total=21)
    saved = await mall.listed(2, *(item(key, 9_000) for key in keys[3:]), item("new"), page=2, total=21)
    assert saved == Saved(pages=1, items=18, changed=1, held=17)
    summary = await mall.close(2)
    reason = "5 of 20 known items change in one run (more than 20%)"
    assert (summary.run.tripped, summary.run.changed, summary.run.held) == ("mass_change", 4, 17)
    assert (summary.run.state, summary.run.reason) == (
        RunState.UNPROVED,
        "the run was stopped by its guard mass_change",
    )
    assert {one["reason"] for one in await mall.events("source.held")} == {reason}

    await mall.detail(3, Snapshot(NAME, keys[10], {"price": 9_500}))
    decided: list[Decided] = []
    which, before = Filter(guard="mass_change"), None
    while not decided or before is not None:
        decided.append(await approve_all(mall, which, before))
        before = decided[-1].next
    assert [one.done for one in decided] == [10, 6]
    [refused] = [one for part in decided for one in part.refused]
    assert refused.reason == f"price of mall {keys[10]} is 9,500 now; it was 10,000 when this was held"
    assert await mall.prices() == {**dict.fromkeys(keys, 9_000), keys[10]: 9_500, "new": 10_000}
    assert await shown(mall) == [(keys[10], "mass_change", "HELD", 1, 9_000)]
    assert len(await audit(mall)) == 16


async def approve_all(mall: Collector, which: Filter, before: int | None) -> Decided:
    deciding = mall.collecting.deciding
    return await mall.db.transact(lambda tx: deciding.approve_all(tx, which, "minji", before=before, limit=10))


async def test_of_two_held_writes_of_a_record_one_is_approved_at_a_time(mall: Collector) -> None:
    await mall.plan(2)
    await mall.listed(2, item("a", 1_000))
    await mall.detail(2, item("a", 900))
    decided = await approve_all(mall, Filter(key="a"), None)
    assert decided == Decided(
        1, (Refused(await one_id(mall), "another held write of this record was decided with it"),)
    )


async def test_many_are_rejected_by_filter(mall: Collector) -> None:
    await reads(mall, 2, a=1_000, b=1_000, c=1_000)
    deciding = mall.collecting.deciding
    assert await mall.do(lambda tx: deciding.reject_all(tx, Filter(source="elsewhere"), "minji")) == Decided()
    assert await mall.do(lambda tx: deciding.reject_all(tx, Filter(source=NAME), "minji")) == Decided(3)
    assert await reads(mall, 3, a=1_000, b=1_000, c=1_000) == Saved(pages=1, items=5, same=5)


async def test_held_writes_are_shown_page_by_page(mall: Collector) -> None:
    await reads(mall, 2, a=1_000, b=1_000, c=1_000)
    async with mall.db.read() as tx:
        first = await held.find(tx, limit=2)
        rest = await held.find(tx, before=first[-1].id, limit=2)
    assert [one.key for one in (*first, *rest)] == ["c", "b", "a"]


async def test_the_page_behind_a_held_write_is_not_thrown_away(mall: Collector, clock: ManualClock) -> None:
    await reads(mall, 2, a=1_000)
    clock.advance(days=60)
    await mall.collecting.archive.prune(mall.db)
    async with mall.db.read() as tx:
        page = await archive.page(tx, (await held.get(tx, await one_id(mall))).raw_id or 0)
    assert (page.url, page.job_id) == ("https://mall.example/list?page=1", 2)


# --- absence that a person must agree to -----------------------------------------------------------------------------


async def test_a_list_that_falls_too_far_is_held_until_a_person_agrees(mall: Collector) -> None:
    kept = [item("a"), item("b")]
    await mall.whole_run(2, *kept)
    summary = await mall.whole_run(3, *kept)
    reason = "the list shows 2 of the 5 items it had (40.0%, below 98% absence is held)"
    assert (summary.absent, summary.held, summary.run.state, summary.run.reason) == (0, 3, RunState.PROVED, reason)
    assert await mall.unlisted() == set()

    await mall.whole_run(4, *kept, item("c"))  # one is back: its absence is moot, and the others are still in question
    assert await shown(mall) == [(key, "coverage", "HELD", 2, None) for key in "de"]
    id = await one_of(mall, "e")
    await mall.do(lambda tx: mall.collecting.deciding.reject(tx, id, "minji"))
    assert await approve_all(mall, Filter(guard="coverage"), None) == Decided(1)
    assert await mall.unlisted() == {"d"}
    after = await mall.whole_run(5, *kept, item("c"))
    assert (after.run.known, after.absent, after.held, await shown(mall)) == (4, 0, 0, [])
    assert await mall.unlisted() == {"d"}


async def one_of(mall: Collector, key: str) -> int:
    async with mall.db.read() as tx:
        [one] = await held.find(tx, Filter(key=key))
    return one.id
