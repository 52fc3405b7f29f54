"""What selling leaves behind is forgotten in time, and never what is still needed."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import images
from bobusang.catalog.images import ProductImage
from bobusang.catalog.tables.images import ImageState
from bobusang.flows.market_upkeep import pictures
from bobusang.flows.market_upkeep.duties import KEEP_BODIES, KEEP_QUOTES, KEEP_UNKNOWN, KEEP_WEBHOOKS, duties
from bobusang.kit.money import won, yen
from bobusang.kit.sql import Statement
from bobusang.platform.blobs.files import FileBlobs
from bobusang.stages.price import forgetting as prices
from bobusang.stages.price import quotes
from bobusang.stages.price.model import Hold, Quote, Rival, Search
from bobusang.stages.price.model import Reason as PriceReason
from bobusang.stages.price.model import Wanted as Priced
from bobusang.stages.price.quotes import Quoted
from bobusang.stages.register import forgetting as sent
from bobusang.stages.register import receipts
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

DAY = timedelta(days=1)


async def upkeep(db: Database, folder: Path) -> None:
    """Each duty until it has nothing more to do."""
    for duty in duties(db, FileBlobs(folder, clock=db.clock)):
        while await duty.run():
            pass


async def test_webhooks_are_forgotten_when_they_are_done_with(db: Database, clock: ManualClock, tmp_path: Path) -> None:
    desk = await Desk.opened(db)
    await desk.go(WANTED)
    known = desk.shop.work()
    unknown = desk.shop.hook("product/update", {**desk.shop.said(100), "id": 999, "reference_number": "other"})
    await desk.told([*known, unknown, desk.shop.hook("order/create", {}), desk.shop.hook("x", {}, secret="forged")])
    states = "select state from webhook_inbox order by id"

    clock.advance(seconds=KEEP_WEBHOOKS.total_seconds())
    await upkeep(db, tmp_path)
    before = [row["state"] for row in await desk.rows(states)]
    await desk.receive([desk.shop.hook("product/update", desk.shop.said(100))])
    clock.advance(seconds=1)
    await upkeep(db, tmp_path)
    after = [row["state"] for row in await desk.rows(states)]
    clock.advance(seconds=KEEP_UNKNOWN.total_seconds())
    await upkeep(db, tmp_path)

    assert before == ["APPLIED", "UNMATCHED", "OTHER", "FORGED"]
    assert after == ["UNMATCHED", "RECEIVED"]
    assert [row["state"] for row in await desk.rows(states)] == ["RECEIVED"]  # nobody has applied it


async def test_a_call_keeps_its_receipt_and_the_last_its_body(db: Database, clock: ManualClock, tmp_path: Path) -> None:
    desk = await Desk.opened(db)
    coats = [replace(WANTED, product_id=id, sku=f"okmall/{id}") for id in (1, 2)]
    for price in (22_500, 23_000, 23_500):
        await desk.go(*(replace(coat, price=yen(price)) for coat in coats))
        await desk.told()
        clock.advance(days=1)
    await desk.go(replace(coats[0], price=yen(24_000)))  # coat 2 is left alone
    full = "select id from market_calls where payload <> '' and answer is not null order by id"
    every = [row["id"] for row in await desk.rows("select id from market_calls order by id")]
    async with db.read() as tx:
        before = await receipts.receipts(tx, "okmall/1")

    clock.advance(seconds=(KEEP_BODIES - 2 * DAY).total_seconds())  # the calls of the first day are old enough
    await upkeep(db, tmp_path)
    assert [row["id"] for row in await desk.rows(full)] == every  # but what overtook them is not
    clock.advance(days=30)
    await upkeep(db, tmp_path)

    last = [every[-1], every[-2]]
    assert [row["id"] for row in await desk.rows(full)] == sorted(last)
    async with db.read() as tx:
        after = await receipts.receipts(tx, "okmall/1")
    assert [(one.lines, one.call.draft.price) for one in after] == [(one.lines, one.call.draft.price) for one in before]
    assert after[0] == before[0]
    assert [one.outgoing for one in await desk.plan(replace(coats[1], price=yen(23_500)))] == [None]


async def test_a_pass_is_bounded_and_goes_on_where_it_was(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    for price in (22_500, 23_000, 23_500, 24_000):
        await desk.go(replace(WANTED, price=yen(price)))
        await desk.told()
    later = clock.advance(days=1)
    after, passes = 0, 0
    while True:
        done, after = await db.transact(lambda tx, after=after: sent.bodies(tx, later, after=after, limit=2))  # type: ignore[misc]
        if not done:
            break
        passes += 1

    assert passes == 3
    (row,) = await desk.rows("select count(*) as calls, max(id) as last from market_calls where payload = ''")
    assert (row["calls"], row["last"] < after) == (3, True)


async def quote(db: Database, account: str, *amounts: int | None) -> None:
    """Decisions one after the other: a price, or a hold."""
    wanted = Priced(1, "okmall/1", "buyma", account, won(1))
    results: list[Quote | Hold] = [
        Hold(PriceReason.NO_FX, "", ())
        if amount is None
        else Quote(yen(amount), PriceReason.UNDERCUT, yen(1), yen(99_999), ())
        for amount in amounts
    ]
    quoted = [Quoted(wanted, result, Rival(Search.NEVER), "JPY") for result in results]
    await db.transact(lambda tx: quotes.write(tx, quoted))


async def test_the_last_decision_and_the_last_price_stay(db: Database, clock: ManualClock, tmp_path: Path) -> None:
    await quote(db, "main", 1, 2, None, 3, None, None)
    await quote(db, "second", 7, 8)
    clock.advance(days=1)
    await quote(db, "second", 9)

    async def left() -> list[tuple[Any, ...]]:
        async with db.read() as tx:
            rows = await tx.fetch(Statement("select account, price from price_quotes order by id"))
            return [(row["account"], row["price"]) for row in rows]

    clock.advance(seconds=KEEP_QUOTES.total_seconds())
    await upkeep(db, tmp_path)
    assert await left() == [("main", 3), ("main", None), ("second", 8), ("second", 9)]
    clock.advance(days=1)
    async with db.begin() as tx:
        assert await prices.quotes(tx, tx.now, limit=2) == (2, (await _ids(tx))[1])
    await upkeep(db, tmp_path)
    assert await left() == [("main", 3), ("main", None), ("second", 9)]


async def _ids(tx: Any) -> list[int]:
    return [row["id"] for row in await tx.fetch(Statement("select id from price_quotes order by id"))]


def age(folder: Path, clock: ManualClock, *addresses: str) -> None:
    """Set back when these were written, for files take the machine's time."""
    old = (clock.now() - pictures.OLDER_THAN - DAY).timestamp()
    for path in folder.rglob("*"):
        if path.name in addresses:
            os.utime(path, (old, old))


async def test_a_picture_goes_only_when_nobody_refers_to_it(db: Database, clock: ManualClock, tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path, clock=clock)
    shown, page, orphan = await blobs.put_many([(name, "image/png") for name in (b"1", b"2", b"3")])
    young = await blobs.put(b"4", media="image/png")
    picture = ProductImage("https://mall.example/1.jpg", "x", ImageState.READY, shown)
    await db.transact(lambda tx: images.put(tx, {7: [picture]}))
    await db.transact(
        lambda tx: tx.execute(
            Statement("""
            insert into raw_pages (id, source, endpoint, url, sha256, status, size, fetched_at)
            values (1, 'okmall', 'list', '/', :page, 200, 1, :now)"""),
            page=page,
            now=tx.now,
        )
    )
    age(tmp_path, clock, shown, page, orphan)

    gone = await pictures.sweep(db, blobs, at_once=2)

    assert gone == 1
    assert sorted([one async for one in blobs.addresses()]) == sorted([shown, page, young])
