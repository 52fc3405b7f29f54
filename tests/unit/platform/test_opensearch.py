"""Addresses of an OpenSearch, clauses that hold values alone, and changes cut into bounded parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.platform.search import Document, Query
from bobusang.platform.searches.opensearch import bulk, searching
from bobusang.platform.searches.opensearch.asking import as_typed
from bobusang.platform.searches.opensearch.place import Place, place
from bobusang.platform.searches.opensearch.schema import read, row

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUSES = {"bool", "dis_max", "constant_score", "term", "terms", "range", "match_all", "match_none"}


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("opensearch://search.example", Place("search.example")),
        ("opensearch://search.example:9201/shop.a", Place("search.example", 9201, "shop.a")),
        (
            "opensearch+https://ada:p%40ss@search.example/a?ca=/etc/ca.pem",
            Place("search.example", 9200, "a", True, "/etc/ca.pem", "ada", "p@ss"),
        ),
        ("opensearch://[::1]:9200", Place("::1")),
    ],
)
def test_an_address_says_where_and_under_which_prefix(url: str, found: Place) -> None:
    assert place(url) == found


def test_a_place_is_logged_without_its_password() -> None:
    found = place("opensearch+https://ada:hunter2@search.example/shop")

    assert str(found) == "opensearch+https://search.example:9200/shop"
    assert "hunter2" not in f"{found} {found!r}"


@pytest.mark.parametrize(
    "url",
    [
        "opensearch://",
        "http://search.example",
        "opensearch://ada@search.example",
        "opensearch://ada:hunter2@search.example:port",
        "opensearch://ada:hunter2@search.example/Shop",
        "opensearch://ada:hunter2@search.example/a*",
        "opensearch://ada:hunter2@search.example/a/b",
        "opensearch://ada:hunter2@search.example/a?cert=1",
        "opensearch://ada:hunter2@search.example/a?ca=/etc/ca.pem",
    ],
)
def test_a_wrong_address_is_told_without_its_password(url: str) -> None:
    with pytest.raises(Invalid) as told:
        place(url)

    assert (told.value.field, "hunter2" in str(told.value)) == ("search_url", False)


@given(st.text(max_size=60), st.text(max_size=20))
def test_whatever_is_typed_becomes_a_value_of_a_typed_clause(typed: str, brand: str) -> None:
    """No clause in which the server would look for a language: `query_string`, `script`, `regexp`."""
    body = searching._body(Query(typed, brands=(brand,), malls=(brand,)), as_typed(typed))

    assert set(kinds(body["query"])) <= CLAUSES


def kinds(clause: dict[str, Any]) -> Iterator[str]:
    for kind, content in clause.items():
        yield kind
        inner = content.values() if kind in {"bool", "dis_max", "constant_score"} else ()
        for one in inner:
            for nested in one if isinstance(one, list) else [one]:
                yield from kinds(nested) if isinstance(nested, dict) else ()


@given(st.lists(st.binary(max_size=30), max_size=50))
def test_parts_hold_all_changes_in_order_and_within_bounds(changes: list[bytes]) -> None:
    parts = list(bulk._parts(iter(changes), most=7, largest=64))

    assert [change for part in parts for change in part] == changes
    assert all(0 < len(part) <= 7 and sum(map(len, part)) <= 64 for part in parts)


def test_a_document_comes_back_as_it_was_put() -> None:
    put = Document(7, "okmall", "P7", "경량 패딩", brand="NIKE", aliases=("ナイキ",), price=129_000, in_stock=False)

    assert read({"document": msgspec.json.decode(msgspec.json.encode(row(put)))["document"]}) == put
