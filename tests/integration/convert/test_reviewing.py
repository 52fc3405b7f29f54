"""A reviewed mapping in the database: taken in as one, kept from proposals; a block tells what is live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.catalog import assigning, brands, categories
from bobusang.catalog.assigning import Assigned, Live
from bobusang.catalog.model import Review
from bobusang.kit import clock as clocks
from bobusang.kit.errors import Invalid
from bobusang.stages.convert import reviewing
from bobusang.stages.convert.reviewing import Line, Subject

if TYPE_CHECKING:
    from bobusang.kit.db import Database

YES, NO, NEW = Review.ACCEPTED, Review.BLOCKED, Review.PROPOSED
LINES = [
    Line(Subject.BRAND, "okmall", "구찌(GUCCI)", "구찌", "GUCCI", None, "", NEW),
    Line(Subject.BRAND, "okmall", "나이키(NIKE)", "나이키", "NIKE", 203, "NIKE", YES),
    Line(Subject.BRAND, "okmall", "아크메(ACME)", "아크메", "ACME", 0, "ACME", YES),
    Line(Subject.CATEGORY, "okmall", "상의 > 니트", market_id=3064, review=YES),
    Line(Subject.CATEGORY, "okmall", "하의", review=NO),
]


async def test_a_mapping_goes_in_and_comes_out_the_same(db: Database) -> None:
    await db.transact(lambda tx: brands.propose(tx, "okmall", [brands.Proposal("나이키(NIKE)", "나이키", "NIKE")]))

    for _ in range(2):
        assert await db.transact(lambda tx: reviewing.imported(tx, LINES)) == 5

    async with db.read() as tx:
        found = await reviewing.exported(tx, "okmall")
    assert reviewing.written(found) == reviewing.written(LINES)


async def test_a_proposal_never_touches_what_a_person_decided(db: Database) -> None:
    await db.transact(lambda tx: reviewing.imported(tx, LINES))
    async with db.read() as tx:
        rows = {one.key: one.id for one in await brands.listed(tx, "okmall")}
        paths = {one.full_path: one.id for one in await categories.listed(tx, "okmall")}

    proposed = [Assigned(id, 99, "GUESS", 3) for id in rows.values()]
    assert await db.transact(lambda tx: assigning.propose_brands(tx, proposed)) == 1
    assert await db.transact(lambda tx: assigning.propose_categories(tx, [Assigned(paths["하의"], 5)])) == 0

    async with db.read() as tx:
        found = {one.key: (one.buyma_brand_id, one.review) for one in await brands.listed(tx, "okmall")}
    assert found == {"구찌(GUCCI)": (99, NEW), "나이키(NIKE)": (203, YES), "아크메(ACME)": (0, YES)}
    with pytest.raises(Invalid, match="0 is no market category"):
        await db.transact(lambda tx: assigning.review_categories(tx, [Assigned(paths["하의"], 0, review=YES)]))


async def test_a_block_lists_what_is_already_live(db: Database) -> None:
    await db.transact(lambda tx: reviewing.imported(tx, LINES))
    async with db.begin() as tx:
        now = f"'{clocks.text(tx.now)}'"
        for id, brand, category in ((1, "NIKE", "상의 > 니트"), (2, "NIKE", "하의"), (3, "GUCCI", "상의 > 니트")):
            await tx._execute(
                "insert into products (id, mall, product_id, brand, category, version, created_at, updated_at) "
                f"values ({id}, 'okmall', 'p{id}', '{brand}', '{category}', 1, {now}, {now})",
                (),
            )
        for id, market in ((1, "buyma"), (2, "coupang"), (3, "buyma")):
            await tx._execute(
                "insert into source_markets (market, record_id, status, last_sync) "
                f"values ('{market}', {id}, 'public', {now})",
                (),
            )
    async with db.read() as tx:
        nike = next(one.id for one in await brands.listed(tx, "okmall") if one.name_en == "NIKE")
        knit = next(one.id for one in await categories.listed(tx, "okmall") if one.full_path == "상의 > 니트")

        assert await assigning.brands_live(tx, "buyma", [nike]) == [Live(1, "p1", "public")]
        assert await assigning.categories_live(tx, "buyma", [knit]) == [
            Live(1, "p1", "public"),
            Live(3, "p3", "public"),
        ]
        assert await assigning.brands_live(tx, "buyma", []) == []
