"""BUYMA over real HTTP: accepted is not done, and what is done is told by webhook, once, twice, late or never."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import ClientError
from selectolax.lexbor import LexborHTMLParser

from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.buyma.effect import WRONG_ID, WRONG_REFERENCE
from bobusang.sandbox.buyma.post import signature
from bobusang.sandbox.world import World
from bobusang.testing.sandbox import process, running
from tests.integration.sandbox.seller import IN, NOW, OUT, TOKEN, Receiver, body, listing, post, receiving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
async def door(receiver: Receiver) -> AsyncIterator[Door]:
    behaviour = Behaviour(delay=0, retry_seconds=0)
    async with (
        receiving(receiver) as url,
        running(World(5, 300), behaviour=behaviour, account=Account(webhook_url=url)) as found,
    ):
        await found.behave(now=NOW)
        yield found


def test_the_signature_is_that_of_the_specification() -> None:
    raw = b'{"id":1,"reference_number":"REF-1","status":"public"}'

    assert signature("example-client-secret", raw) == "VDP091M+DCY+xGhwXdA85XMcneCKuVLzNHQVwrAgH+w="


async def test_a_product_is_accepted_then_made_and_told(http: ClientSession, door: Door, receiver: Receiver) -> None:
    sent = body(door)
    status, answer = await post(http, door, sent)
    market = await door.market()
    (event, told) = receiver.got[0]
    id = market["listings"][0]["id"]
    kept = {name: value for name, value in sent.items() if name not in ("control", "images")}

    assert (status, [*answer]) == (201, ["request_uid"])
    assert (event, len(receiver.got)) == ("product/create", 1)
    assert told == kept | {
        "id": id,
        "status": "public",
        "list_price": 24000,
        "images": [{"path": f"https://cdn-images.buyma.com/imgdata/item/{id}/{n}.jpg", "position": n} for n in (1, 2)],
        "created_at": "2026-11-16T09:00:00+09:00",
        "updated_at": "2026-11-16T09:00:00+09:00",
    }
    assert (market["created"], market["fetches"], market["same_goods"], market["broken"]) == (1, 2, [], [])
    assert await door.effects() == {
        answer["request_uid"]: {"outcome": "created", "effects": 1, "listing": id, "stock": False}
    }


async def test_only_who_has_the_token_comes_in(http: ClientSession, door: Door) -> None:
    url, found = f"{door.buyma}/api/v1/products", []
    for headers in ({}, {next(iter(TOKEN)): "other"}):
        async with http.post(url, json={"product": body(door)}, headers=headers) as answer:
            found.append(answer.status)
    async with http.post(url, json={"reference_number": "R"}, headers=TOKEN) as answer:
        found.append(answer.status)

    assert (found, (await door.market())["created"]) == ([401, 403, 400], 0)


async def test_a_wrong_product_is_refused_at_once(http: ClientSession, door: Door, receiver: Receiver) -> None:
    status, answer = await post(http, door, body(door, category_id=0, shop_urls=[{"url": "x"}]))

    assert status == 422
    assert answer == {
        "errors": {
            "category_id": ["カテゴリIDは存在しないカテゴリIDです。"],
            "shop_urls": {"0": {"url": ["買付先URLは不正な値です。"]}},
        }
    }
    assert receiver.got == []


async def test_the_same_reference_again_is_an_edit_and_another_one_a_duplicate(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await post(http, door, body(door), settle=False)
    await post(http, door, body(door))
    once = await door.market()
    await post(http, door, body(door, "REF-2", name="NIKE ニット REF-1"))
    twice = await door.market()

    assert (once["created"], once["outcomes"], once["same_goods"]) == (1, {"created": 1, "unchanged": 1}, [])
    assert (once["listings"][0]["edits"], once["listings"][0]["idle_edits"], once["fetches"]) == (1, 1, 2)
    assert (twice["created"], twice["same_goods"]) == (2, [[one["id"] for one in twice["listings"]]])
    assert receiver.events == ["product/create", "product/update", "product/create"]


async def test_stock_with_a_delay_of_its_own_is_done_before_the_product_calls_that_were_sent_first(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await post(http, door, body(door))
    found = []
    for own in (60, None):
        await door.behave(delay=3600, stock_delay=own)
        await post(http, door, body(door, price=20000), settle=False)
        await post(http, door, {"reference_number": "REF-1", **OUT}, "products/variants.json", settle=False)
        await door.settle(hurry=True)
        found.append((await listing(door))["status"])

    assert found == ["public", "buyer_suspended"]
    assert [told["status"] for _, told in receiver.got[1:]] == [
        *("buyer_suspended", "public"),
        *("public", "buyer_suspended"),
    ]


async def test_an_id_with_a_reference_overwrites_the_reference(http: ClientSession, door: Door) -> None:
    await post(http, door, body(door))
    id = (await listing(door))["id"]
    await post(http, door, body(door, "REF-9", id=id, name="NIKE ニット REF-1", price=20000))
    await post(http, door, body(door, name="NIKE ニット REF-1"))
    market = await door.market()

    first, second = market["listings"]
    assert (first["id"], first["references"], first["price"]) == (id, ["REF-1", "REF-9"], 20000)
    assert (second["reference"], market["made_again"]) == ("REF-1", {"REF-1": 2})
    assert market["same_reference"] == [[id, second["id"]]]


async def test_what_depends_on_the_stored_product_fails_later(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await post(http, door, body(door))
    sent = [
        body(door, id=5),
        body(door, name="NIKE 別", category_id=3065, buying_shop_name="shop"),
        body(door, control="draft"),
        body(door, images=[{"path": f"{door.url}/nowhere.jpg", "position": 1}]),
        {"control": "delete", "reference_number": "REF-X"},
    ]
    answers = [await post(http, door, one) for one in sent]

    assert [status for status, _ in answers] == [201] * 5
    assert receiver.got[1:] == [
        (event, {"request_uid": answer["request_uid"], "reference_number": reference, "errors": errors})
        for (event, reference, errors), (_, answer) in zip(
            [
                ("product/fail_to_update", "REF-1", WRONG_ID),
                (
                    "product/fail_to_update",
                    "REF-1",
                    {
                        "name": ["商品名は変更できません。"],
                        "category_id": ["カテゴリIDは変更できません。"],
                        "buying_shop_name": ["買付先ショップ名は変更できません。"],
                    },
                ),
                ("product/fail_to_update", "REF-1", {"control": ["公開した商品は下書きに変更できません。"]}),
                ("product/fail_to_update", "REF-1", {"images": ["画像を取得できませんでした"]}),
                ("product/fail_to_create", "REF-X", {"base": ["削除できない商品です"]}),
            ],
            answers,
            strict=True,
        )
    ]
    assert (await listing(door))["edits"] == 0


async def test_what_is_locked_may_be_left_out_of_an_edit(http: ClientSession, door: Door) -> None:
    await post(http, door, body(door))
    edit = body(door, price=21000)
    for name in ("name", "brand_id", "category_id", "buying_area_id", "shipping_area_id"):
        del edit[name]
    status, _ = await post(http, door, edit)

    found = await listing(door)
    assert (status, found["price"], found["name"], found["edits"]) == (201, 21000, "NIKE ニット REF-1", 1)


async def test_stock_suspends_and_an_edit_revives(http: ClientSession, door: Door, receiver: Receiver) -> None:
    await post(http, door, body(door))
    id = (await listing(door))["id"]
    variants = "products/variants.json"
    await post(http, door, {"reference_number": "REF-1", **IN}, variants)
    await post(http, door, {"reference_number": "REF-1", **IN}, variants)
    await post(http, door, {"reference_number": "REF-1", **OUT}, variants)
    await post(http, door, {"reference_number": "REF-1", **IN}, variants)
    await post(http, door, {"reference_number": "REF-X", **IN}, variants)
    await post(http, door, {"id": id, "reference_number": "REF-Z", **IN, "variants": IN["variants"][:1]}, variants)
    suspended = await listing(door)
    await post(http, door, body(door, id=id))
    revived = await listing(door)

    told = [(event, one.get("status"), one.get("errors")) for event, one in receiver.got]
    assert told == [
        ("product/create", "public", None),
        ("product/update", "public", None),
        ("product/update", "public", None),
        ("product/update", "buyer_suspended", None),
        ("product/fail_to_create", None, WRONG_REFERENCE),
        ("product/fail_to_create", None, WRONG_REFERENCE),
        ("product/fail_to_update", None, {"variants": ["販売可否/在庫に必要なすべての選択がありません。"]}),
        ("product/update", "public", None),
    ]
    assert (suspended["status"], suspended["stock_calls"], suspended["idle_stock_calls"]) == ("buyer_suspended", 3, 1)
    assert (revived["status"], revived["references"], revived["id"]) == ("public", ["REF-1"], id)


async def test_an_offer_lapses_as_the_clock_advances_and_nobody_is_told(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await post(http, door, body(door))
    found = []
    for days in (45, 1):
        await door.advance(24 * days)
        found.append((await listing(door))["status"])
    status, _ = await post(http, door, body(door, available_until="2027/03/31"))

    assert found == ["public", "buyer_suspended"]
    assert (status, (await listing(door))["status"], len(receiver.got)) == (201, "public", 2)


async def test_beyond_the_limits_calls_are_refused_until_time_has_passed(http: ClientSession, door: Door) -> None:
    await door.behave(hour_limit=4, day_limit=2)
    calls = ["products.json", "products.json", "products.json", "products/variants.json", "products/variants.json"]
    found = []
    for path in calls:
        sent = body(door) if path == "products.json" else {"reference_number": "REF-1", **IN}
        found.append((await post(http, door, sent, path))[0])
    await door.advance(1)
    found.append((await post(http, door, {"reference_number": "REF-1", **IN}, "products/variants.json"))[0])
    found.append((await post(http, door, body(door)))[0])
    await door.advance(23)
    found.append((await post(http, door, body(door)))[0])

    assert found == [201, 201, 429, 201, 201, 201, 429, 201]


@pytest.mark.parametrize(
    ("kind", "more", "made"),
    [
        ("reset_after", {}, 1),
        ("error_after", {"status": 502}, 1),
        ("stall_after", {"seconds": 0.01}, 1),
        ("http_500", {}, 0),
        ("reset", {}, 0),
    ],
)
async def test_an_answer_is_lost_though_the_product_was_made_or_was_not(
    http: ClientSession, door: Door, kind: str, more: dict[str, Any], made: int
) -> None:
    await door.fault("buyma", "products", kind, **more)
    status = 0
    try:
        async with http.post(
            f"{door.buyma}/api/v1/products.json", json={"product": body(door)}, headers=TOKEN
        ) as answer:
            status = answer.status
    except ClientError:
        pass
    await door.settle()
    lost = (await door.market())["created"]
    await door.clear()
    await post(http, door, body(door))
    after = await door.market()

    assert (status, lost) == ({"error_after": 502, "http_500": 500}.get(kind, 0), made)
    assert (after["created"], after["same_goods"], after["made_again"]) == (1, [], {})


@pytest.mark.parametrize(
    ("kind", "events"),
    [
        ("lost", ["product/update"]),
        ("doubled", ["product/create", "product/create", "product/update"]),
        ("reordered", ["product/update", "product/create"]),
        ("forged", ["product/create", "product/update"]),
    ],
)
async def test_webhooks_go_astray(
    http: ClientSession, door: Door, receiver: Receiver, kind: str, events: list[str]
) -> None:
    await door.fault("buyma", "webhook", kind, count=1, match="REF-1", seconds=1)
    await door.behave(delay=0.05)
    await post(http, door, body(door), settle=False)
    await post(http, door, body(door, price=20000))

    assert receiver.events == events
    assert receiver.refused == (1 if kind == "forged" else 0)
    assert (await door.market())["broken"] == []


async def test_a_late_webhook_comes_though_the_product_is_there(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await door.fault("buyma", "webhook", "late", seconds=0.3, match="product/create")
    await post(http, door, body(door), settle=False)
    await post(http, door, body(door, price=20000))

    assert receiver.events == ["product/update", "product/create"]
    assert (await listing(door))["price"] == 20000


@pytest.mark.parametrize(("failing", "came"), [(5, 1), (6, 0)])
async def test_a_webhook_is_repeated_five_times(
    http: ClientSession, door: Door, receiver: Receiver, failing: int, came: int
) -> None:
    receiver.failing = failing
    await post(http, door, body(door))
    log = await door.webhooks("REF-1")

    assert len(receiver.got) == came
    assert [(one["attempt"], one["status"]) for one in log] == [(n, 503) for n in range(1, failing + 1)] + (
        [(6, 200)] if came else []
    )


async def test_the_markets_people_suspend_and_nothing_more_can_be_edited(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await post(http, door, body(door))
    await door.decide("REF-1", "admin_suspended")
    await post(http, door, body(door, price=20000))
    await door.webhook("product/update", {"id": 1, "reference_number": "REF-1", "price": 1})
    await door.settle()

    assert [(event, one.get("status") or one.get("errors")) for event, one in receiver.got[1:]] == [
        ("product/update", "admin_suspended"),
        ("product/fail_to_update", {"base": ["編集できない商品です"]}),
    ]
    assert (receiver.refused, (await listing(door))["price"]) == (1, 22500)


async def test_pictures_are_really_fetched_and_only_once(http: ClientSession, door: Door) -> None:
    await post(http, door, body(door))
    images = [{"path": f"{door.url}/okimg/{n}.jpg", "position": place} for place, n in enumerate((2, 3), 1)]
    await post(http, door, body(door, images=images))
    await door.fault("buyma", "fetch", "http_404")
    await post(http, door, body(door, "REF-2"))
    log = await door.log(mall="okmall", endpoint="image")

    assert [visit["path"] for visit in log] == ["/okimg/1.jpg", "/okimg/2.jpg", "/okimg/3.jpg"]
    assert (await door.market())["outcomes"] == {"created": 1, "edited": 1, "failed": 1}


async def test_an_order_takes_what_is_left_and_is_told_and_listed(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    await post(http, door, body(door))
    for amount in (1, 2):
        await door.order("REF-1", "White", "S", amount)
    await door.settle()
    url = f"{door.buyma}/api/v1/orders.json?status=new&per_page=1"
    async with http.get(url, headers=TOKEN) as answer:
        first, link = await answer.json(), answer.links["next"]["url"]
    async with http.get(link, headers=TOKEN) as answer:
        second, last = await answer.json(), answer.links
    found = await listing(door)

    assert [one for event, one in receiver.got if event == "order/create"] == [*first, *second]
    assert ([one["amount"] for one in (*first, *second)], len(last)) == ([1, 2], 0)
    assert (found["status"], found["order_quantity"]) == ("soldout", 0)


async def test_a_seller_that_moves_its_receiver_keeps_orders_and_listings(http: ClientSession, door: Door) -> None:
    await post(http, door, body(door))
    await door.order("REF-1", "White", "S")
    await door.account(webhook_url="")
    async with http.get(f"{door.buyma}/api/v1/orders.json", headers=TOKEN) as answer:
        orders = await answer.json()
    await post(http, door, body(door, id=(await listing(door))["id"], price=9800))

    assert [(one["id"], one["amount"]) for one in orders] == [(7_000_001, 1)]
    assert (await listing(door))["price"] == 9800


async def test_two_sellers_do_not_see_each_others_products(http: ClientSession, door: Door) -> None:
    await door.account(token="second", seller_id=77, seller_name="second", webhook_url="")
    await post(http, door, body(door))
    async with http.post(
        f"{door.buyma}/api/v1/products.json",
        json={"product": body(door, shipping_methods=[{"shipping_method_id": 888}])},
        headers={next(iter(TOKEN)): "second"},
    ) as answer:
        status = answer.status
    await door.settle()
    market = await door.market()

    assert (status, market["created"], market["same_goods"], market["made_again"]) == (201, 2, [], {})
    assert [one["account"] for one in market["listings"]] == ["sandbox-token", "second"]


async def test_the_search_shows_our_own_offer_or_nothing_or_fails(http: ClientSession, door: Door) -> None:
    await post(http, door, body(door))
    await door.rivals("AB1234-567", [{"price": 30_000, "seller_name": "rival"}])

    async def found(model: str) -> tuple[int, list[str]]:
        async with http.get(f"{door.buyma}/r/-O3/{model}/") as answer:
            page = LexborHTMLParser(await answer.read())
            return answer.status, [one.text() for one in page.css(".product_Buyer a")]

    both = await found("AB1234-567")
    await post(http, door, {"reference_number": "REF-1", **OUT}, "products/variants.json")
    suspended, nobody = await found("AB1234-567"), await found("ZZ9999-999")
    await door.fault("buyma", "search", "http_403")
    walled = await found("AB1234-567")

    assert both == (200, ["bobusang", "rival"])
    assert (suspended, nobody, walled) == ((200, ["rival"]), (200, []), (403, []))


async def test_the_master_lists_can_be_downloaded(http: ClientSession, door: Door) -> None:
    async with http.get(f"{door.buyma}/downloads/colors.csv") as answer:
        raw = await answer.read()
    async with http.get(f"{door.buyma}/downloads/other.csv") as answer:
        other = answer.status

    assert raw.startswith('\ufeff"id","name"\r\n"1","ホワイト(白)"\r\n'.encode())
    assert other == 404


async def test_a_process_of_its_own_is_told_how_its_market_behaves() -> None:
    async with process("--size", "60", "--market-delay", "0", "--market-limits", "0", "7") as door:
        found = await door.behave(retries=1)

    assert {name: found[name] for name in ("delay", "hour_limit", "day_limit", "retries", "now")} == {
        "delay": 0.0,
        "hour_limit": 0,
        "day_limit": 7,
        "retries": 1,
        "now": None,
    }


async def test_a_reset_leaves_nothing_and_wrong_orders_are_refused(http: ClientSession, door: Door) -> None:
    await post(http, door, body(door))
    for wrong in (
        door.behave(delays=3),
        door.account(methods="x"),
        door.decide("REF-X", "public"),
        door.decide("REF-1", "gone"),
        door.order("REF-1", "White", "XL"),
        door.order("REF-1", "White", "S", 9),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            await wrong
    await door.behave(delay=30)
    await post(http, door, body(door, price=1), settle=False)
    await door.reset()
    market = await door.market()

    assert (market["pending"], market["created"], market["listings"], market["outcomes"]) == (0, 0, [], {})


async def test_a_life_from_draft_to_deletion(http: ClientSession, door: Door, receiver: Receiver) -> None:
    await door.behave(uid_in_success=True)
    sent = [
        body(door, control="draft"),
        body(door, control="draft", name="NIKE セーター", category_id=3304),
        body(door, control="publish", name="NIKE セーター", category_id=3304),
        body(door, control="suspend", name="NIKE セーター", category_id=3304),
        body(door, name="NIKE セーター ", category_id=3304, regular_price=30_000),
        {"control": "delete", "reference_number": "REF-1"},
        {"control": "delete", "reference_number": "REF-1"},
        body(door, name="NIKE セーター", category_id=3304),
    ]
    uids = [(await post(http, door, one))[1]["request_uid"] for one in sent]
    market = await door.market()

    assert [one["request_uid"] for _, one in receiver.got] == uids
    assert [(event, one.get("status") or one["errors"]) for event, one in receiver.got] == [
        ("product/create", "draft"),
        ("product/update", "draft"),
        ("product/update", "public"),
        ("product/update", "buyer_suspended"),
        (
            "product/fail_to_update",
            {"regular_price": ["通常価格は14日以上の販売実績がある場合に設定できます。"]},
        ),
        ("product/update", "buyer_deleted"),
        ("product/fail_to_create", {"base": ["削除できない商品です"]}),
        ("product/create", "public"),
    ]
    assert (market["states"], market["same_goods"], market["made_again"]) == (
        {"buyer_deleted": 1, "public": 1},
        [],
        {"REF-1": 2},
    )


async def test_a_hundred_products_under_every_mishap_are_made_once_each(
    http: ClientSession, door: Door, receiver: Receiver
) -> None:
    for kind in ("lost", "doubled", "forged"):
        await door.fault("buyma", "webhook", kind, share=0.2)
    for kind in ("reset_after", "error_after", "http_503"):
        await door.fault("buyma", "products", kind, share=0.2)

    async def insist(reference: str) -> None:
        """As a seller does who knows nothing of a lost answer: the same again, until it is accepted."""
        while True:
            try:
                if (await post(http, door, body(door, reference), settle=False))[0] == 201:
                    return
            except ClientError:
                continue

    await asyncio.gather(*(insist(f"REF-{n}") for n in range(100)))
    await door.settle()
    market, effects = await door.market(), await door.effects()

    assert (market["created"], market["same_goods"], market["same_reference"], market["made_again"]) == (
        100,
        [],
        [],
        {},
    )
    assert sum(one["effects"] for one in effects.values()) == 100
    assert market["outcomes"]["unchanged"] == len(effects) - 100 > 0
    assert {one["reference_number"] for _, one in receiver.got} <= {f"REF-{n}" for n in range(100)}
    assert (receiver.refused > 0, market["broken"]) == (True, [])
