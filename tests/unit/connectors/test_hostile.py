"""Pages that were not made for us: a clear error or an unknown field, never a crash, never endless work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.kit.errors import BobusangError, Drifted, Invalid, Unavailable
from bobusang.stages.collect.source import Ask, Page, Snapshot, Target
from tests.unit.connectors.reading import page, shipped

OKMALL, MUSTIT = shipped("okmall"), shipped("mustit")
LIST = next(iter(MUSTIT.seeds(Target("seller", "x"))))
DETAIL, OPTIONS = MUSTIT.seeds(Target("item", "1"))
BOXES = next(iter(OKMALL.seeds(Target("brand", "x"))))
ITEM = next(iter(OKMALL.seeds(Target("item", "1"))))


def row(**given: Any) -> dict[str, Any]:
    return {
        "itemNo": 1,
        "name": "코트",
        "brandName": "A",
        "price": "1,000",
        "normalPrice": "1,000",
        "landingUrl": "/x",
    } | given


def one(**given: Any) -> Snapshot:
    found = list(MUSTIT.read(page(LIST, {"count": 1, "items": [row(**given)]})))[1]
    assert isinstance(found, Snapshot)
    return found


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", Unavailable),
        (b"null", Unavailable),
        (b'{"count": 5, "items": [{"itemNo": 1', Unavailable),
        (b'{"count": 5, "items": [{"itemNo": 1}}', Drifted),
        (b"[" * 100_000 + b"]" * 100_000, Drifted),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, Drifted),
        (b'{"items": "many"}', Drifted),
        (b'{"items": [1, 2]}', Drifted),
        (b'{"items": [{}]}', Drifted),
        (b'{"items": [{"itemNo": ""}]}', Drifted),
        (b'{"items": [{"itemNo": [1]}]}', Drifted),
        (b'{"items": [{"itemNo": true}]}', Drifted),
        (b'{"items": null}', Drifted),
        (b'{"count": 1, "items": []}', Unavailable),
        (b"<html>Just a moment...</html>]", Drifted),
        (json.dumps({"items": [row(itemNo=n) for n in range(10_001)]}).encode(), Drifted),
        (json.dumps({"items": [row(itemNo="x" * 300)]}).encode(), Drifted),
    ],
    ids=range(17),
)
def test_an_answer_that_cannot_be_a_list_is_an_error(body: bytes, error: type[BobusangError]) -> None:
    with pytest.raises(error):
        MUSTIT.read(Page(LIST, body))


@pytest.mark.parametrize("price", [None, "", "무료", -5, 1.5, True, [], {}, "9" * 50, 10**30, "1만원대", 99, "0"])
def test_a_price_that_is_not_certain_is_unknown(price: Any) -> None:
    found = one(price=price)

    assert (found.unknown, "price" in found.fields, "currency" in found.fields) == (("price",), False, False)


def test_signs_that_no_database_keeps_are_taken_out() -> None:
    assert one(name="a\x00b\x07c\u2028d").fields["name"] == "abc d"


def test_bytes_that_are_no_text_make_their_field_unknown_and_leave_the_others() -> None:
    body = json.dumps({"count": 1, "items": [row(name="NAME")]}).encode().replace(b"NAME", b"\xc4\xda\xc6\xae")
    found = list(MUSTIT.read(Page(LIST, body)))[1]

    assert isinstance(found, Snapshot)
    assert (found.unknown, found.fields["price"]) == (("name",), 1000)


def test_a_text_beyond_measure_is_unknown() -> None:
    assert one(brandName="x" * 300_000).unknown == ("brand",)


def test_markup_and_templates_in_a_name_are_text() -> None:
    name = "<script>alert(1)</script> {brand} ${x} %s '; DROP TABLE"

    assert one(name=name).fields["name"] == name


def test_ten_thousand_options_are_not_believed() -> None:
    options = [{"optionNo": n, "itemNo": 1, "size": str(n), "stock": 1} for n in range(10_000)]

    assert MUSTIT.read(page(OPTIONS, options)) == [Snapshot("mustit", "1", {}, ("options",), options_complete=False)]


def test_an_ask_of_another_source_is_refused() -> None:
    with pytest.raises(Invalid, match=r"mustit has no stream 'lst' \(did you mean list\?\)"):
        MUSTIT.read(page(Ask("x", stream="lst"), {}))


NASTY = {
    "deep": "<div>" * 100_000 + "</html>",
    "unclosed comments": "<!--" * 50_000 + "</html>",
    "unclosed scripts": '<script type="application/ld+json">' * 20_000 + "</html>",
    "attributes": "<p " + "a=1 " * 100_000 + "></p></html>",
    "nulls": "\0" * 1000 + "</html>",
    "broken linked data": '<script type="application/ld+json">' + "[" * 50_000 + "</script></html>",
    "wrong linked data": '<script type="application/ld+json">{"@type": {"a": 1}, "offers": []}</script></html>',
    "commas": '<script type="application/ld+json">{"@type": "Product"' + "," * 100_000 + "}</script></html>",
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_a_nasty_page_has_drifted(text: str) -> None:
    with pytest.raises(Drifted):
        OKMALL.read(page(ITEM, text))
    with pytest.raises(Drifted):
        OKMALL.read(page(BOXES, text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["items", "itemNo", "name", "price", "count", "moduleList", "type", "data", "stock", "optionNo"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@settings(max_examples=200)
@given(JSON, st.sampled_from([LIST, DETAIL, OPTIONS]))
def test_any_json_is_read_or_refused_with_an_error_of_ours(data: Any, ask: Ask) -> None:
    try:
        found = list(MUSTIT.read(page(ask, json.dumps(data).encode())))
    except BobusangError:
        return
    for each in found:
        if isinstance(each, Snapshot):
            json.dumps(each.fields)
            assert not set(each.fields) & set(each.unknown)


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "<div data-productno=5 class=item_box>",
                "</div>",
                "<b class=prName_PrName>",
                "</b>",
                "코트 (A-1)",
                "<i class=okmall_price val=5000>",
                "<input name=total_count value=3>",
                '<script type="application/ld+json">',
                '{"@type": "Product", "name": "x"}',
                "</script>",
                "<!--",
                "-->",
                "<h3 id=ProductNameArea>",
                "<tr name=selectOption sinfo='a|b|1'>",
                "&amp;",
                "\ufffd",
            ]
        )
    ),
    st.sampled_from([BOXES, ITEM]),
)
def test_any_html_is_read_or_refused_with_an_error_of_ours(parts: list[str], ask: Ask) -> None:
    try:
        found = list(OKMALL.read(page(ask, "".join([*parts, "</html>"]))))
    except BobusangError:
        return
    for each in found:
        if isinstance(each, Snapshot):
            assert not set(each.fields) & set(each.unknown)
