"""A catalogue to measure: products written straight into SQL, and the program that serves them."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bench.looked_for import documents
from bobusang import migrations
from bobusang.catalog.tables import products
from bobusang.kit.db import connect
from bobusang.kit.sql import Bulk
from tests.e2e.program import Up, up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bobusang.kit.db import Tx
    from bobusang.platform.search import Document

INTO = Bulk(
    products,
    (
        *("id", "mall", "product_id", "seller_id", "brand", "brand_ko", "name", "model", "price", "currency", "url"),
        *("image", "in_stock", "category", "colours", "version", "created_at", "updated_at"),
    ),
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PATIENCE = 1200.0
"""Seconds for a first index of a million products on a busy machine."""


def filled(url: str, count: int) -> None:
    """Bring a database up to date and put so many products into it."""
    asyncio.run(_filled(url, count))


async def _filled(url: str, count: int) -> None:
    await migrations.upgrade(url)
    db = await connect(url)
    try:
        for batch in documents(count):
            rows = [_row(one) for one in batch]

            async def work(tx: Tx, rows: list[tuple[object, ...]] = rows) -> None:
                await tx.insert(INTO, rows)

            await db.transact(work)
    finally:
        await db.close()


def _row(one: Document) -> tuple[object, ...]:
    then = EPOCH + timedelta(microseconds=one.changed)
    return (
        *(one.id, one.mall, one.product_id, one.seller, one.brand, one.brand_ko, one.name, one.model, one.price),
        *(one.currency, one.url, one.image, one.in_stock, one.category, one.colours, 1, then, then),
    )


@contextmanager
def program(folder: Path, url: str) -> Iterator[Up]:
    """`bobusang up` on that database, with an index that is there."""
    chosen = {"BOBUSANG_DATABASE_URL": url, "BOBUSANG_API_RATE": "0", "BOBUSANG_LOG_LEVEL": "WARNING"}
    with up(folder, **chosen) as found:
        wait_for_index(found)
        yield found


def wait_for_index(found: Up) -> None:
    """Until there is one and no rebuild is under way."""
    given_up = time.monotonic() + PATIENCE  # not by counting calls: each ends as soon as the rebuild has moved on
    while True:
        status = found.get("/search/status?wait=5")
        if status["trouble"] is None and not (status["rebuild"] or {}).get("under_way"):
            return
        if time.monotonic() > given_up:
            raise RuntimeError(f"there is no index: {status}")
