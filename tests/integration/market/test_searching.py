"""Searches at the sandbox's BUYMA, through the gate: offers, nobody, and searches that failed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.flows.market.searching import search
from bobusang.kit.money import yen
from bobusang.stages.collect import switch
from bobusang.stages.collect.policy import Limits
from bobusang.stages.price import watch
from bobusang.stages.price.model import Offer, Rival, Search
from bobusang.stages.price.rivals import Own
from bobusang.stages.price.watch import Market, Searched

if TYPE_CHECKING:
    from typing import Any

    from bobusang.flows.collect.collector import Collector
    from bobusang.testing.yard import Yard

MODEL = "DH1234-100"
RIVALS: list[dict[str, Any]] = [
    {"price": 12_800, "id": 1, "seller_name": "mocha_paris"},
    {"price": 11_900, "shipping": 1500, "id": 2, "seller_name": "TOKYO-select"},
    {"price": 4_980, "shipping": 800, "used": True, "id": 3, "seller_name": "kaede"},
    {"price": 12_500, "id": 4, "seller_name": "bobusang"},
]
TITLE = f"関税送料込 {MODEL} 正規品"
OFFERS = (
    Offer(yen(4_980), yen(800), "kaede", is_used=True, title=TITLE, id="3"),
    Offer(yen(11_900), yen(1500), "TOKYO-select", title=TITLE, id="2"),
    Offer(yen(12_500), yen(0), "bobusang", title=TITLE, id="4"),
    Offer(yen(12_800), yen(0), "mocha_paris", title=TITLE, id="1"),
)
FAST = Limits(rate=500.0, burst=64.0, concurrency=8)


async def searcher(yard: Yard, limits: Limits = FAST) -> Collector:
    """A collector that knows the sandbox's search page, and may ask it."""
    source = load_shop(SHIPPED / "buyma", base=yard.door.buyma, limits=limits)
    collector = replace(yard.app.collector, sources={"buyma": source})
    await yard.db.transact(lambda tx: collector.enable(tx, "buyma", why="it is the sandbox", by="test"))
    return collector


async def test_offers_are_read_and_archived(yard: Yard) -> None:
    collector = await searcher(yard)
    await yard.door.rivals(MODEL, RIVALS)
    found = await search(collector, "buyma", [MODEL, "NOBODY-1", MODEL])

    assert found == [Searched(MODEL, OFFERS), Searched("NOBODY-1", ())]
    pages = await yard.rows("select endpoint, url, status, url_hash from raw_pages order by id")
    assert [(row["endpoint"], row["url"].removeprefix(yard.door.buyma), row["status"]) for row in pages] == [
        ("search", f"/r/-O3/{MODEL}/", 200),
        ("search", "/r/-O3/NOBODY-1/", 200),
    ]
    assert await yard.rows("select source, endpoint, success, failure, items from fetch_counts") == [
        {"source": "buyma", "endpoint": "search", "success": 2, "failure": 0, "items": 4}
    ]


async def test_the_lowest_comparable_offer_is_what_is_watched(yard: Yard) -> None:
    collector = await searcher(yard)
    await yard.door.rivals(MODEL, RIVALS)
    found = await search(collector, "buyma", [MODEL])
    market = Market("buyma", "JPY", Own(("bobusang",)))
    rivals = await yard.db.transact(lambda tx: watch.record(tx, market, found))

    assert {key: replace(one, found_at=None) for key, one in rivals.items()} == {
        "DH1234100": Rival(Search.FOUND, yen(12_800), "mocha_paris", TITLE, 4, 2)
    }


@pytest.mark.parametrize("fault", ["http_500", "http_404", "reset", "half_html", "half_unsized", "empty", "bot_wall"])
async def test_a_search_that_fails_is_not_an_empty_one(yard: Yard, fault: str) -> None:
    collector = await searcher(yard)
    await yard.door.rivals(MODEL, RIVALS)
    await yard.door.fault("buyma", "search", fault, match=MODEL)

    assert await search(collector, "buyma", [MODEL]) == [Searched(MODEL, None)]


async def test_a_market_that_is_down_is_soon_left_alone_and_every_search_has_failed(yard: Yard) -> None:
    collector = await searcher(yard)
    models = [f"M-{number}" for number in range(60)]
    await yard.door.fault("buyma", "search", "http_500")
    found = await search(collector, "buyma", models)
    calls = len(await yard.door.log(mall="buyma"))

    assert found == [Searched(model, None) for model in models]
    assert calls < 60


async def test_a_market_that_is_off_is_not_asked(yard: Yard) -> None:
    collector = await searcher(yard)
    await yard.db.transact(lambda tx: switch.disable(tx, collector.pools, "buyma", why="a test", by="test"))

    assert await search(collector, "buyma", [MODEL]) == [Searched(MODEL, None)]
    assert await yard.door.log(mall="buyma") == []


async def test_what_is_not_its_turn_is_left_out_and_still_due(yard: Yard) -> None:
    collector = await searcher(yard, Limits(rate=0.01, burst=2.0, concurrency=2))
    models = [f"A-{number}" for number in range(6)]
    found = await search(collector, "buyma", models, patience=timedelta())

    assert found == [Searched(model, ()) for model in models[: len(found)]]
    assert len(found) == len(await yard.door.log(mall="buyma")) == 4


async def test_the_pace_is_kept_and_nobody_is_forgotten(yard: Yard) -> None:
    collector = await searcher(yard, Limits(rate=50.0, burst=2.0, concurrency=2))
    models = [f"A-{number}" for number in range(12)]

    assert sorted(one.model for one in await search(collector, "buyma", models)) == sorted(models)
    assert len(await yard.door.log(mall="buyma")) == 12
