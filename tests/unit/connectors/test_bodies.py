"""Bodies: names as values, GraphQL with its braces, forms, cursors; and lists that say whether they go on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.errors import Drifted
from bobusang.stages.collect.source import Ask, Extent, Target
from tests.unit.connectors.reading import compiled, page, problems

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.connectors.sources.declared.shop import Declared

SHOP = """
shop: acme
intake: {kind: http, base: "https://api.example.com"}
streams:
  list:
    request: %s
    for_each: {brand: {from: inputs.brands}}
    pages: %s
    records: data.edges[*].node
    key: key
    fields: {name?: name}
"""
GRAPHQL = """
      post: /graphql
      body:
        query: |
          query Items($first: Int) { allItems(first: $first, search: "{brand}") {pageInfo {hasNextPage} edges{node} } }
        variables: {first: "{size}", after: "{cursor}", kept: [1, true, "{page}", "page {page}"]}
"""
RELAY = "{by: cursor, next: data.pageInfo.endCursor, more: data.pageInfo.hasNextPage, size: {value: 1000}}"
NIKE = Target("brand", 'ni"ke')


def relay(cursor: str | None, more: object) -> dict[str, Any]:
    return {"data": {"pageInfo": {"endCursor": cursor, "hasNextPage": more}, "edges": [{"node": {"key": "W1"}}]}}


def first(shop: Declared) -> Ask:
    (ask,) = shop.seeds(NIKE)
    return ask


def following(shop: Declared, ask: Ask, answer: dict[str, Any]) -> tuple[bool, list[Ask]]:
    """Whether the page shows its end, and what is asked next."""
    found = list(shop.read(page(ask, answer)))
    (extent,) = [each for each in found if isinstance(each, Extent)]
    return extent.last, [each for each in found if isinstance(each, Ask)]


def test_a_name_alone_is_the_value_and_other_braces_are_text(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP % (GRAPHQL, RELAY))
    ask = first(shop)
    _, (second,) = following(shop, ask, relay("170000", more=True))

    query = (
        'query Items($first: Int) { allItems(first: $first, search: "ni"ke") {pageInfo {hasNextPage} edges{node} } }\n'
    )
    assert json.loads(ask.body or "") == {
        "query": query,
        "variables": {"first": 1000, "after": None, "kept": [1, True, 1, "page 1"]},
    }
    assert json.loads(second.body or "")["variables"] == {
        "first": 1000,
        "after": "170000",
        "kept": [1, True, 2, "page 2"],
    }
    assert (ask.url, ask.headers) == ("https://api.example.com/graphql", {"Content-Type": "application/json"})
    assert (ask.name, second.name) == ('list:brand:ni"ke:1', 'list:brand:ni"ke:2')


def test_a_list_ends_where_it_says_so_and_not_where_it_does_not(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP % (GRAPHQL, RELAY))

    assert following(shop, first(shop), relay("170000", more=False)) == (True, [])
    with pytest.raises(Drifted, match="says that there is more, but not where"):
        following(shop, first(shop), relay(None, more=True))
    assert [ask.given["page"] for ask in following(shop, first(shop), relay("9", more="perhaps"))[1]] == [2]


def test_numbered_pages_end_where_they_say_so(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP % ("{get: /list}", "{by: page, param: page, more: data.pageInfo.hasNextPage}"))

    assert following(shop, first(shop), relay(None, more=False)) == (True, [])
    last, (ask,) = following(shop, first(shop), relay(None, more=True))
    assert (last, ask.url) == (False, "https://api.example.com/list?page=2")


def test_a_form_is_sent_as_one(tmp_path: Path) -> None:
    shop = compiled(
        tmp_path,
        SHOP % ('{post: /list, form: {brand: "{brand}", page: "{page}", mode: a b}}', "{by: page}"),
    )

    ask = first(shop)

    assert (ask.method, ask.body) == ("POST", "brand=ni%22ke&page=1&mode=a%20b")
    assert ask.headers == {"Content-Type": "application/x-www-form-urlencoded"}


def test_a_media_type_of_ones_own_stays(tmp_path: Path) -> None:
    request = '{post: "/list", headers: {content-type: application/graphql}, body: {a: "{page}"}}'
    shop = compiled(tmp_path, SHOP % (request, "{by: page}"))

    assert first(shop).headers == {"content-type": "application/graphql"}


@pytest.mark.parametrize(
    ("request_", "pages", "said"),
    [
        (
            '{post: /list, body: {a: "{brnd}"}}',
            "{by: page, param: page}",
            "shop.yaml:6: streams.list.request.body: unknown placeholder {brnd} (did you mean brand?)",
        ),
        (
            '{post: /list, body: {a: "{cursor}"}}',
            "{by: page, param: page}",
            "shop.yaml:6: streams.list.request.body: unknown placeholder {cursor} (known: brand, page)",
        ),
        (
            "{get: /list, form: {a: 1}}",
            "{by: page, param: page}",
            "shop.yaml:6: streams.list.request.form: a GET has no body (use post)",
        ),
        (
            "{post: /list, form: {a: 1}, body: {a: 1}}",
            "{by: page, param: page}",
            "shop.yaml:6: streams.list.request.form: a body is either JSON or a form",
        ),
        (
            "{get: /list}",
            "{by: cursor, next: next}",
            (
                "shop.yaml:8: streams.list.pages.param: is missing: which parameter is the cursor? "
                "(or put {cursor} into the request)"
            ),
        ),
        (
            "{get: /list}",
            "{by: page, param: page, size: {value: 10}}",
            (
                "shop.yaml:8: streams.list.pages.size.param: is missing: which parameter is the size? "
                "(or put {size} into the request)"
            ),
        ),
    ],
)
def test_what_cannot_be_sent_is_a_problem(tmp_path: Path, request_: str, pages: str, said: str) -> None:
    assert problems(tmp_path, SHOP % (request_, pages)) == [said]
