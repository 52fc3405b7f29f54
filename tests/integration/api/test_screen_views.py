"""Views that only the screen has, on all three databases: quality by samples, the market's lists, who is needed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import brands
from bobusang.catalog.brands import Proposal
from bobusang.kit.sql import Bulk
from bobusang.stages.collect.tables import collect_runs
from bobusang.stages.convert import memory
from bobusang.stages.convert.glossary import Term
from bobusang.stages.convert.naming import How
from bobusang.stages.convert.reviewing import Subject
from bobusang.stages.price import fxbook
from bobusang.stages.price.model import FxQuote
from bobusang.testing.catalog import collect, reading
from bobusang.views import held, market_lists, needs, quality
from bobusang.views.mappings import Proposed
from bobusang.views.market_lists import Choice, MarketLists
from bobusang.views.quality import Failing, Readable
from tests.integration.api.test_mappings import stocked

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

RUN = Bulk(collect_runs, ("job_id", "source", "target", "scope", "mode", "unknown", "started_at"))
MALLS = ("mustit", "okmall")


async def test_a_sample_of_each_mall_is_judged(door: Door) -> None:
    db = door.app.engine.db
    whole: dict[str, Any] = {"brand": "A", "category": ["x"], "model": "m", "sold_out": False}
    await collect(
        db,
        reading("1", name="<b>bold</b>", price=1000, url="http://a/1", **whole),
        reading("2", name="plain", price=0, url="ftp://a/2", **whole),
        reading("3", name="bare"),
    )

    async with db.read() as tx:
        (one,) = await quality.sampled(tx, MALLS)
        markup = await quality.failing(tx, MALLS, "plain_name", None, 10)
        lacking = await quality.failing(tx, ["okmall"], "model", None, 10)
        further = await quality.failing(tx, MALLS, "model", lacking[0].id, 10)
        none = await quality.sampled(tx, [])

    assert (one.mall, one.products) == ("okmall", 3)
    assert {name: count for name, count in one.failing.items() if count} == {
        **dict.fromkeys(("brand", "price", "url", "category", "model"), 1),
        "image": 3,
        "in_stock": one.failing["in_stock"],
        "price_above_zero": 1,
        "currency": one.failing["currency"],
        "address": 1,
        "plain_name": 1,
    }
    assert one.passing("model") == 1 - 1 / 3
    assert markup == [Failing(id=markup[0].id, mall="okmall", key="1", brand="A", name="<b>bold</b>")]
    assert ([each.key for each in lacking], further, none) == (["3"], [], [])


async def test_the_newest_quarter_of_runs_is_held_against_the_others(door: Door) -> None:
    told = '{"seen":{"price":100},"unknown":{"price":%d},"changed":{}}'

    async def happened(tx: Tx) -> None:
        rows = [(id, 40 if id == 4 else 1) for id in (1, 2, 3, 4)]
        await tx.insert(
            RUN,
            [(id, "okmall", "brand:A", "s", "FULL", told % bad, tx.now - timedelta(hours=9 - id)) for id, bad in rows],
        )

    await door.app.engine.db.transact(happened)
    async with door.app.engine.db.read() as tx:
        (one,), tripped = await quality.runs(tx)
        gates = await quality.gates(tx, "buyma")
        latest = await held.latest(tx, 10)

    assert one == Readable(
        source="okmall", field="price", before=0.01, now=0.4, unknown=40, seen=100, since=one.since, is_drift=True
    )
    assert (tripped, gates, latest) == ([], ([], 0), [])


async def test_the_markets_lists_are_searched_and_kept(door: Door) -> None:
    await stocked(door)
    db, lists = door.app.engine.db, MarketLists("buyma")

    async with db.read() as tx:
        first = await lists.fresh(tx)
        again = await lists.fresh(tx)
        aliases = await market_lists.aliases(tx, ["나이키", None])

    assert first is again
    named = first[Subject.BRAND]
    (nike,) = named.search("nike", 5)
    assert nike == Choice(market_id=nike.market_id, name=named.path(nike.market_id))
    assert named.search(str(nike.market_id), 5) == [nike]
    assert (named.search("", 5), named.path(None), named.path(0)) == ([], "", "")
    assert named.proposed([nike.name], aliases) == [
        Proposed(market_id=nike.market_id, name=nike.name, how=How.EXACT, confidence=1.0)
    ]


async def test_a_category_is_proposed_in_the_words_of_the_glossary_as_it_is_now(door: Door) -> None:
    await stocked(door)
    db, lists = door.app.engine.db, MarketLists("buyma")

    async def called(path: str) -> list[tuple[str, float]]:
        async with db.read() as tx:
            named = (await lists.fresh(tx))[Subject.CATEGORY]
        return [(one.name, one.confidence) for one in named.proposed([path, ""], {})]

    before = await called("신발 > 운동구두")
    await db.transact(lambda tx: memory.put_terms(tx, [Term("운동구두", "スニーカー")]))

    assert (before, await called("신발 > 운동구두")) == ([], [("スニーカー", 0.95)])
    assert await called("SHOES > 스니커즈") == [("スニーカー", 0.95)]


async def test_what_needs_a_person_is_counted(door: Door) -> None:
    async def put(tx: Tx) -> None:
        await brands.propose(tx, "okmall", [Proposal("A"), Proposal("B")])
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.4", "a test", tx.now - timedelta(hours=2))])
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "94", "a test", tx.now - timedelta(hours=1))])

    await door.app.engine.db.transact(put)
    async with door.app.engine.db.read() as tx:
        found = await needs.needs(tx)

    assert (found.brands, found.rates, found.held) == (2, 1, 3)
