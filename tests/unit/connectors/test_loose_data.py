"""What APIs made of XML say loosely: one for a list, empty things, JSON in texts, prices by quantity, milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format, compile_expression
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.stages.collect.source import Ask, Extent, Page, Snapshot, Target
from tests.unit.connectors.reading import compiled, page

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = Document(Page(Ask("https://www.example.com/"), b""))
STEPS = [{"from": 1, "price": 3800}, {"from": 20, "price": 3500}, {"from": 50, "price": 3300}]


@pytest.mark.parametrize(
    ("change", "value", "expected"),
    [
        ("tiers", "1+3800|20+3500|50+3300", STEPS),
        ("tiers", 3800, [{"from": 1, "price": 3800}]),
        ("tiers", "3,800", [{"from": 1, "price": 3800}]),
        ("tiers{1}", "1+3800|20+3500|50+3300", 3800),
        ("tiers{20}", "1+3800|20+3500|50+3300", 3500),
        ("tiers{1}", "5+3800|20+3,500", NOTHING),
        ("tiers", "1+3800|1+3500", UNCLEAR),
        ("tiers", "20+3500|1+3800", UNCLEAR),
        ("tiers", "1+3800|", UNCLEAR),
        ("tiers", "1+about", UNCLEAR),
        ("tiers", {}, UNCLEAR),
        ("date{ms}", 1_763_294_400_000, "2025-11-16T12:00:00+00:00"),
        ("date{ms}", "1763294400123", "2025-11-16T12:00:00.123000+00:00"),
        ("date{ms}", 1_763_294_400, UNCLEAR),
        ("date{ms}", "yesterday", UNCLEAR),
        ("list", {"no": 1}, [{"no": 1}]),
        ("list", [{"no": 1}], [{"no": 1}]),
        ("list", {}, []),
        ("list", "", []),
        ("list{item}", {}, []),
        ("list{item}", {"item": {"no": 1}}, [{"no": 1}]),
        ("list{item}", {"item": [{"no": 1}, {"no": 2}]}, [{"no": 1}, {"no": 2}]),
        ("list{item}", {"items": []}, UNCLEAR),
        (
            "entries",
            {"00": {"name": "S"}, "01": {"name": "M"}},
            [{"name": "S", "key": "00"}, {"name": "M", "key": "01"}],
        ),
        ("entries", "", []),
        ("entries", {"00": 1}, UNCLEAR),
        ("cdata", {"#cdata-section": "<p>x</p>"}, "<p>x</p>"),
        ("cdata", "plain", "plain"),
        ("cdata", {}, NOTHING),
        ("cdata", "", NOTHING),
        ("cdata", {"other": 1}, UNCLEAR),
        ("json{a}", '{"a": 1}', 1),
        ("json{a}", {"a": 1}, 1),
        ("json", "", NOTHING),
        ("json", "{", UNCLEAR),
        ("suffix{cm}", 68.5, "68.5cm"),
        ("suffix{cm}", "68cm", "68cm"),
        ("suffix{cm}", True, UNCLEAR),
    ],
)
def test_loose_data_is_read_where_it_is_certain(change: str, value: object, expected: object) -> None:
    get = compile_expression(f"value | {change}", Format.JSON, page=False)

    assert get({"value": value}, DOCUMENT) == expected


SHOP = """
shop: acme
intake: {kind: http, base: "https://www.example.com"}
streams:
  list:
    request: {get: /list}
    records: answer.list | list{item}
    key: no
    fields: {price: "price | tiers{1}"}
    pages: {by: page, param: pg, total: answer.total | int}
    variants:
      - {records: "options | json{data} | entries", key: key, fields: {name: name}, complete: true}
"""


def read(shop: Any, listed: object, total: object) -> list[Any]:
    (ask,) = shop.seeds(Target("list", "all"))
    return [
        each
        for each in shop.read(page(ask, {"answer": {"list": listed, "total": total}}))
        if isinstance(each, Extent | Snapshot)
    ]


def test_one_hit_is_an_object_and_none_is_an_empty_one(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    options = '{"type": "x", "data": {"00": {"name": "S"}}}'

    assert read(shop, {"item": {"no": "7", "price": "1+100", "options": options}}, "1") == [
        Extent(("7",), 1),
        Snapshot(
            "acme",
            "7",
            {"price": 100, "options": [{"code": "00", "name": "S"}], "currency": "KRW"},
        ),
    ]
    assert read(shop, {}, 0) == [Extent((), 0, last=True)]
    assert read(shop, {"item": [{"no": 7, "price": 100, "options": ""}]}, 1) == [
        Extent(("7",), 1),
        Snapshot("acme", "7", {"price": 100, "currency": "KRW"}, options_complete=False),
    ]
