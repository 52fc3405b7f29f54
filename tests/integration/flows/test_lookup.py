"""What products are converted by is read anew as soon as anything of it is committed, in whatever order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.catalog import brands, categories
from bobusang.catalog.model import Review
from bobusang.flows.conveyor.lookup import Lookup
from bobusang.platform.models.rules import Rules
from bobusang.stages.convert import gates
from bobusang.stages.convert.model import Reason

if TYPE_CHECKING:
    from bobusang.flows.conveyor.lookup import Looked
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

MOMENT = timedelta(microseconds=1)


async def look(db: Database, lookup: Lookup) -> Looked:
    async with db.read() as tx:
        return await lookup.look(tx, "okmall", gates.buyma(), None)


def told(looked: Looked) -> list[str]:
    """Why the brands A and B and the category do not pass."""
    found = (*(looked.mapped.brand({"brand": name}) for name in "AB"), looked.mapped.category({"category": "상의"}))
    return [one.why.value if isinstance(one, Reason) else "accepted" for one in found]


async def test_a_review_that_is_committed_late_is_seen_at_once(db: Database, clock: ManualClock) -> None:
    """Whoever began first may be done last: a block was not seen until something else of the mall had changed."""
    new = [brands.Proposal(name, name_en=name) for name in "AB"]
    await db.transact(lambda tx: brands.propose(tx, "okmall", new))
    await db.transact(lambda tx: categories.propose(tx, "okmall", [categories.Proposal(("상의",))]))
    async with db.read() as tx:
        ids = {one.key: one.id for one in await brands.listed(tx, "okmall")}
        [category] = await categories.listed(tx, "okmall")
    lookup = Lookup(Rules())

    began = clock.advance(seconds=1)
    clock.advance(seconds=5)
    await db.transact(lambda tx: brands.review(tx, [ids["B"]], Review.ACCEPTED))
    await db.transact(lambda tx: categories.review(tx, [category.id], Review.ACCEPTED))
    assert told(await look(db, lookup)) == ["brand_unreviewed", "brand_unmapped", "category_unmapped"]

    clock.set(began)
    await db.transact(lambda tx: brands.review(tx, [ids["A"]], Review.BLOCKED))
    assert told(await look(db, lookup)) == ["brand_blocked", "brand_unmapped", "category_unmapped"]

    clock.set(began + MOMENT)
    await db.transact(lambda tx: categories.review(tx, [category.id], Review.BLOCKED))
    await db.transact(lambda tx: brands.review(tx, [ids["A"]], Review.PROPOSED))
    assert told(await look(db, lookup)) == ["brand_unreviewed", "brand_unmapped", "category_blocked"]


async def test_what_has_not_changed_is_not_read_again(db: Database) -> None:
    await db.transact(lambda tx: brands.propose(tx, "okmall", [brands.Proposal("A")]))
    lookup = Lookup(Rules())
    first, again = await look(db, lookup), await look(db, lookup)

    assert (first.mapped is again.mapped, first.masters is again.masters) == (True, True)
