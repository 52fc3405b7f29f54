from typing import Any

import pytest

from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format, compile_expression
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw
from bobusang.stages.collect.source import Ask
from tests.unit.connectors.reading import page

DOCUMENT = Document(page(Ask("https://shop.example.com/list/1"), {}))

READ: list[tuple[str, Any, Any]] = [
    ("won", "129,000원", 129_000),
    ("won", 129_000, 129_000),
    ("won", 129_000.0, 129_000),
    ("won", 0, 0),
    ("won", "1만원대", UNCLEAR),
    ("won", -1, UNCLEAR),
    ("won", 1.5, UNCLEAR),
    ("won", True, UNCLEAR),
    ("won", ["1,000", "2,000"], [1000, 2000]),
    ("won", ["1,000", "2만원대"], UNCLEAR),
    ("won", {}, UNCLEAR),
    ("money{USD}", "129.00", 12_900),
    ("money{USD}", "1,290.5", 129_050),
    ("money{USD}", 7, 700),
    ("money{USD}", "129.001", UNCLEAR),
    ("money{USD}", "$129", UNCLEAR),
    ("money{USD}", "-1", UNCLEAR),
    ("money{USD}", 0.1 + 0.2, UNCLEAR),
    ("money{KRW}", "39000.00", 39_000),
    ("money{JPY}", "5500", 5500),
    ("least", [3, 1, 2], 1),
    ("least", [3, "1"], UNCLEAR),
    ("int", " 1,234 ", 1234),
    ("int", "-7", -7),
    ("int", "12.0", UNCLEAR),
    ("int", "1,23", UNCLEAR),
    ("int", 3.0, 3),
    ("int", 10**30, UNCLEAR),
    ("int", "많음", UNCLEAR),
    ("int", False, UNCLEAR),
    ("decimal", "4.60", "4.6"),
    ("decimal", 4.6, "4.6"),
    ("decimal", 100, "100"),
    ("decimal", "1,234.5", "1234.5"),
    ("decimal", "4,6", UNCLEAR),
    ("decimal", float("nan"), UNCLEAR),
    ("bool", True, True),
    ("bool", "Y", True),
    ("bool", "n", False),
    ("bool", 1, True),
    ("bool", "maybe", UNCLEAR),
    ("bool", 2, UNCLEAR),
    ("not", True, False),
    ("not", "true", UNCLEAR),
    ("positive", 3, True),
    ("positive", 0, False),
    ("positive", "3", UNCLEAR),
    ("map{InStock: true, OutOfStock: false}", "https://schema.org/InStock", True),
    ("map{InStock: true, OutOfStock: false}", "http://schema.org/OutOfStock", False),
    ("map{InStock: true, OutOfStock: false}", "PreOrder", UNCLEAR),
    ("map{Y: 1, *: null}", "Z", None),
    ("map{true: yes!, false: no!}", True, "yes!"),
    ("map{1: one}", 1, "one"),
    ("date", "2026-01-16", "2026-01-16"),
    ("date", "2026.1.6", "2026-01-06"),
    ("date", "2026년 1월 6일", "2026-01-06"),
    ("date", "2026-01-16 10:00", "2026-01-16T01:00:00+00:00"),
    ("date{UTC}", "2026-01-16 10:00:05", "2026-01-16T10:00:05+00:00"),
    ("date", "2026-01-16T10:00:00+09:00", "2026-01-16T01:00:00+00:00"),
    ("date", "Fri, 16 Jan 2026 10:00:00 +0900", "2026-01-16T01:00:00+00:00"),
    ("date", "2026-02-30", UNCLEAR),
    ("date", "3시간 전", UNCLEAR),
    ("date", 20260116, UNCLEAR),
    ("abs_url", "/a?b=1", "https://shop.example.com/a?b=1"),
    ("abs_url", "//img.example.com/x.jpg", "https://img.example.com/x.jpg"),
    ("abs_url", "https://img.example.com/x y.jpg", "https://img.example.com/x y.jpg"),
    ("abs_url", "javascript:alert(1)", UNCLEAR),
    ("abs_url", "data:image/png;base64,AA", UNCLEAR),
    ("abs_url", "http://[::1", UNCLEAR),
    ("query{brand}", "/list?brand=%EB%82%98%EC%9D%B4%ED%82%A4&page=2", "나이키"),
    ("query{brand}", "/list?brand=%B3%AA%C0%CC%C5%B0", "나이키"),
    ("query{brand}", "/list?cate=1", NOTHING),
    ("strip", "  a \u00a0 b\n", "a b"),
    ("strip", " \n ", NOTHING),
    ("strip", 5, UNCLEAR),
    ("unescape", "A &amp; B", "A & B"),
    ("tags", "<p>A<b>B</b></p><img src=x>", "A B"),
    ("split{,}", "95 , 100 ,, 105 ", ["95", "100", "105"]),
    ("split{|; -1}", "a|b|c", "c"),
    ("split{|; 9}", "a|b|c", NOTHING),
    ("split{>}", "A>B", ["A", "B"]),
    ("cut{/_dims_}", "https://i.example.com/a.jpeg/_dims_/resize", "https://i.example.com/a.jpeg"),
    ("re{(\\d+)개}", "재고 12개", "12"),
    ("re{\\d+}", "없음", NOTHING),
    ("json", '{"a": [1]}', {"a": [1]}),
    ("json{a[0]}", '{"a": [1]}', 1),
    ("json", "{", UNCLEAR),
    ("model", "하프 짚 (FQ2494-010)", "FQ2494-010"),
    ("model", "하프 짚 (블랙) (FQ2494-010) (Free)", "FQ2494-010"),
    ("model", "하프 짚 (Dark Navy)(ABCDEF)", "ABCDEF"),
    ("model", "머그컵 (350ml)(블랙)(XL)", NOTHING),
    ("model", "신발 (US 10)(M NK DF TOP)", NOTHING),
    ("model", "두 개 (AC1-1)(AC2-2)", UNCLEAR),
    ("model", "같은 것 (AC1-1)(AC1-1)", "AC1-1"),
    ("first", ["a", "b"], "a"),
    ("first", "a", UNCLEAR),
    ("unique", ["a", "b", "a"], ["a", "b"]),
    ("join{, }", ["a", "b"], "a, b"),
    ("all", [True, True], True),
    ("all", [True, False], False),
    ("all", [True, "x"], UNCLEAR),
    ("any", [False, True], True),
    ("same", [5, 5], 5),
    ("same", [5, 6], UNCLEAR),
]


@pytest.mark.parametrize(("written", "value", "read"), READ, ids=lambda value: repr(value)[:40])
def test_a_filter_reads_or_refuses(written: str, value: Any, read: Any) -> None:
    get = compile_expression(f"v | {written}", Format.JSON, page=False)
    found = get({"v": value}, DOCUMENT)

    assert (type(found), found) == (type(read), read)


WRONG = {
    "v | wonn": "unknown filter 'wonn'",
    "v | won{1}": "takes nothing in braces",
    "v | map": "map needs names with values",
    "v | map{a}": "map needs names with values",
    "v | date{Mars/Olympus}": "unknown time zone",
    "v | re": "a pattern has 1 to",
    "v | re{(a+)+}": "can take for ever",
    "v | query": "query needs",
    "v | split{,; x}": "is no number of a part",
    "v | cut": "cut needs",
    "v | 5": "is no filter",
    "xpath:v": "unknown engine 'xpath'",
    "cell:상품코드|품번": "does not read JSON",
    "css:.a": "does not read JSON",
    "ld:5x.y": "is no type of JSON-LD",
    "re:a": "looks through a whole page",
    "a..b": "is no path",
}


@pytest.mark.parametrize(("written", "said"), WRONG.items())
def test_what_is_wrong_with_an_expression_is_said(written: str, said: str) -> None:
    with pytest.raises(Flaw, match=said.replace("(", r"\(")):
        compile_expression(written, Format.JSON, page=False)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(Flaw) as caught:
        compile_expression("v | abs_ulr", Format.JSON, page=False)

    assert caught.value.hint == "did you mean abs_url?"


HTML = """<html><head><!-- <script type="application/ld+json">{"@type": "Product", "name": "old"}</script> -->
<script type='APPLICATION/LD+JSON'>
<!-- {"@graph": [{"@type": ["Thing", "Product"], "name": "A
B", "offers": {"price": 5,},}]} -->
</script><script type="application/ld+json">{broken</script></head>
<body><p class="x" data-a=" 1 ">  a <b>b</b>\n c </p><p class="x">d</p><p class="e"> </p></body></html>"""

HTML_READ = {
    ".x": "a b c",
    ".x[*]": ["a b c", "d"],
    ".x@data-a": "1",
    ".x@DATA-A": "1",
    ".x@nothing": NOTHING,
    ".e": NOTHING,
    ".none": NOTHING,
    ".none[*]": NOTHING,
    "p:first-child": "a b c",
    "css:p:not(.x)": NOTHING,
    "ld:Product.name": "A B",
    "ld:Thing.offers.price": 5,
    "ld:Offer.price": NOTHING,
    "const:null": None,
    "const:true": True,
    "const:12": 12,
    "const:글": "글",
    're:data-a=" (\\d) "': "1",
}


@pytest.mark.parametrize(("written", "value"), HTML_READ.items())
def test_engines_read_a_page(written: str, value: Any) -> None:
    document = Document(page(Ask("https://shop.example.com"), HTML))

    assert compile_expression(written, Format.HTML, page=True)(document.tree, document) == value
