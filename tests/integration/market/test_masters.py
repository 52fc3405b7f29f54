"""The market's lists over real HTTP, as one whole, and what they propose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.catalog import assigning, brands, categories
from bobusang.catalog.assigning import Assigned
from bobusang.catalog.model import Review
from bobusang.flows.market import masters
from bobusang.flows.market.masters import Proposed
from bobusang.kit.errors import BobusangError, Conflict, Invalid, Missing, Unavailable
from bobusang.kit.transport import AiohttpTransport
from bobusang.sandbox.world import World
from bobusang.stages.convert import mastering
from bobusang.stages.convert.masters import Kind, path_of
from bobusang.testing.sandbox import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.sandbox import Door

SHOES = "メンズファッション > 靴・シューズ > スニーカー"
Place = tuple["Door", AiohttpTransport]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with running(World(seed=5, size=60, brands=2)) as door:
        host, port = door.host_port.split(":")
        transport = AiohttpTransport(frozenset({(host, int(port))}))
        yield door, transport
        await transport.close()


async def versions(db: Database) -> dict[Kind, int]:
    async with db.read() as tx:
        return {kind: len(rows) for kind, rows in (await mastering.current(tx, "buyma")).lists.items()}


async def test_all_lists_are_taken_in_and_again_change_nothing(db: Database, place: Place) -> None:
    door, transport = place
    url = f"{door.buyma}/downloads"
    first = await masters.refreshed(db, transport, "buyma", url)
    again = await masters.refreshed(db, transport, "buyma", url)

    assert [(one.kind, one.version) for one in first] == [(kind, 1) for kind in Kind]
    assert [(one.version, one.rows, one.difference.same) for one in again] == [(1, one.rows, True) for one in first]
    assert await versions(db) == {one.kind: one.rows for one in first}


@pytest.mark.parametrize(
    ("fault", "error"),
    [("http_500", Unavailable), ("half_html", Invalid), ("half_closed", Unavailable), ("empty", Invalid)],
)
async def test_one_list_that_is_not_whole_leaves_all_as_they_were(
    db: Database, place: Place, fault: str, error: type[BobusangError]
) -> None:
    door, transport = place
    await door.fault("buyma", "downloads", fault, match="size_details")
    with pytest.raises(error):
        await masters.refreshed(db, transport, "buyma", f"{door.buyma}/downloads")

    assert await versions(db) == {}


async def test_lists_lie_in_a_folder_too_and_half_of_one_is_refused(db: Database, place: Place, tmp_path: Path) -> None:
    door, transport = place
    files = await masters.fetched(transport, f"{door.buyma}/downloads")
    for kind in (Kind.BRANDS, Kind.COLORS):
        (tmp_path / f"{kind}.csv").write_bytes(files[kind])
    taken = await db.transact(lambda tx: masters.take_in(tx, "buyma", masters.local(tmp_path)))
    lines = files[Kind.BRANDS].splitlines(keepends=True)
    (tmp_path / "brands.csv").write_bytes(b"".join(lines[: len(lines) // 2]))

    with pytest.raises(Conflict, match="would lose"):
        await db.transact(lambda tx: masters.take_in(tx, "buyma", masters.local(tmp_path)))
    assert [one.kind for one in taken] == [Kind.BRANDS, Kind.COLORS]
    assert await versions(db) == {one.kind: one.rows for one in taken}
    shrunk = await db.transact(lambda tx: masters.take_in(tx, "buyma", masters.local(tmp_path), shrink=True))
    assert [one.version for one in shrunk] == [2, 1]


def test_a_folder_without_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="no master list"):
        masters.local(tmp_path)


async def proposed(db: Database) -> Proposed:
    """As the API does it: read, compared, written."""
    async with db.read() as tx:
        waiting = await masters.unreviewed(tx, "buyma")
    found = masters.compared(waiting)
    return await db.transact(lambda tx: masters.propose(tx, found))


async def test_proposals_are_written_beside_what_nobody_reviewed(db: Database, place: Place) -> None:
    door, transport = place
    await masters.refreshed(db, transport, "buyma", f"{door.buyma}/downloads")
    async with db.read() as tx:
        lists = await mastering.current(tx, "buyma")
    name = lists.rows(Kind.BRANDS)[0]["brand_name"]
    [shoes] = [id for id, row in lists.numbered(Kind.CATEGORIES) if path_of(Kind.CATEGORIES, row) == SHOES]

    new = [brands.Proposal("1", name_en=name), brands.Proposal("2", name_en="Nobody Knows Them")]
    paths = [("남성", "신발", "스니커즈"), ("신발", "스니커즈"), ("남성", "신발")]
    await db.transact(lambda tx: brands.propose(tx, "okmall", new))
    await db.transact(lambda tx: brands.propose(tx, "mustit", [brands.Proposal("3", name_en=name)]))
    await db.transact(lambda tx: categories.propose(tx, "okmall", [categories.Proposal(path) for path in paths]))
    async with db.read() as tx:
        blocked = await brands.listed(tx, "mustit")
    await db.transact(lambda tx: brands.review(tx, [blocked[0].id], Review.BLOCKED))
    found = await proposed(db)

    async with db.read() as tx:
        told = [
            (one.key, one.buyma_brand_name, one.review)
            for mall in ("mustit", "okmall")
            for one in await brands.listed(tx, mall)
        ]
        rows = {one.full_path: (one.buyma_category_id, one.review) for one in await categories.listed(tx, "okmall")}
    assert found == Proposed(brands=1, categories=1)
    assert told == [
        ("3", None, Review.BLOCKED),
        ("1", name, Review.PROPOSED),
        ("2", None, Review.PROPOSED),
    ]
    assert rows == {
        "남성 > 신발 > 스니커즈": (shoes, Review.PROPOSED),
        "신발 > 스니커즈": (None, Review.PROPOSED),
        "남성 > 신발": (None, Review.PROPOSED),
    }


async def test_what_a_person_decides_while_names_are_compared_stays(db: Database) -> None:
    await db.transact(lambda tx: mastering.take_in(tx, "buyma", Kind.BRANDS, b"id,brand_name\n203,NIKE\n252,GUCCI\n"))
    await db.transact(lambda tx: brands.propose(tx, "okmall", [brands.Proposal("n", name_en="NIKE")]))
    async with db.read() as tx:
        found = masters.compared(await masters.unreviewed(tx, "buyma"))
        [nike] = await brands.listed(tx, "okmall")

    await db.transact(lambda tx: assigning.review_brands(tx, [Assigned(nike.id, 252, "GUCCI", 1, Review.ACCEPTED)]))

    assert await db.transact(lambda tx: masters.propose(tx, found)) == Proposed()
    async with db.read() as tx:
        [nike] = await brands.listed(tx, "okmall")
    assert (nike.buyma_brand_id, nike.review) == (252, Review.ACCEPTED)
