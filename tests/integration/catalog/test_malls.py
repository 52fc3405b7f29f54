"""Sellers, suppliers, and what a mall proposes and a person decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import brands, categories, sellers, suppliers
from bobusang.catalog.model import Review, SellerStatus, SupplierKind
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.testing.clock import NOON
from tests.integration.catalog.looking import rows

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

DMONT = sellers.NewSeller("mustit", "dmont", name="디몬트", company="(주)디몬트", email="a@b.kr", cadence_minutes=60)


async def test_a_seller_is_kept_once_a_mall(db: Database) -> None:
    id = await db.transact(lambda tx: sellers.create(tx, DMONT))
    other = await db.transact(lambda tx: sellers.create(tx, replace(DMONT, mall="okmall", adaptive=True)))

    with pytest.raises(Conflict, match="mustit has a seller 'dmont' already"):
        await db.transact(lambda tx: sellers.create(tx, DMONT))
    async with db.read() as tx:
        found = await sellers.find(tx, "mustit", "dmont")
        assert await sellers.find(tx, "mustit", "Dmont") is None
        assert [seller.adaptive for seller in await sellers.listed(tx)] == [False, True]
        assert [seller.id for seller in await sellers.listed(tx, mall="okmall")] == [other]
        assert await sellers.listed(tx, after=other) == []
    assert found == sellers.Seller(
        *(id, "mustit", "dmont", "디몬트", "(주)디몬트", None, "a@b.kr", SellerStatus.ACTIVE, 60, False, {}),
        *(None, None, None, NOON, NOON),
    )


async def test_a_seller_is_changed_paused_resumed_and_disabled(db: Database, clock: ManualClock) -> None:
    id = await db.transact(lambda tx: sellers.create(tx, DMONT))
    later = clock.advance(hours=1)

    changed = await db.transact(lambda tx: sellers.change(tx, id, {"cadence_minutes": 120, "contact": "02-1"}))
    paused = await db.transact(lambda tx: sellers.pause(tx, id, "5xx for an hour"))
    async with db.read() as tx:
        assert await sellers.listed(tx, status=SellerStatus.PAUSED) == [paused]
    resumed = await db.transact(lambda tx: sellers.resume(tx, id))
    await db.transact(lambda tx: sellers.bind(tx, id, target_id=3, schedule_id=4))
    await db.transact(lambda tx: sellers.set_quality(tx, id, {"score": 0.9}))
    disabled = await db.transact(lambda tx: sellers.disable(tx, id))

    assert (changed.cadence_minutes, changed.contact, changed.updated_at) == (120, "02-1", later)
    assert [(one.status, one.paused_reason) for one in (paused, resumed, disabled)] == [
        (SellerStatus.PAUSED, "5xx for an hour"),
        (SellerStatus.ACTIVE, None),
        (SellerStatus.DISABLED, None),
    ]
    assert (disabled.target_id, disabled.schedule_id, disabled.quality) == (3, 4, {"score": 0.9})
    with pytest.raises(Conflict, match="is disabled"):
        await db.transact(lambda tx: sellers.pause(tx, id, "again"))


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"cadence_minutes": 1}, "cadence of 1 minutes"),
        ({"name": "x" * 201}, "name has at most 200"),
        ({"status": "Active"}, "no 'status' to change"),
    ],
)
async def test_a_seller_that_makes_no_sense_is_refused(db: Database, values: dict[str, Any], wrong: str) -> None:
    id = await db.transact(lambda tx: sellers.create(tx, DMONT))

    with pytest.raises(Invalid, match=wrong):
        await db.transact(lambda tx: sellers.change(tx, id, values))
    with pytest.raises(Missing, match="no seller 999"):
        await db.transact(lambda tx: sellers.resume(tx, 999))


async def test_a_supplier_is_settings(db: Database) -> None:
    api = suppliers.Supplier("ownerclan", SupplierKind.API, "https://api", {"page": 100}, "OWNERCLAN_TOKEN")
    id = await db.transact(lambda tx: suppliers.put(tx, api))
    again = await db.transact(lambda tx: suppliers.put(tx, replace(api, is_active=False)))

    async with db.read() as tx:
        found = await suppliers.get(tx, "ownerclan")
        assert [await suppliers.listed(tx), await suppliers.listed(tx, active=True)] == [[found], []]
        with pytest.raises(Missing, match="no supplier 'x'"):
            await suppliers.get(tx, "x")
    assert (again, found) == (id, replace(api, is_active=False, id=id))


async def test_a_mall_proposes_brands_and_a_person_decides(db: Database, clock: ManualClock) -> None:
    index = [brands.Proposal("NIKE", "나이키", "Nike", "/b/nike"), brands.Proposal("nike", "나이키 소문자")]
    new = await db.transact(lambda tx: brands.propose(tx, "okmall", [*index, *index]))
    async with db.read() as tx:
        nike, small = await brands.listed(tx, "okmall")
    await db.transact(lambda tx: brands.review(tx, [nike.id], Review.ACCEPTED))
    await db.transact(lambda tx: brands.review(tx, [small.id], Review.BLOCKED))
    await db.transact(lambda tx: brands.assign(tx, nike.id, buyma_brand_id=7, buyma_brand_name="NIKE"))
    later = clock.advance(days=1)

    renewed = [brands.Proposal("NIKE", "나이키코리아", "Nike"), brands.Proposal("PUMA", "", "Puma")]
    also = await db.transact(lambda tx: brands.propose(tx, "okmall", renewed))

    async with db.read() as tx:
        by_review = {review: await brands.listed(tx, "okmall", review=review) for review in Review}
    accepted = brands.MallBrand(
        nike.id,
        "okmall",
        "NIKE",
        "나이키코리아",
        "Nike",
        None,
        Review.ACCEPTED,
        buyma_brand_id=7,
        buyma_brand_name="NIKE",
    )
    puma = by_review[Review.PROPOSED][0]
    assert (new, also) == (2, 1)
    assert by_review == {
        Review.PROPOSED: [brands.MallBrand(puma.id, "okmall", "PUMA", None, "Puma", None, Review.PROPOSED, None, None)],
        Review.ACCEPTED: [accepted],
        Review.BLOCKED: [replace(small, review=Review.BLOCKED)],
    }
    assert await rows(
        db, "select raw_brand_name, is_mapped, last_seen_at, created_at from mall_brands order by mall_brand_no"
    ) == [
        ("나이키코리아", True, later, NOON),
        ("Puma", False, later, later),
        ("나이키 소문자", False, NOON, NOON),
    ]
    with pytest.raises(Invalid, match="brand's key"):
        await db.transact(lambda tx: brands.propose(tx, "okmall", [brands.Proposal("")]))
    with pytest.raises(Missing, match="no mall brand 999"):
        await db.transact(lambda tx: brands.assign(tx, 999, buyma_brand_id=None, buyma_brand_name=None))


async def test_a_mall_proposes_categories_and_a_person_decides(db: Database) -> None:
    coat = categories.Proposal(("여성", "의류", "코트"), "c1", "여성", "/c/1")
    deep = categories.Proposal(("a", "b", "c", "d", "e"))
    new = await db.transact(lambda tx: categories.propose(tx, "okmall", [coat, deep]))
    async with db.read() as tx:
        first, second = await categories.listed(tx, "okmall")
    await db.transact(lambda tx: categories.review(tx, [second.id], Review.ACCEPTED))
    await db.transact(lambda tx: categories.assign(tx, second.id, buyma_category_id=3))

    again = await db.transact(lambda tx: categories.propose(tx, "okmall", [replace(coat, key="c2")]))

    async with db.read() as tx:
        found = await categories.listed(tx, "okmall", review=Review.ACCEPTED)
    assert (new, again, first.full_path) == (2, 0, "a > b > c > d > e")
    assert found == [
        categories.MallCategory(second.id, "okmall", "여성 > 의류 > 코트", "c2", "여성", "/c/1", Review.ACCEPTED, 3)
    ]
    assert await rows(db, "select depth1, depth2, depth3, depth4 from mall_categories order by full_path") == [
        ("a", "b", "c", "d"),
        ("여성", "의류", "코트", None),
    ]
    with pytest.raises(Missing, match="no mall category 999"):
        await db.transact(lambda tx: categories.assign(tx, 999, buyma_category_id=None))


async def test_what_a_mall_calls_its_brands_is_told_once(db: Database) -> None:
    """Products are found by any name of their brand, so a new one concerns whoever searches."""
    nike = brands.Proposal("1", "나이키", "NIKE")
    for found in ([nike], [nike], [replace(nike, name_ko="나이키 코리아"), brands.Proposal("2", "", "PUMA")]):
        async with db.begin() as tx:
            await brands.propose(tx, "okmall", found)

    assert await rows(db, "select topic, event_key, payload from outbox order by id") == [
        ("brand.changed", "brands:okmall", {"mall": "okmall", "names": ["NIKE", "나이키"]}),
        ("brand.changed", "brands:okmall", {"mall": "okmall", "names": ["NIKE", "PUMA", "나이키 코리아"]}),
    ]
