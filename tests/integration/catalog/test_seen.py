"""Who was seen in which list, who is missing, and when a record is due again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.catalog import seen
from bobusang.catalog.seen import Counts, Known, Missed
from bobusang.kit.db import connect
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

LIST = "list:brand:나이키(NIKE)"


async def listing(db: Database, run: int, keys: Sequence[str], scope: str = LIST) -> dict[str, int]:
    """A run that lists these keys; their records."""
    _, written = await collect(db, *(reading(key, scope=scope, price=1) for key in keys), run=run)
    return dict(zip(keys, written.ids, strict=True))


async def test_a_proved_run_misses_what_it_did_not_list(db: Database) -> None:
    ids = await listing(db, 1, ["A", "B", "C"])
    await listing(db, 2, ["A"])
    async with db.begin() as tx:
        scope = await seen.scope(tx, "okmall", LIST)
        missing = await seen.missing(tx, scope, 2)
        found = (
            await seen.counts(tx, scope, 2),
            missing,
            await seen.miss(tx, scope, 2, missing),
            await seen.miss(tx, scope, 2, missing),
            await seen.missed(tx, scope),
        )

    gone = sorted([ids["B"], ids["C"]])
    once = dict.fromkeys(gone, 1)
    keys = {number: key for key, number in ids.items()}
    assert found == (Counts(3, 1), gone, once, once, [Missed(number, keys[number], 1) for number in gone])


async def test_being_seen_again_counts_from_the_start(db: Database) -> None:
    ids = await listing(db, 1, ["A", "B"])
    await listing(db, 2, ["A"])
    async with db.begin() as tx:
        scope = await seen.scope(tx, "okmall", LIST)
        await seen.miss(tx, scope, 2, [ids["B"]])
    await listing(db, 3, ["A", "B"])
    await listing(db, 4, ["A"])

    async with db.begin() as tx:
        assert await seen.missed(tx, scope) == []
        assert await seen.miss(tx, scope, 4, [ids["A"], ids["B"]]) == {ids["A"]: 0, ids["B"]: 1}
        assert await seen.missing(tx, scope, 3) == []


async def test_what_is_forgotten_is_not_missed(db: Database) -> None:
    ids = await listing(db, 1, ["A", "B"])
    await listing(db, 2, ["A"])
    async with db.begin() as tx:
        scope = await seen.scope(tx, "okmall", LIST)
        await seen.forget(tx, scope, [ids["B"]])
        assert (await seen.missing(tx, scope, 2), await seen.counts(tx, scope, 2)) == ([], Counts(1, 1))
    await listing(db, 3, ["B"])

    async with db.read() as tx:
        assert await seen.counts(tx, scope, 3) == Counts(2, 1)


async def test_scopes_are_apart(db: Database) -> None:
    """The same item in two lists, and a list of the same name of another mall."""
    await listing(db, 1, ["A", "B"])
    await listing(db, 2, ["A"], scope="list:seller:dmont")
    await collect(db, reading("A", source="mustit", scope=LIST, price=1), run=2)

    async with db.begin() as tx:
        numbers = await seen.scopes(tx, "okmall", [LIST, "list:seller:dmont"])
        other = await seen.scope(tx, "mustit", LIST)
        found = [await seen.counts(tx, scope, 2) for scope in (*numbers.values(), other)]

    assert len({*numbers.values(), other}) == 3
    assert sorted(found, key=str) == [Counts(1, 1), Counts(1, 1), Counts(2, 0)]


async def test_what_a_run_has_listed_already_is_known(db: Database) -> None:
    await listing(db, 1, ["A", "B", "C"])
    await listing(db, 2, ["A", "B"])

    async with db.begin() as tx:
        scope = await seen.scope(tx, "okmall", LIST)
        assert await seen.listed_in_run(tx, scope, 2, ["A", "C", "new"]) == {"A"}
        assert await seen.listed_in_run(tx, scope, 2, []) == set()


async def test_a_record_says_when_it_was_seen_where_and_when_it_is_due(db: Database, clock: ManualClock) -> None:
    ids = await listing(db, 1, ["A", "B"])
    later = clock.advance(hours=1)
    await collect(db, reading("A", stream="detail", color="red"), run=1)

    async with db.read() as tx:
        found = await seen.states(tx, "okmall", ["A", "B", "new"], [LIST, "detail", "options"])
        details = await seen.states(tx, "okmall", ["A", "B"], ["detail"])

    day = timedelta(days=1)
    assert found == {
        "A": Known(ids["A"], 2, {LIST: NOON, "detail": later}, {LIST: 0, "detail": 0}, NOON + day),
        "B": Known(ids["B"], 1, {LIST: NOON}, {LIST: 0}, NOON + day),
    }
    assert [details[key].is_due(NOON + day) for key in ("A", "B")] == [False, True]
    assert details["A"].is_due(later + day)


async def test_a_scope_has_a_name(db: Database) -> None:
    async with db.begin() as tx:
        for name in ("", "x" * 256, "a\0b"):
            with pytest.raises(Invalid, match="a scope has 1 to 255 characters"):
                await seen.scope(tx, "okmall", name)


async def test_a_touch_stays_on_its_page(empty_postgres: str) -> None:
    """PostgreSQL calls that a HOT update; with an index over anything that changes there would be none."""
    moved = Statement("select pg_stat_get_xact_tuples_hot_updated('source_seen'::regclass) as value")
    db = await connect(empty_postgres)
    ids = list((await listing(db, 1, [f"A{n}" for n in range(300)])).values())
    async with db.begin() as tx:
        scope = await seen.scope(tx, "okmall", LIST)
        await seen.touch(tx, scope, ids, run=2, now=tx.now)
        assert await tx.value(moved) > len(ids) * 0.8  # but for a page that was full
    await db.close()
