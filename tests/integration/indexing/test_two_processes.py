"""Two processes with one index in a folder, each with a cache of its own: what one writes the other shows."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

from bobusang.catalog import brands
from bobusang.flows.indexing.rebuilding import rebuild
from bobusang.flows.indexing.running import Rebuilding

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock
    from tests.integration.indexing.library import Library


async def test_what_one_writes_the_other_shows_though_it_has_kept_an_answer(library: Library, branch: Library) -> None:
    id = await library.collect()
    await library.deliver()
    assert [await branch.find("패딩"), await branch.find("패딩")] == [([id], "miss"), ([id], "hit")]

    await library.edit(id, name="나이키 울 코트")
    await library.deliver()

    assert [await branch.find(word) for word in ("패딩", "코트", "코트")] == [
        ([], "miss"),
        ([id], "miss"),
        ([id], "hit"),
    ]


async def test_what_both_have_written_is_not_taken_for_its_own(library: Library, branch: Library) -> None:
    """It has written itself since it looked last, so that another number of the index is no surprise by itself."""
    first, second = await library.collect(), await library.collect("B1")
    await library.deliver()
    assert (await branch.find("패딩"))[0] == [first, second]

    await library.edit(first, name="나이키 울 코트")
    await library.deliver()
    await branch.edit(second, price=5)
    await branch.deliver_all()

    assert [await branch.find(word) for word in ("패딩", "코트")] == [([second], "miss"), ([first], "miss")]


async def test_an_answer_that_is_being_made_while_another_writes_is_not_kept(library: Library, branch: Library) -> None:
    id = await library.collect()
    await library.deliver()
    await branch.find("부츠")
    branch.index.open.clear()
    branch.index.found.clear()

    early = asyncio.create_task(branch.ask("패딩"))
    await branch.index.found.wait()
    await library.edit(id, price=5)
    await library.deliver()
    looking = asyncio.create_task(branch.ask("부츠"))  # which sees that another has written
    branch.index.found.clear()
    await branch.index.found.wait()
    branch.index.open.set()
    await asyncio.gather(early, looking)

    found, served = await branch.ask("패딩")
    assert ([item["price"] for item in found], served) == ([5], "miss")


async def test_a_change_that_a_new_index_had_before_its_event_came_shows_too(
    library: Library, branch: Library, clock: ManualClock
) -> None:
    """What the product was called before is nowhere any more: neither in SQL nor in the index."""
    id = await library.collect()
    await library.deliver()
    assert await library.find("패딩") == ([id], "miss")
    shutil.rmtree(library.index.folder)
    await library.edit(id, name="나이키 울 코트")

    await Rebuilding(branch.indexer).heal()
    clock.advance(seconds=1)
    await library.deliver_all()

    assert [await library.find(word) for word in ("패딩", "코트")] == [([], "miss"), ([id], "miss")]


async def test_names_of_brands_that_another_process_was_told_of_are_known(library: Library, branch: Library) -> None:
    """The other one led when a mall named the brand, of which there was no product yet."""
    await library.collect()
    await library.deliver()
    proposal = brands.Proposal("7", "메종 조르바", "Maison Zorba")
    await branch.db.transact(lambda tx: brands.propose(tx, "mustit", [proposal]))
    await branch.deliver_all()

    id = await library.collect("B1", name="구스다운", brand="MAISON ZORBA", brand_ko=None)
    await library.deliver_all()

    assert (await library.find("메종조르바"))[0] == [id]


async def test_after_a_rebuild_of_its_own_nothing_is_believed_that_was_kept(
    library: Library, clock: ManualClock
) -> None:
    id = await library.collect()
    await library.deliver()
    await library.find("패딩")
    await library.edit(id, name="나이키 울 코트")

    assert [step.phase async for step in rebuild(library.indexer)][-1] == "done"
    clock.advance(seconds=1)

    assert await library.find("패딩") == ([], "miss")
