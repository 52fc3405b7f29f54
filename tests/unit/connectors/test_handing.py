"""Pages of one item that are asked by another of its pages, parts that say little, and lists beside options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Drifted, Invalid
from bobusang.stages.collect.source import Ask, Kind, Snapshot, Target
from tests.unit.connectors.reading import compiled, page, problems

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
shop: acme
intake: {kind: http, base: "https://www.example.com", hosts: {api: "https://api.example.com"}}
streams:
  list:
    request: {host: api, get: "/{large}/{medium}"}
    for_each:
      large: {from: "inputs.categories | split{/; 0}"}
      medium: {from: "inputs.categories | split{/; 1}"}
    records: items[*]
    key: no
    fields: {url?: "url | abs_url{base}"}
  options:
    request: {host: api, get: "/item/{no}/options"}
    for_each: {no: {from: list.key}}
    parent: asked
    records: options[*]
    key: no
    fields: {size: name}
    hands: {values: "values[*].no"}
  stock:
    request: {host: api, post: "/item/{no}/stock", body: {values: "{values}"}}
    for_each: {no: {from: options.key}, values: {from: options.values}}
    parent: asked
    complete: false
    records: stock[*]
    key: no
    fields: {stock: left | int}
"""
SHOES = Target("category", "M1/001")


def asks(found: object) -> list[Ask]:
    return [each for each in found if isinstance(each, Ask)]  # type: ignore[attr-defined]


def test_a_page_is_asked_by_what_another_page_of_its_item_says(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    (first,) = shop.seeds(SHOES)
    listed = list(shop.read(page(first, {"items": [{"no": 7, "url": "/goods/7"}]})))
    (options,) = asks(listed)

    told = list(shop.read(page(options, {"options": [{"no": 1, "name": "S"}], "values": [{"no": 11}, {"no": 12}]})))
    (stock,) = asks(told)

    assert first.url == "https://api.example.com/M1/001"
    assert listed[1] == Snapshot("acme", "7", {"url": "https://www.example.com/goods/7"})
    assert told[0] == Snapshot("acme", "7", {"options": [{"code": "1", "size": "S"}]})
    assert stock == Ask(
        "https://api.example.com/item/7/stock",
        Kind.PART,
        "stock",
        "POST",
        {"Content-Type": "application/json"},
        json.dumps({"values": [11, 12]}, separators=(",", ":")),
        {"target": "category:M1/001", "no": "7", "values": [11, 12]},
        item="7",
    )
    assert list(shop.read(page(stock, {"stock": [{"no": 1, "left": 3}]}))) == [
        Snapshot("acme", "7", {"options": [{"code": "1", "stock": 3}]}, options_complete=False)
    ]


@pytest.mark.parametrize("values", [[], [{"no": 11}, {}], None])
def test_a_page_is_not_asked_where_it_is_not_known_by_what(tmp_path: Path, values: object) -> None:
    shop = compiled(tmp_path, SHOP)
    options = asks(shop.seeds(Target("item", "7")))[0]

    assert asks(shop.read(page(options, {"options": [{"no": 1, "name": "S"}], "values": values}))) == []


def test_a_target_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="the target category:M1 is not of the form that is wanted"):
        list(compiled(tmp_path, SHOP).seeds(Target("category", "M1")))


LEGACY = """
shop: acme
intake: {kind: http, base: "https://www.example.com", format: html}
streams:
  list:
    request: {get: /list}
    records: .item
    key: "@no"
    fields: {name?: b}
  detail:
    request: {get: "/item/{no}"}
    for_each: {no: {from: list.key}}
    variants:
      - records: "#options option"
        key: "@value"
        skip: '@value | re{^00$}'
        fields:
          size: "@optionvalue"
          stock: {beside: "script:skuqty[*] | int"}
"""
PAGE = """<html><script>var skuqty = [%s];</script><select id="options">
<option value="00" optionvalue="choose">choose<option value="1" optionvalue="S">S<option value="2" optionvalue="M">M
</select></html>"""


def test_a_list_beside_the_options_tells_of_each_at_its_place(tmp_path: Path) -> None:
    """The first choice is no option, and yet has a place of its own."""
    shop = compiled(tmp_path, LEGACY)
    (detail,) = asks(shop.seeds(Target("item", "7")))

    assert list(shop.read(page(detail, PAGE % '0, "3", 0'))) == [
        Snapshot(
            "acme",
            "7",
            {"options": [{"code": "1", "size": "S", "stock": 3}, {"code": "2", "size": "M", "stock": 0}]},
        )
    ]


@pytest.mark.parametrize("stocks", ["0, 3", "0, 3, 0, 1", "0, x, 0", ""])
def test_a_list_of_another_length_is_not_beside_them(tmp_path: Path, stocks: str) -> None:
    shop = compiled(tmp_path, LEGACY)
    (detail,) = asks(shop.seeds(Target("item", "7")))

    with pytest.raises(Drifted, match="nothing could be read of 7"):
        list(shop.read(page(detail, PAGE % stocks)))


def test_only_what_a_target_gives_takes_filters_and_only_items_hand_on(tmp_path: Path) -> None:
    wrong = SHOP.replace("{from: options.key}", '{from: "options.key | strip"}').replace(
        "    key: no\n    fields: {url", "    key: no\n    hands: {a: b}\n    fields: {url"
    )

    assert problems(tmp_path, wrong) == [
        "shop.yaml:12: streams.list.hands: only the page of one item hands something on (a list has fields)",
        "shop.yaml:24: streams.stock.for_each.no.from: only what a target gives takes filters (give the list a field)",
    ]
