"""A change in SQL reaches the index and the answers: at least once, whatever fails, and no answer shows what was."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import pytest
from sqlalchemy import delete

from bobusang.catalog import brands
from bobusang.catalog.tables import products as table
from bobusang.flows.indexing import verifying
from bobusang.flows.indexing.documents import some
from bobusang.flows.indexing.rebuilding import Progress, rebuild
from bobusang.flows.indexing.running import Rebuilding
from bobusang.flows.indexing.verifying import Difference, Kind, Verdict
from bobusang.kit.errors import Conflict, Unavailable
from bobusang.platform.bus import Event, publish
from bobusang.platform.search import Document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database, Tx
    from bobusang.testing.clock import ManualClock
    from tests.integration.indexing.library import Library


class Held:
    """A database whose first reading can be held back when it is done."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.open, self.read_it = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Tx]:
        async with self._db.read() as tx:
            yield tx
        self.read_it.set()
        await self.open.wait()


CLEAN = Verdict(compared=2, missing=0, extra=0, different=0, first=(), repaired=0)


async def test_what_was_collected_is_found_whole(library: Library, clock: ManualClock) -> None:
    choices = [{"code": "1", "color": "Black", "available": True}]
    id = await library.collect(
        model="CW2288-111", category=["아우터", "패딩"], seller="dmont", sold_out=False, options=choices
    )
    await library.deliver()

    assert await library.index.get([id]) == {
        id: Document(
            id=id,
            mall="okmall",
            product_id="A1",
            name="나이키 구스다운 패딩",
            brand="NIKE",
            brand_ko="나이키",
            model="CW2288-111",
            colours="Black",
            category="아우터 > 패딩",
            seller="dmont",
            price=100,
            currency="KRW",
            in_stock=True,
            changed=int(clock.now().timestamp() * 1_000_000),
        )
    }
    assert [await library.find(word) for word in ("패딩", "ㄴㅇㅋ", "cw2288", "검정", "부츠")] == [
        ([id], "miss"),
        ([id], "miss"),
        ([id], "miss"),
        ([id], "miss"),
        ([], "miss"),
    ]


async def test_a_change_shows_in_the_answers_it_concerns_and_only_there(library: Library) -> None:
    padded, boots = (
        await library.collect(),
        await library.collect("B1", name="첼시 부츠", brand="DIOR", brand_ko="디올"),
    )
    await library.deliver()
    for word in ("패딩", "부츠", "코트"):
        await library.find(word)

    await library.edit(padded, name="나이키 울 코트")
    await library.deliver()

    assert [await library.find(word) for word in ("패딩", "코트", "부츠")] == [
        ([], "miss"),
        ([padded], "miss"),
        ([boots], "hit"),
    ]


async def test_a_product_that_is_deleted_is_found_no_more(library: Library) -> None:
    id, other = await library.collect(), await library.collect("B1")
    await library.deliver()
    assert await library.find("패딩") == ([id, other], "miss")

    async def gone(tx: Tx) -> None:
        await tx.execute(delete(table).where(table.c.id == id))
        await publish(tx, Event("product.deleted", "okmall:A1", {"id": id}))

    await library.db.transact(gone)
    await library.deliver()

    assert await library.find("패딩") == ([other], "miss")


async def test_a_product_is_found_by_the_names_other_malls_have_for_its_brand(library: Library) -> None:
    id = await library.collect(name="구스다운", brand="MAISON ZORBA", brand_ko=None)
    await library.deliver()
    assert await library.find("메종조르바") == ([], "miss")

    proposal = brands.Proposal("7", "메종 조르바", "Maison Zorba")
    await library.db.transact(lambda tx: brands.propose(tx, "mustit", [proposal]))
    await library.deliver()

    assert await library.find("메종조르바") == ([id], "miss")
    async with library.db.read() as tx:
        found = await some(tx, "buyma", await library.indexer.aliases(), [id])
    assert found[0].aliases == ("메종 조르바",)


async def test_a_brand_is_the_same_in_small_letters_and_capitals(library: Library) -> None:
    id = await library.collect(name="구스다운", brand="mAISON ßORBA", brand_ko=None)
    await library.deliver()

    proposal = brands.Proposal("7", "메종 조르바", "Maison SSorba")
    await library.db.transact(lambda tx: brands.propose(tx, "mustit", [proposal]))
    await library.deliver()

    assert await library.find("메종조르바") == ([id], "miss")


async def test_names_that_are_read_while_they_change_are_read_again(library: Library) -> None:
    held = Held(library.db)
    library.indexer.db = cast("Database", held)
    reading = asyncio.create_task(library.indexer.aliases())
    await held.read_it.wait()

    proposal = brands.Proposal("7", "메종 조르바", "Maison Zorba")
    await library.db.transact(lambda tx: brands.propose(tx, "mustit", [proposal]))
    library.indexer.forget_aliases()
    held.open.set()

    assert (await reading).of("MAISON ZORBA", ("MAISON ZORBA",)) == ("메종 조르바",)


async def test_events_twice_or_late_leave_what_sql_says(library: Library) -> None:
    id = await library.collect()
    events = [Event("source.changed", "okmall:A1", {"record_id": id}), Event("product.changed", "x", {"id": 999})]
    await library.edit(id, price=777)

    for _ in range(2):
        await library.indexer.consume(events)

    assert {one.price for one in (await library.index.get([id, 999])).values()} == {777}


async def test_a_lost_index_keeps_the_changes_waiting_and_is_made_anew(library: Library, clock: ManualClock) -> None:
    first = await library.collect()
    await library.deliver()
    shutil.rmtree(library.index.folder)
    second = await library.collect("B1")
    await library.deliver()
    with pytest.raises(Unavailable, match="there is no search index"):
        await library.find("패딩")

    await Rebuilding(library.indexer).heal()
    clock.advance(minutes=1)
    await library.deliver()

    assert (await library.find("패딩"))[0] == [first, second]
    assert await verifying.verify(library.indexer, repair=False) == CLEAN


async def test_verify_names_what_differs_and_repairs_it(library: Library) -> None:
    same, changed, missing = [await library.collect(key) for key in ("A", "B", "C")]
    await library.deliver()
    await library.index.put([Document(10**9, "okmall", "Z"), Document(changed, "okmall", "B", name="옛 이름")])
    await library.index.delete([missing])
    differences = (
        Difference(changed, Kind.DIFFERENT),
        Difference(missing, Kind.MISSING),
        Difference(10**9, Kind.EXTRA),
    )

    looked = await verifying.verify(library.indexer, repair=False, page=2)
    repaired = await verifying.verify(library.indexer, repair=True, page=2)
    again = await verifying.verify(library.indexer, repair=True, page=2)

    assert (looked, repaired, again) == (
        Verdict(4, 1, 1, 1, differences, 0),
        Verdict(4, 1, 1, 1, differences, 3),
        Verdict(3, 0, 0, 0, (), 0),
    )
    assert (looked.clean, repaired.clean, again.clean) == (False, True, True)
    assert sorted(await library.index.get([same, changed, missing, 10**9])) == [same, changed, missing]


async def test_a_rebuild_takes_in_what_changes_meanwhile(library: Library, clock: ManualClock) -> None:
    ids = [await library.collect(str(number)) for number in range(6)]
    await library.deliver()
    steps = rebuild(library.indexer, page=2)
    seen = [await anext(steps), await anext(steps), await anext(steps)]  # four of six are read

    await library.edit(ids[0], name="나이키 울 코트")
    added = await library.collect("7")

    async def gone(tx: Tx) -> None:
        await tx.execute(delete(table).where(table.c.id == ids[1]))

    await library.db.transact(gone)
    clock.advance(seconds=1)
    assert (await library.find("패딩"))[0] == ids  # the old one serves
    seen += [step async for step in steps]

    assert seen[:4] == [Progress(0, 6, "reading"), *(Progress(done, 6, "reading") for done in (2, 4, 6))]
    assert [step.phase for step in seen[4:]] == ["reading", "catching up", "comparing", "done"]
    assert sorted(await library.index.get([*ids, added])) == [*ids[:1], *ids[2:], added]
    assert (await library.find("코트"))[0] == [ids[0]]
    assert (await verifying.verify(library.indexer, repair=False)).clean


async def test_two_rebuilds_at_once_are_refused(library: Library, clock: ManualClock) -> None:
    first = rebuild(library.indexer)
    await anext(first)

    with pytest.raises(Conflict, match="a rebuild is under way already"):
        await anext(rebuild(library.indexer))
    await first.aclose()
    clock.advance(seconds=1)

    assert [step.phase async for step in rebuild(library.indexer)][-1] == "done"


async def test_a_rebuild_that_is_given_up_leaves_the_old_index(library: Library) -> None:
    id = await library.collect()
    await library.deliver()
    steps = rebuild(library.indexer, page=1)
    for _ in range(2):
        await anext(steps)
    await steps.aclose()

    assert (await library.find("패딩"))[0] == [id]
    assert len(list(library.index.folder.glob("index-*"))) == 1
