"""Who sells a product, as its page tells it: kept once a seller, renewed, and never against a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import sellers
from bobusang.catalog.model import SellerStatus
from tests.integration.collect.mall import NAME, Collector, item

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database


@pytest.fixture
def mall(db: Database, tmp_path: Path) -> Collector:
    return Collector(db, tmp_path)


def sold(key: str, price: int = 10_000, seller: str = "s-1", **said: Any) -> Any:
    return item(key, price, seller=seller, **{f"seller_{name}": value for name, value in said.items()})


async def known(db: Database) -> dict[str, tuple[str | None, ...]]:
    async with db.read() as tx:
        return {one.seller_id: (one.company, one.contact, one.email) for one in await sellers.listed(tx, mall=NAME)}


async def test_a_seller_is_learned_from_its_products(mall: Collector) -> None:
    acme: dict[str, Any] = {"company": "Acme Ltd", "contact": "02-123-4567", "email": "acme@example.com"}
    await mall.whole_run(1, sold("A", **acme), sold("B", **acme), sold("C", seller="s-2", company="두리"), item("D"))

    assert await known(mall.db) == {
        "s-1": ("Acme Ltd", "02-123-4567", "acme@example.com"),
        "s-2": ("두리", None, None),
    }
    async with mall.db.read() as tx:
        found = await sellers.find(tx, NAME, "s-1")
    assert found is not None
    assert (found.status, found.schedule_id) == (SellerStatus.ACTIVE, None)


async def test_what_a_source_says_anew_is_renewed_and_what_a_person_wrote_stays(mall: Collector) -> None:
    await mall.whole_run(1, sold("A", company="Acme", contact="02-1", email="a@example.com"))
    async with mall.db.begin() as tx:
        one = await sellers.find(tx, NAME, "s-1")
        assert one is not None
        await sellers.change(tx, one.id, {"contact": "ask for Kim"})

    await mall.whole_run(2, sold("A", company="Acme Ltd", contact="02-2", email="a@example.com"))

    assert await known(mall.db) == {"s-1": ("Acme Ltd", "ask for Kim", "a@example.com")}


async def test_another_price_says_nothing_of_the_seller(mall: Collector) -> None:
    await mall.whole_run(1, sold("A", company="Acme"))
    async with mall.db.begin() as tx:
        one = await sellers.find(tx, NAME, "s-1")
        assert one is not None
        await sellers.change(tx, one.id, {"company": None})

    await mall.whole_run(2, sold("A", 10_500, company="Acme"))

    assert await known(mall.db) == {"s-1": (None, None, None)}


async def test_what_is_no_text_or_too_long_breaks_nothing(mall: Collector) -> None:
    await mall.whole_run(
        1, sold("A", company="x" * 500, contact=["02", "1"], email=7), sold("B", seller="", company="y")
    )

    assert await known(mall.db) == {"s-1": ("x" * 200, None, "7")}
