"""Sold out at the mall → suspended at the market: how long after the page that shows it was asked for."""

from __future__ import annotations

import asyncio
import re
import time
from statistics import quantiles
from typing import TYPE_CHECKING

from bench import conveyor
from bench.conveyor_shop import MALL, Plan, open_for_sale
from bench.report import Line, at_most
from bobusang.flows.conveyor.goods import sku_of
from bobusang.flows.conveyor.model import Mode
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.conveyor_shop import Stand

PRODUCTS = {"quick": 400, "full": 4_000}
SHARE = 20
"""One in so many sells out: more than one in ten at once would be held."""
RUNS = 2
"""OKmall does not list what is sold out: the first list lacks it, the second run asks for its own page."""
KEY = re.compile(r"[?&]no=(\d+)")
LISTED = Statement("select sku from listings where state = 'LIVE' order by id")
CLOSED = Statement("""
    select l.sku, c.sent_at from market_calls c join listings l on l.id = c.listing_id
    where c.kind = 'CLOSE' and c.sent_at is not null order by c.id""")


def run(size: str) -> Iterator[Line]:
    """On each database."""
    for database in conveyor.DATABASES:
        sold, waits = asyncio.run(_measure(Plan(database, PRODUCTS[size])))
        yield Line(f"{database}: sold out, suspended", f"{sold}, {len(waits)}", f"{sold}", len(waits) == sold)
        cuts = quantiles(waits, n=100, method="inclusive")
        yield Line(f"{database}: page asked for → suspend sent, p50", f"{cuts[49]:.2f} s")
        yield at_most(f"{database}: page asked for → suspend sent, p95", cuts[94], 5, "s")


async def _measure(plan: Plan) -> tuple[int, list[float]]:
    """How many were sold out, and the seconds that each of those that were suspended took."""
    async with open_for_sale(plan) as stand:
        await conveyor.full_of(stand, ends=False)
        listed = [row["sku"] for row in await stand.shop.yard.rows(LISTED)]
        gone = set(listed[::SHARE])
        since = time.time()
        for sku in gone:
            await stand.shop.door.override(MALL, sku.removeprefix(sku_of(MALL, "")), sold_out=True)
        for _ in range(RUNS):
            await stand.run(Mode.PARTIAL)
        asked = await _asked(stand, since)
        sent = {row["sku"]: utc(row["sent_at"]).timestamp() for row in await stand.shop.yard.rows(CLOSED)}
        if wrong := set(sent) - gone:
            raise RuntimeError(f"{len(wrong)} were suspended that are not sold out, such as {min(wrong)}")
        return len(gone), [at - asked[sku] for sku, at in sent.items()]


async def _asked(stand: Stand, since: float) -> dict[str, float]:
    """When each product's own page was first asked for since then, as the mall tells it."""
    found: dict[str, float] = {}
    for visit in await stand.shop.door.log(mall=MALL, endpoint="detail", since=since):
        if key := KEY.search(visit["path"]):
            found.setdefault(sku_of(MALL, key[1]), visit["at"])
    return found
