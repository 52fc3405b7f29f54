"""The market's lists in the database: one version a change, and half a file changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Conflict
from bobusang.stages.convert import mastering
from bobusang.stages.convert.mastering import Imported
from bobusang.stages.convert.masters import Difference, Kind

if TYPE_CHECKING:
    from bobusang.kit.db import Database


def file(*ids: int, name: str = "シーズン") -> bytes:
    return "\r\n".join(['\ufeff"id","name"', *(f'"{id}","{name}{id}"' for id in ids)]).encode()


async def take_in(db: Database, data: bytes, *, shrink: bool = False) -> Imported:
    return await db.transact(lambda tx: mastering.take_in(tx, "buyma", Kind.SEASONS, data, shrink=shrink))


async def test_a_list_is_kept_by_version_and_what_disappeared_is_told(db: Database) -> None:
    first = await take_in(db, file(*range(1, 11)))
    again = await take_in(db, file(*range(10, 0, -1)))
    second = await take_in(db, file(*range(2, 12)))

    assert (first.version, again, second) == (
        1,
        Imported(Kind.SEASONS, 1, 10, Difference()),
        Imported(Kind.SEASONS, 2, 10, Difference(("11",), (), ("1",))),
    )
    async with db.read() as tx:
        lists = await mastering.current(tx, "buyma")
        assert (lists.has(Kind.SEASONS, 1), lists.season("シーズン11")) == (False, 11)
        assert await mastering.compared(tx, "buyma", Kind.SEASONS, 2, 1) == Difference(("1",), (), ("11",))
        assert (await mastering.current(tx, "other")).rows(Kind.SEASONS) == ()


async def test_a_list_that_shrinks_at_once_is_refused_unless_it_may(db: Database) -> None:
    await take_in(db, file(*range(1, 11)))

    with pytest.raises(Conflict, match="the list of seasons would lose 5 of 10 rows"):
        await take_in(db, file(*range(1, 6)))
    async with db.read() as tx:
        assert len((await mastering.current(tx, "buyma")).rows(Kind.SEASONS)) == 10

    assert (await take_in(db, file(*range(1, 6)), shrink=True)).version == 2
