"""Products that were collected before colours were kept are found by them after a rebuild or a repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import colours
from bobusang.flows.indexing import verifying
from bobusang.flows.indexing.rebuilding import rebuild
from bobusang.flows.indexing.verifying import Difference, Kind, Verdict
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock
    from tests.integration.indexing.library import Library

FORGET = Statement("update products set colours = null")
TOLD = Statement("select id, colours from products order by id")
BLACK = [{"code": "1", "color": "Black", "size": "M"}]


async def kept(library: Library) -> dict[int, str | None]:
    async with library.db.read() as tx:
        return {row["id"]: row["colours"] for row in await tx.fetch(TOLD)}


async def before_they_were_kept(library: Library) -> tuple[int, int]:
    """A product that comes in black and one that names no colour, as they stood before the column was there."""
    found = await library.collect("A1", options=BLACK), await library.collect("B1")
    assert await kept(library) == dict(zip(found, ("Black", ""), strict=True))
    await library.db.transact(lambda tx: tx.execute(FORGET))
    await library.deliver()
    return found


async def in_index(library: Library, ids: tuple[int, int]) -> list[str]:
    return [one.colours for _, one in sorted((await library.index.get(ids)).items())]


async def test_a_rebuild_brings_them(library: Library, clock: ManualClock) -> None:
    ids = await before_they_were_kept(library)
    assert await in_index(library, ids) == ["", ""]

    assert [step.phase async for step in rebuild(library.indexer)][-1] == "done"
    clock.advance(seconds=1)

    assert await in_index(library, ids) == ["Black", ""]
    assert (await library.find("검정 패딩"))[0][0] == ids[0]


async def test_a_repair_brings_them_and_a_look_changes_nothing(library: Library) -> None:
    ids = await before_they_were_kept(library)

    looked = await verifying.verify(library.indexer, repair=False)
    untold = await kept(library)
    repaired = await verifying.verify(library.indexer, repair=True)

    assert (looked, untold) == (Verdict(2, 0, 0, 0, (), 0), dict.fromkeys(ids))
    assert repaired == Verdict(2, 0, 0, 1, (Difference(ids[0], Kind.DIFFERENT),), 1)
    assert await in_index(library, ids) == ["Black", ""]


async def test_each_is_looked_at_once_and_a_part_at_a_time(library: Library) -> None:
    ids = await before_they_were_kept(library)

    parts = [[count async for count in colours.told(library.db, 1)] for _ in range(2)]

    assert (parts, await kept(library)) == ([[1, 1], []], dict(zip(ids, ("Black", ""), strict=True)))
