"""Suppliers' goods on their way to the market: collected, normalised, enriched, registered; once, whoever dies."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import markets, suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.flows.product_sync import register
from bobusang.flows.sheets import previewing, starting
from bobusang.flows.sheets.receiving import receive
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.money import won
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.reviewed import mapping
from bobusang.sandbox.words import KINDS
from bobusang.sandbox.world import World
from bobusang.stages.convert import mastering, reviewing
from bobusang.stages.price import quotes
from bobusang.stages.price.model import Quote
from bobusang.stages.register.model import Policy
from bobusang.testing.belting import Hands
from bobusang.testing.sandbox import running
from bobusang.testing.shop import ENDLESS, NAME, Shop
from bobusang.testing.workbook import Sheet, workbook
from tests.integration.flows.selling import NO_DOUBLES, doubles
from tests.integration.flows.supplied import Supplied
from tests.integration.platform.receiver import Answer, Request, receiving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx
    from bobusang.kit.money import Money

BEHAVIOUR = Behaviour(delay=0.01, retry_seconds=0.05)
HURRY = Policy(budget=ENDLESS, patience=timedelta(seconds=3), sends=40)
PUT = "select id from market_calls where sent_at is not null"
STEPS = """
    select s.step_name as step, t.outcome as status, t.output_data as told, t.error_message as error from tasks t
    join workflow_steps s on s.id = t.step_id where t.job_id = :job order by t.id"""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with running(World(5, 60, brands=3), behaviour=BEHAVIOUR) as door, Shop.opened(tmp_path, door=door) as found:
        await supply(found, Supplier("acme", SupplierKind.WEBHOOK))
        yield found


async def supply(shop: Shop, *known: Supplier) -> None:
    async def work(tx: Tx) -> None:
        for one in known:
            await suppliers.put(tx, one)

    await shop.yard.db.transact(work)


async def accept(shop: Shop, *malls: str) -> None:
    """What a person says of a supplier's brands and categories."""

    async def work(tx: Tx) -> None:
        known = await mastering.current(tx, "buyma")
        await reviewing.imported(tx, reviewing.parsed(mapping(3, malls), known))

    await shop.yard.db.transact(work)


async def sync(shop: Shop, *names: str) -> tuple[str, list[tuple[str, str, Any]]]:
    """Sync to the end; how the job ended, and what its tasks say."""
    engine = shop.yard.app.engine
    begun = await shop.yard.db.transact(lambda tx: register.start(tx, engine, names))
    status = await shop.yard.ended(begun.job_id, patience=120)
    return status, await said(shop, begun.job_id)


async def said(shop: Shop, job: int) -> list[tuple[str, str, Any]]:
    rows = await shop.yard.rows(STEPS.replace(":job", str(job)))
    return [(row["step"], row["status"], row["error"] or json.loads(row["told"] or "null")) for row in rows]


async def sellable(shop: Shop) -> list[dict[str, Any]]:
    """What can be sold: converted, and there is some of it."""
    return await shop.yard.rows("""
        select p.product_id from conversions c join products p on p.id = c.product_id
        where c.state = 'READY' and p.in_stock = true""")


async def test_what_a_supplier_sends_stands_on_the_market(shop: Shop) -> None:
    await accept(shop, "acme")
    async with shop.yard.working():
        await shop.door.acme_sends(f"{shop.url}/in/acme", count=12, size=4)
        await Supplied(shop.yard, shop.url).read()
        status, told = await sync(shop)
        await shop.door.settle()

    market = await shop.door.market()
    assert (status, [step for step, _, _ in told]) == (
        "SUCCESS",
        ["collect", "collect", "normalise", "enrich", "sync"],
    )
    assert told[3] == ("enrich", "SKIPPED", "no model is set (BOBUSANG_MODEL), so nothing more is said of the products")
    assert len(market["listings"]) == len(await sellable(shop)) > 3
    assert await doubles(shop.door) == NO_DOUBLES


async def test_a_second_sync_sends_nothing_that_did_not_change(shop: Shop) -> None:
    await accept(shop, "acme")
    async with shop.yard.working():
        await shop.door.acme_sends(f"{shop.url}/in/acme", count=6, size=6)
        await Supplied(shop.yard, shop.url).read()
        await sync(shop)
        await shop.door.settle()
        before = await shop.door.effects()
        status, _ = await sync(shop)
        await shop.door.settle()

    assert status == "SUCCESS"
    assert len(before) > 1
    assert await shop.door.effects() == before


async def test_brands_that_nobody_has_accepted_are_proposed_and_sold_not(shop: Shop) -> None:
    async with shop.yard.working():
        await shop.door.acme_sends(f"{shop.url}/in/acme", count=60, size=20)
        await Supplied(shop.yard, shop.url).read()
        status, told = await sync(shop)

    named = await shop.yard.rows("select distinct brand from products where mall = 'acme' order by brand")
    proposed = await shop.yard.rows(
        "select mall_brand_no as brand, is_active from mall_brands where mall_name = 'acme' order by mall_brand_no"
    )
    assert status == "SUCCESS"
    assert [(step, state) for step, state, _ in told] == [
        ("collect", "DONE"),
        ("collect", "DONE"),
        ("normalise", "SKIPPED"),
        ("sync", "SKIPPED"),
    ]
    assert proposed == [{"brand": row["brand"], "is_active": None} for row in named]
    assert told[2][2] == f"no brand of acme is accepted: {len(named)} new brands were proposed"
    assert (await shop.door.market())["listings"] == []


async def test_a_supplier_with_an_api_is_collected_first(shop: Shop) -> None:
    told_by = {"targets": ["brand:나이키(NIKE)"]}
    await supply(shop, Supplier("okmall", SupplierKind.API, settings=told_by), Supplier("nobody", SupplierKind.API))
    async with shop.yard.working():
        status, told = await sync(shop)
        await shop.door.settle()

    runs = await shop.yard.rows("select target, state from collect_runs where state = 'PROVED'")
    assert status == "SUCCESS"
    asked = {name: text.partition(" (")[0] for name, text in told[0][2]["asked"].items()}
    assert asked == {
        "acme": "its webhooks are read as they come, and none waits",
        "nobody": "there is no source 'nobody'",
        "okmall": "1 jobs",
    }
    assert runs == [{"target": "brand:나이키(NIKE)", "state": "PROVED"}]
    assert len((await shop.door.market())["listings"]) > 3


LEAST = 170_000
HEAD = ["상품코드", "상품명", "브랜드", "모델명", "공급가", "최저판매가", "카테고리", "재고", "상태", "이미지"]


async def test_nothing_is_sold_for_less_than_its_supplier_allows(shop: Shop) -> None:
    """A rival asks for half of it: whoever may be sold cheaply goes down to our own floor, the other stays."""
    await supply(shop, Supplier("acme", SupplierKind.EXCEL))
    await accept(shop, "acme")
    path, pictures = ">".join(KINDS[0].path), f"{shop.door.url}/okimg"
    goods = [("H1", "QX1111-001", LEAST), ("H2", "QX2222-002", None)]
    rows = [
        [key, "스니커즈 (블랙)", "NIKE", model, 100_000, least, path, 3, "판매중", f"{pictures}/{500_000 + place}.jpg"]
        for place, (key, model, least) in enumerate(goods)
    ]
    for row in rows:
        await shop.door.rivals(str(row[3]), [{"price": 9_000, "id": 1}])
    async with shop.yard.working():
        await imported(shop, workbook(Sheet("단가표", [HEAD, *rows])))
        status, _ = await sync(shop)
        await shop.door.settle()

    async with shop.yard.db.read() as tx:
        bound, free = [await quotes.latest(tx, f"acme-{key}") for key in ("H1", "H2")]
    told = {step.name: step for step in bound.result.steps}
    assert status == "SUCCESS"
    assert (told["least resale price"].amount, told["floor"].basis) == (won(LEAST), "least resale price")
    assert isinstance(bound.result, Quote)
    assert isinstance(free.result, Quote)
    assert bound.result.price == bound.result.floor
    assert abs(bound.result.price.amount_minor - amount(told["least resale price"].local)) <= 1
    assert free.result.price.amount_minor < bound.result.price.amount_minor
    assert {one["model"]: one["price"] for one in (await shop.door.market())["listings"]} == {
        "QX1111-001": bound.result.price.amount_minor,
        "QX2222-002": free.result.price.amount_minor,
    }


def amount(money: Money | None) -> int:
    assert money is not None
    return money.amount_minor


async def imported(shop: Shop, data: bytes) -> None:
    """A supplier's file, taken in."""
    app = shop.yard.app
    file, _ = await receive(app.collector, "acme", "단가표.xlsx", data, by="test")
    await previewing.preview(app.collector, file.id)
    begun = await shop.yard.db.transact(lambda tx: starting.start(tx, app.engine, app.collector, file.id))
    assert begun.job_id is not None
    await shop.yard.ended(begun.job_id)


async def test_one_at_a_time_and_only_those_that_are_active(shop: Shop) -> None:
    engine = shop.yard.app.engine
    first = await shop.yard.db.transact(lambda tx: register.start(tx, engine))
    second = await shop.yard.db.transact(lambda tx: register.start(tx, engine))
    await supply(shop, Supplier("acme", SupplierKind.WEBHOOK, is_active=False))
    async with shop.yard.working():
        await shop.yard.ended(first.job_id)

    assert (second.job_id, first.is_new, second.is_new) == (first.job_id, True, False)
    assert (await said(shop, first.job_id))[0] == (
        "collect",
        "SKIPPED",
        "there is no active supplier: `bobusang supplier add` adds one",
    )
    with pytest.raises(Conflict, match="the supplier acme is paused"):
        await shop.yard.db.transact(lambda tx: register.start(tx, engine, ["acme"]))
    with pytest.raises(Missing, match="there is no supplier 'nobody'"):
        await shop.yard.db.transact(lambda tx: register.start(tx, engine, ["nobody"]))


async def test_it_is_shipped_every_six_hours(shop: Shop) -> None:
    found = await shop.yard.rows(
        "select name, cron_expression, timezone, is_active from crawling_schedules where name = 'product sync'"
    )
    await register.install(shop.yard.app.engine)

    assert [(row["cron_expression"], row["timezone"]) for row in found] == [("0 */6 * * *", "Asia/Seoul")]
    again = "select count(*) as n from crawling_schedules where name = 'product sync'"
    assert await shop.yard.rows(again) == [{"n": 1}]


def spoken(request: Request) -> Answer:
    """What a model says: the first word of each name, too many of them, and one product is left out."""
    texts = [json.loads(one) for one in json.loads(request.json["messages"][1]["content"])]
    said_of = [
        {"id": place, "keywords": [one["name"].split()[0]] * 3 + ["x" * 99], "summary": " 좋은\n상품 ", "quality": 0.5}
        for place, one in enumerate(texts)
    ]
    content = json.dumps({"products": said_of[1:]})
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    choices = [{"message": {"content": content}, "finish_reason": "stop"}]
    return Answer(body=json.dumps({"choices": choices, "usage": usage}).encode())


async def enriched(shop: Shop) -> list[dict[str, Any]]:
    rows = await shop.yard.rows("""
        select d.ai_data from source_records r join source_data d on d.id = r.version_id
        where r.source_system = 'acme' order by r.id""")
    return [json.loads(row["ai_data"] or "{}") for row in rows]


async def test_a_model_says_more_once_and_never_over_a_persons_word(tmp_path: Path) -> None:
    async with (
        receiving() as model,
        running(World(5, 60, brands=3), behaviour=BEHAVIOUR) as door,
        Shop.opened(
            tmp_path, door=door, model="openai:m-1", model_url=f"http://127.0.0.1:{model.port}/v1", model_price="1/2"
        ) as shop,
    ):

        async def respond(request: Request) -> Answer:
            if "search keywords" not in request.json["messages"][0]["content"]:
                return Answer(body=b"{}")  # a translation, garbled: the words of the rules do
            return spoken(request)

        model.respond = respond
        await supply(shop, Supplier("acme", SupplierKind.WEBHOOK))
        await accept(shop, "acme")
        async with shop.yard.working():
            await shop.door.acme_sends(f"{shop.url}/in/acme", count=3, size=3)
            await Supplied(shop.yard, shop.url).read()
            ids = [row["id"] for row in await shop.yard.rows("select id from products order by id")]
            fixed = {ids[2]: {"by_person": ["summary"], "summary": "사람의 말"}}
            await shop.yard.db.transact(lambda tx: markets.set_ai_data(tx, fixed))
            _, told = await sync(shop)
            calls = [one for one in model.requests if "search keywords" in one.json["messages"][0]["content"]]
            _, again = await sync(shop)
            later = [one for one in model.requests if "search keywords" in one.json["messages"][0]["content"]]

        found = await enriched(shop)
        assert next(step for step in told if step[0] == "enrich")[2] == {
            "asked": 3,
            "model": "m-1",
            "cost_micros": 120,
        }
        assert (len(calls), len(later)) == (1, 1)
        assert [one["enriched"]["cost_micros"] for one in found] == [40, 40, 40]
        assert [one.get("summary") for one in found] == [None, "좋은 상품", "사람의 말"]
        assert [one.get("quality_score") for one in found] == [None, 0.5, 0.5]
        assert [len(one.get("keywords", [])) for one in found] == [0, 2, 2]
        assert again[-2][2] == {"asked": 0}


async def test_it_survives_being_killed(tmp_path: Path, empty_sqlite: str) -> None:
    """A process dies while goods are collected, converted and registered; the next goes on, and nothing is doubled."""
    told = {"call_seconds": 2.0, "database_url": empty_sqlite}
    behaviour = Behaviour(delay=0.05, retries=40, retry_seconds=0.25)
    async with (
        running(World(5, 60, brands=3), behaviour=behaviour) as door,
        Shop.opened(tmp_path, door=door, policy=HURRY, database_url=empty_sqlite) as shop,
    ):
        await supply(shop, Supplier("acme", SupplierKind.WEBHOOK))
        await accept(shop, "acme")
        settings = {**told, "sandbox_url": door.url, "public_url": f"{shop.url}/media"}
        with Hands.at(tmp_path, {}, **settings) as hands:
            await door.account(webhook_url=f"{hands.url}/webhooks/buyma/{NAME}")
            await door.acme_sends(f"{shop.url}/in/acme", count=12, size=4)
            begun = await shop.yard.db.transact(lambda tx: register.start(tx, shop.yard.app.engine))
            hands.start()
            for state in ("select id from source_records", "select product_id from conversions", PUT):
                async with asyncio.timeout(60):
                    while not await shop.yard.rows(state):  # noqa: ASYNC110  (it happens in another process)
                        await asyncio.sleep(0.005)
                hands.kill(hands.names[0])
                hands.start()
            status = await shop.yard.ended(begun.job_id, patience=120)
            await door.settle()

        assert status == "SUCCESS"
        assert len((await door.market())["listings"]) == len(await sellable(shop)) > 3
        assert await doubles(door) == NO_DOUBLES
