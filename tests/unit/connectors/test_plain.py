from typing import Any

import pytest

from bobusang.connectors.sources.plain import html_items, json_items
from bobusang.kit.errors import Drifted
from bobusang.kit.lined.located import BadText

PAGE = """<ul>
<li class="product-item"><b class="title"> 울  코트 </b><i class="price">129,000원</i><a href="/p/1">x</a></li>
<li class="product-item"><b class="title">머그컵</b><i class="price">1만원대</i></li>
<li class="product-item"></li>
</ul>"""


def test_the_example_of_the_design_works_as_it_stands() -> None:
    selectors = {"items": ".product-item", "name": ".title", "price": ".price"}

    assert html_items(PAGE, selectors) == [
        {"name": "울 코트", "price": "129,000원"},
        {"name": "머그컵", "price": "1만원대"},
        {"name": None, "price": None},
    ]


def test_selectors_are_fields_with_filters_and_fallbacks() -> None:
    selectors = {"items": ".product-item", "price": ".price | won", "url": ["a@href | abs_url", "const:none"]}

    assert html_items(PAGE, selectors, url="https://shop.example.com/list") == [
        {"price": 129_000, "url": "https://shop.example.com/p/1"},
        {"price": None, "url": "none"},
        {"price": None, "url": "none"},
    ]


def test_without_items_the_page_is_one_row() -> None:
    assert html_items("<h1>제목</h1><p>글</p>", {"title": "h1", "body": "p"}) == [{"title": "제목", "body": "글"}]
    assert json_items(b'{"a": {"b": 1}}', {"b": "a.b"}) == [{"b": 1}]


def test_the_json_twin() -> None:
    body = '{"list": [{"n": "코트", "p": "1,000"}, {"n": null}]}'.encode()

    assert json_items(body, {"items": "list[*]", "name": "n", "price": "p | won"}) == [
        {"name": "코트", "price": 1000},
        {"name": None, "price": None},
    ]


def test_a_list_that_is_not_there_has_drifted() -> None:
    with pytest.raises(Drifted):
        json_items(b'{"other": []}', {"items": "list[*]", "name": "n"})


@pytest.mark.parametrize(
    ("selectors", "said"),
    [
        ({"items": "li[[", "name": ".a"}, "selectors: items: 'li[[' is no CSS selector"),
        ({"items": "li", "name": ".a | wonn"}, "selectors: name: unknown filter 'wonn' (did you mean won?)"),
        ({"items": "li", "name": 5}, "selectors: name: this is no field"),
    ],
)
def test_a_wrong_selector_is_named(selectors: dict[str, Any], said: str) -> None:
    with pytest.raises(BadText) as caught:
        html_items(PAGE, selectors)

    assert said in str(caught.value)
