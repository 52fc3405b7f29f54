"""A shop of several hosts: each stream asks its own, and elsewhere each lies under the base by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.connectors.sources.declared.recording import record_page
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import Drifted
from bobusang.stages.collect.source import Ask, Snapshot, Target
from tests.unit.connectors.reading import compiled, page, problems, written

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
shop: acme
intake:
  kind: http
  base: "https://www.example.com"
  hosts: {api: "https://api.example.com/v2/", image: "https://image.example.net"}
streams:
  list:
    request: {host: api, get: /list, query: {brand: "{brand}"}}
    for_each: {brand: {from: inputs.brands}}
    pages: {by: next, next: next}
    records: items[*]
    key: id
    fields: {picture?: "picture | abs_url{image}"}
  detail:
    request: {get: "/item/{id}"}
    for_each: {id: {from: list.key}}
    fields: {name: name}
"""
NIKE = Target("brand", "nike")


def urls(shop: object, found: object) -> list[str]:
    return [each.url for each in found if isinstance(each, Ask)]  # type: ignore[attr-defined]


def test_each_stream_asks_its_own_host(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    (first,) = shop.seeds(NIKE)

    found = shop.read(page(first, {"items": [{"id": 1}], "next": "/v2/list?brand=nike&page=2"}))

    assert first.url == "https://api.example.com/v2/list?brand=nike"
    assert urls(shop, found) == ["https://api.example.com/v2/list?brand=nike&page=2", "https://www.example.com/item/1"]
    assert urls(shop, shop.items(NIKE, ["7"])) == ["https://www.example.com/item/7"]


def test_elsewhere_the_hosts_lie_under_the_base(tmp_path: Path) -> None:
    shop = load_shop(written(tmp_path, SHOP), base="http://127.0.0.1:8600/acme")
    (first,) = shop.seeds(NIKE)

    assert shop.hosts == {"api": "http://127.0.0.1:8600/acme/api", "image": "http://127.0.0.1:8600/acme/image"}
    assert first.url == "http://127.0.0.1:8600/acme/api/list?brand=nike"
    assert urls(shop, shop.items(NIKE, ["7"])) == ["http://127.0.0.1:8600/acme/item/7"]


@pytest.mark.parametrize(
    ("told", "picture"),
    [
        ("/goods/1.jpg", "https://image.example.net/goods/1.jpg"),
        ("goods/1.jpg", "https://image.example.net/goods/1.jpg"),
        ("//cdn.example.org/1.jpg", "https://cdn.example.org/1.jpg"),
        ("https://cdn.example.org/1.jpg", "https://cdn.example.org/1.jpg"),
        ("/goods/../../1.jpg", None),
        ('/goods/" onload="x', None),
        (7, None),
    ],
)
def test_a_relative_picture_lies_on_the_host_of_pictures(tmp_path: Path, told: object, picture: str | None) -> None:
    shop = compiled(tmp_path, SHOP)
    (first,) = shop.seeds(NIKE)

    found = [
        each for each in shop.read(page(first, {"items": [{"id": 1, "picture": told}]})) if isinstance(each, Snapshot)
    ]

    expected = ({"picture": picture}, ()) if picture else ({}, ("picture",))
    assert [(each.fields, each.unknown) for each in found] == [expected]


def test_a_next_link_does_not_lead_to_another_host(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    (first,) = shop.seeds(NIKE)

    with pytest.raises(Drifted, match="lies elsewhere"):
        list(shop.read(page(first, {"items": [{"id": 1}], "next": "https://www.example.com/list?page=2"})))


def test_a_page_of_the_sandbox_is_kept_with_the_addresses_of_the_shop(tmp_path: Path) -> None:
    folder = written(tmp_path, SHOP)
    there = load_shop(folder, base="http://127.0.0.1:8600/acme")
    (first,) = there.seeds(NIKE)
    picture = "http://127.0.0.1:8600/acme/image/1.jpg"

    kept = record_page(
        folder, "list", page(first, {"items": [{"id": 1, "picture": picture}]}), load_shop(folder), there.base
    )

    assert [each.get("snapshot", {}).get("fields") for each in kept.found][1] == {
        "picture": "https://image.example.net/1.jpg"
    }
    assert '"url": "https://api.example.com/v2/list?brand=nike"' in (kept.folder / "ask.json").read_text("utf-8")


def test_a_host_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    wrong = (
        SHOP.replace("host: api", "host: apo").replace("abs_url{image}", "abs_url{imag}").replace("https://image", "x")
    )

    assert problems(tmp_path, wrong) == [
        (
            "shop.yaml:6: intake.hosts.image: a name with an address is expected "
            '(as in hosts: {api: "https://api.example.com"})'
        ),
        "shop.yaml:9: streams.list.request.host: unknown host 'apo' (did you mean api?)",
        "shop.yaml:14: streams.list.fields.picture?: unknown host 'imag' (did you mean image?)",
    ]
