"""BUYMA's words: what we send, what each answer means, what would be refused, and what a webhook says."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.connectors.markets.buyma.market import STATES, Buyma, read
from bobusang.kit import json
from bobusang.kit.errors import Blocked, Invalid, Unavailable
from bobusang.kit.http import Answer, Call
from bobusang.stages.register.market import (
    Accepted,
    Cause,
    Difference,
    Family,
    Key,
    Later,
    Notice,
    Problem,
    Refused,
    Shut,
    Unknown,
    Word,
)
from bobusang.stages.register.model import Axis, Detail, Draft, Option, State, Stock, Variant
from tests.unit.register.making import OPTIONS, TODAY, draft, stocks

SIGNED = b'{"id":1,"reference_number":"REF-1","status":"public"}'
SIGNATURE = "VDP091M+DCY+xGhwXdA85XMcneCKuVLzNHQVwrAgH+w="


@dataclass(slots=True)
class Line:
    """A transport that answers what it is told to."""

    answer: Answer | Exception
    calls: list[Call] = field(default_factory=list)

    async def send(self, call: Call) -> Answer:
        self.calls.append(call)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        pass


def answered(status: int, body: object = None, **headers: str) -> Answer:
    return Answer("", status, headers, json.dumps(body).encode())


BUYMA = Buyma(Line(answered(201)))
SMALL = draft(
    options=(Option(Axis.COLOR, "c", "흰색", "White", 1), Option(Axis.SIZE, "s", "S", "S", 2, (Detail("着丈", "70"),))),
    variants=(Variant("c", "s", Stock.IN_HAND, 2),),
    size_unit="cm",
)


def test_a_product_is_sent_whole() -> None:
    request = BUYMA.put(SMALL, Key("REF-1"))

    assert (request.family, request.path) == (Family.PRODUCT, "/api/v1/products.json")
    assert json.loads(request.body) == {
        "product": {
            "control": "publish",
            "reference_number": "REF-1",
            "name": "ウールコート",
            "comments": "暖かいコートです。",
            "brand_id": 203,
            "category_id": 3064,
            "price": 22500,
            "available_until": "2026/05/30",
            "buying_area_id": "2002003000",
            "shipping_area_id": "2002003000",
            "buying_shop_name": "OKMALL",
            "duty": "included",
            "size_unit": "cm",
            "shipping_methods": [{"shipping_method_id": 888}],
            "images": [
                {"path": "https://media.example/1.jpg", "position": 1},
                {"path": "https://media.example/2.jpg", "position": 2},
            ],
            "style_numbers": [{"number": "AB-1234", "memo": ""}],
            "options": [
                {"type": "color", "value": "White", "position": 1, "master_id": 1},
                {
                    "type": "size",
                    "value": "S",
                    "position": 1,
                    "master_id": 2,
                    "details": [{"key": "着丈", "value": "70"}],
                },
            ],
            "variants": [
                {
                    "options": [{"type": "color", "value": "White"}, {"type": "size", "value": "S"}],
                    "stock_type": "stock_in_hand",
                    "stocks": 2,
                }
            ],
            "order_quantity": 3,
        }
    }


def test_a_brand_that_buyma_lacks_has_a_name_and_no_style_number() -> None:
    product = json.loads(BUYMA.put(draft(brand_id=0, brand_name="SEOUL"), Key("R")).body)["product"]
    assert (product["brand_id"], product["brand_name"], "style_numbers" in product) == (0, "SEOUL", False)


def test_stock_is_the_full_grid_and_nothing_else() -> None:
    request = BUYMA.stock(draft(variants=stocks(Stock.OUT), order_quantity=0), Key("REF-1", "77"))

    product = json.loads(request.body)["product"]
    assert (request.family, request.path) == (Family.STOCK, "/api/v1/products/variants.json")
    assert {name: product[name] for name in product if name != "variants"} == {
        "id": 77,
        "reference_number": "REF-1",
        "order_quantity": 0,
    }
    assert [variant["stock_type"] for variant in product["variants"]] == ["out_of_stock"] * 6


def test_deleting_names_the_product_alone() -> None:
    expected = {"product": {"control": "delete", "id": 77, "reference_number": "REF-1"}}
    assert json.loads(BUYMA.withdraw(Key("REF-1", "77")).body) == expected


# --- answers --------------------------------------------------------------------------------------------------------


async def test_a_call_carries_the_token_and_follows_no_redirect() -> None:
    line = Line(answered(201, {"request_uid": "u1"}))

    reply = await Buyma(line, "http://sandbox").send(BUYMA.withdraw(Key("R")), "secret", timedelta(seconds=9))

    assert reply == Accepted("u1", '{"request_uid":"u1"}')
    assert line.calls == [
        Call(
            "http://sandbox/api/v1/products.json",
            "POST",
            {"X-Buyma-Personal-Shopper-Api-Access-Token": "secret", "Content-Type": "application/json"},
            body=b'{"product":{"control":"delete","reference_number":"R"}}',
            timeout=timedelta(seconds=9),
            redirects=0,
        )
    ]


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (Unavailable("no answer for 30 s"), Unknown("no answer for 30 s")),
        (Blocked("a private address"), Shut("a private address")),
    ],
)
async def test_no_answer_is_unknown_and_never_a_failure(error: Exception, reply: object) -> None:
    assert await Buyma(Line(error)).send(BUYMA.withdraw(Key("R")), "t", timedelta(seconds=9)) == reply


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (answered(201), Unknown("201 without a request_uid: null")),
        (answered(502), Unknown("BUYMA answered 502")),
        (answered(429), Later("BUYMA answered 429: too many calls", timedelta(minutes=5))),
        (answered(429, **{"retry-after": "60"}), Later("BUYMA answered 429: too many calls", timedelta(minutes=1))),
        (answered(401), Shut("BUYMA answered 401: check the account's token and permissions")),
        (answered(302), Shut("BUYMA answered 302, which no version of its API does: check the address")),
    ],
)
def test_what_an_answer_means(answer: Answer, reply: object) -> None:
    assert read(answer) == reply


FROZEN_FIELD = "the field is frozen once published: send it as registered"


def test_a_refusal_names_every_field_and_who_must_act() -> None:
    errors = {
        "category_id": ["カテゴリIDは変更できません。", "カテゴリIDは存在しないカテゴリIDです。"],
        "style_numbers": {"0": {"number": ["品番は40文字以内で入力してください。"]}},
        "options": {"3": {"details": ["項目に指定できない項目(肩幅)が入力されています。"]}},
        "images": ["画像を取得できませんでした"],
    }
    reply = read(answered(422, {"errors": errors}))

    assert isinstance(reply, Refused)
    assert reply.problems == (
        Problem("category_id", "カテゴリIDは変更できません。", Cause.PERMANENT, FROZEN_FIELD),
        Problem(
            "category_id",
            "カテゴリIDは存在しないカテゴリIDです。",
            Cause.MAPPING,
            "the category is not in BUYMA's list: review its mapping",
        ),
        Problem(
            "style_numbers.0.number",
            "品番は40文字以内で入力してください。",
            Cause.DATA,
            "BUYMA does not take this value",
        ),
        Problem(
            "options.3.details",
            "項目に指定できない項目(肩幅)が入力されています。",
            Cause.MAPPING,
            "a measurement that the category does not know: review its keys",
        ),
        Problem(
            "images",
            "画像を取得できませんでした",
            Cause.OUTAGE,
            "BUYMA could not fetch a picture: check that its address is public",
        ),
    )


@pytest.mark.parametrize("body", [None, {}, {"errors": {}}, {"errors": 5}, [1]])
def test_a_refusal_without_a_readable_reason_is_still_one(body: object) -> None:
    reply = read(answered(422, body))
    assert isinstance(reply, Refused)
    assert [problem.cause for problem in reply.problems] == [Cause.DATA]


# --- before it is sent ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": "코트"}, "name"),
        ({"comments": "a\u00a0b"}, "comments"),
        ({"name": "コ" * 31}, "name"),
        ({"name": "コート "}, "name"),
        ({"comments": "a" * 3001}, "comments"),
        ({"comments": " "}, "comments"),
        ({"shop_name": "ショ" * 8}, "shop_name"),
        ({"brand_id": 0}, "brand_id"),
        ({"category_id": 0}, "category_id"),
        ({"price": 0}, "price"),
        ({"images": ()}, "images"),
        ({"images": ("x",) * 21}, "images"),
        ({"available_until": TODAY + timedelta(days=91)}, "available_until"),
        ({"available_until": TODAY - timedelta(days=1)}, "available_until"),
        ({"shipping_methods": ()}, "shipping_methods"),
        ({"style_numbers": ("x" * 41,)}, "style_numbers"),
        ({"variants": stocks()[1:]}, "variants"),
        ({"variants": stocks(c1_s1=Stock.UNKNOWN)}, "variants"),
        ({"order_quantity": 0}, "order_quantity"),
        ({"variants": stocks(Stock.OUT)}, "order_quantity"),
        ({"options": (*OPTIONS[:2], Option(Axis.SIZE, "s1", "S", "M"), *OPTIONS[3:])}, "options"),
        ({"options": (*OPTIONS[:2], Option(Axis.SIZE, "s1", "F", "FREE"), *OPTIONS[3:])}, "options"),
        ({"options": (*OPTIONS[:4], Option(Axis.SIZE, "", "L", "L" * 27))}, "options"),
    ],
)
def test_what_would_be_refused_is_known_before(wrong: dict[str, Any], field: str) -> None:
    assert BUYMA.check(draft(), TODAY) == ()
    assert [problem.field for problem in BUYMA.check(draft(**wrong), TODAY)] == [field]


# --- webhooks -------------------------------------------------------------------------------------------------------


def test_a_signature_is_of_the_raw_bytes() -> None:
    headers = {"x-buyma-hmac-sha256": SIGNATURE}

    assert BUYMA.genuine("example-client-secret", headers, SIGNED)
    assert not BUYMA.genuine("example-client-secret", headers, SIGNED + b" ")
    assert not BUYMA.genuine("another", headers, SIGNED)
    assert not BUYMA.genuine("example-client-secret", {}, SIGNED)
    assert not BUYMA.genuine("example-client-secret", {"x-buyma-hmac-sha256": "é"}, SIGNED)
    assert not BUYMA.genuine("", headers, SIGNED)


def stands(sent: Draft, **changes: Any) -> dict[str, Any]:
    """The product as BUYMA shows it after it took what was sent."""
    product: dict[str, Any] = json.loads(BUYMA.put(sent, Key("REF-1")).body)["product"]
    del product["control"]
    return product | {"id": 77, "status": "public", "updated_at": "2026-03-02 14:42:57 +0900"} | changes


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_product_webhook_says_how_the_product_stands(*, wrapped: bool) -> None:
    product = stands(SMALL)
    body = json.dumps({"product": product} if wrapped else product).encode()

    found = BUYMA.notice({"x-buyma-event": "product/update"}, body)

    assert found == Notice(
        Word.STANDS,
        "product/update",
        "77",
        "REF-1",
        status="public",
        updated="2026-03-02 05:42:57.000000",
        product=product,
    )


@pytest.mark.parametrize(
    ("told", "charge"),
    [
        ({"list_price": 24_000}, 1_500),
        ({"list_price": 22_500}, 0),
        ({"list_price": 22_000}, None),  # nobody pays us to be sent something
        ({"list_price": "24000"}, None),
        ({"list_price": 24_000, "price": None}, None),
        ({}, None),
    ],
)
def test_what_buyers_pay_for_shipping_is_read_back(told: dict[str, Any], charge: int | None) -> None:
    body = json.dumps(stands(SMALL, price=22_500) | told).encode()

    assert BUYMA.notice({"x-buyma-event": "product/update"}, body).shipping_charge == charge


def test_a_failed_webhook_says_which_request_came_to_nothing() -> None:
    told = {"request_uid": "u9", "reference_number": "REF-1", "errors": {"id": ["商品IDは不正な値です"]}}

    found = BUYMA.notice({"x-buyma-event": "product/fail_to_update"}, json.dumps(told).encode())

    problem = Problem("id", "商品IDは不正な値です", Cause.PERMANENT, "BUYMA has no product with this id")
    assert found == Notice(Word.FAILED, "product/fail_to_update", "", "REF-1", "u9", problems=(problem,))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"id":1}', b'{"status":"public"}', b"\xff", b'{"id":{},"status":1}']
)
def test_an_unreadable_webhook_is_invalid(body: bytes) -> None:
    with pytest.raises(Invalid):
        BUYMA.notice({"x-buyma-event": "product/create"}, body)


def test_an_order_is_for_somebody_else() -> None:
    assert BUYMA.notice({"x-buyma-event": "order/create"}, b"?") == Notice(Word.OTHER, "order/create")


def test_all_nine_states_are_known_and_one_is_live() -> None:
    assert len(STATES) == len(set(STATES.values())) == 9
    assert [word for word, state in STATES.items() if state is State.LIVE] == ["public"]


def test_what_stands_is_compared_with_what_was_sent() -> None:
    sent = BUYMA.put(draft(), Key("REF-1")).body
    other = draft(variants=stocks(c1_s1=Stock.OUT))

    assert BUYMA.differences(sent, stands(draft(), available_until="2026-05-30", images=[])) == ()
    assert BUYMA.differences(sent, stands(draft(), price=1)) == (Difference("price", 22500, 1),)
    assert [one.field for one in BUYMA.differences(sent, stands(other))] == ["variants"]
    stock = BUYMA.stock(other, Key("REF-1")).body
    assert BUYMA.differences(stock, stands(other, price=1)) == ()


def test_the_markets_own_numbers_replace_ours() -> None:
    """BUYMA counts the order quantity down with every order: what it has is what we compare with next."""
    day = date(2026, 5, 1)
    other = draft(variants=stocks(c1_s1=Stock.OUT), price=21_000, order_quantity=1, available_until=day)
    broken = {"price": "x", "variants": [1, {"options": [2]}], "order_quantity": True}

    assert BUYMA.corrected(draft(), stands(other)) == other
    assert BUYMA.corrected(other, stands(other, available_until="2026-05-02")).available_until == date(2026, 5, 2)
    for until in ("", "soon", "2026/02/30", 20260501, None):
        assert BUYMA.corrected(draft(), {**broken, "available_until": until}) == draft()


@pytest.mark.parametrize(
    "told",
    [
        {"id": "9" * 41},
        {"reference_number": "a\0b"},
        {"price": -1},
        {"list_price": 2**70},
        {"order_quantity": 2**70},
        {"variants": [{"options": [], "stock_type": "stock_in_hand", "stocks": 2**70}]},
        {"updated_at": "0001-01-01T00:00:00"},
        {"updated_at": "9999-12-31 23:59:59 +0900"},  # and every later word would be older
    ],
)
def test_what_nothing_has_is_unreadable(told: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        BUYMA.notice({"x-buyma-event": "product/update"}, json.dumps(stands(SMALL) | told).encode())


def test_an_option_of_an_unknown_shape_is_no_cell_of_ours() -> None:
    sent = BUYMA.put(SMALL, Key("REF-1")).body
    odd = stands(SMALL, variants=[{"options": [{"type": ["color"], "value": "White"}], "stock_type": "out_of_stock"}])

    assert [one.field for one in BUYMA.differences(sent, odd)] == ["variants"]
    assert BUYMA.corrected(SMALL, odd) == SMALL


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63) - 1, 2**70, 10**40])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20)
    | st.sampled_from(["", "\0", "0001-01-01T00:00:00", "9999-12-31 23:59:59 -0900", "9" * 200, "public"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every field of a body, at any depth."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, one in inner for found in [(*way, key), *places(one, (*way, key))]]


def changed(value: Any, way: tuple[Any, ...], odd: Any) -> Any:
    """The body with another value in one place."""
    if not way:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = changed(value[way[0]], way[1:], odd)
    return copy


REAL = stands(SMALL, list_price=24_000, created_at="2026-03-01 14:42:57 +0900")
FAILED = {"request_uid": "u9", "reference_number": "REF-1", "errors": {"shop_urls": {"2": {"label": ["長い"]}}}}


@given(
    st.sampled_from([("product/update", REAL), ("product/fail_to_update", FAILED)]).flatmap(
        lambda real: st.tuples(st.just(real), st.sampled_from(places(real[1])), ODD)
    )
)
def test_whatever_is_odd_about_a_webhook_it_is_read_or_refused_and_can_be_kept(
    told: tuple[tuple[str, Any], tuple[Any, ...], Any],
) -> None:
    (event, real), way, odd = told
    body = json.dumps(changed(real, way, odd)).encode()

    try:
        found = BUYMA.notice({"x-buyma-event": event}, body)
    except Invalid:
        return
    differences = BUYMA.differences(BUYMA.put(SMALL, Key("REF-1")).body, found.product)
    kept = json.dumps((differences, BUYMA.corrected(SMALL, found.product), found.problems))
    words = (found.market_id, found.reference, found.request_uid, found.status, found.updated, kept)
    assert not any("\0" in word or json.NUL in word for word in words)
    assert (len(found.market_id) <= 40, len(found.updated) <= 40) == (True, True)
    assert abs(found.shipping_charge or 0) < 2**31
