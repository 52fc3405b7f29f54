"""JSON in scripts: by id, by variable, inside a text; what is computed or given twice otherwise is not certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format, compile_expression
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.kit.errors import Drifted
from bobusang.stages.collect.source import Ask, Snapshot, Target
from tests.unit.connectors.reading import compiled, page, problems

if TYPE_CHECKING:
    from pathlib import Path

NEXT = '<script id="__NEXT_DATA__" type="application/json">{"props": {"list": [{"id": 1}, {"id": 2}]}}</script>'
GIVEN: list[tuple[str, str, Any]] = [
    (NEXT, "script:__NEXT_DATA__.props.list[*].id", [1, 2]),
    (NEXT.replace('"__NEXT', "'__NEXT").replace('A__"', "A__'"), "script:__NEXT_DATA__.props.list[0].id", 1),
    (NEXT.replace("}]}}", "}]"), "script:__NEXT_DATA__.props", UNCLEAR),
    ("<script>var skuqty = [3, 0, 12];</script>", "script:skuqty[*]", [3, 0, 12]),
    ('<script>window.state={"a": {"b": "c"}}\n</script>', "script:state.a.b", "c"),
    (r"""<script>var stock = '{\"A\":{\"n\":\"\\uc0c9\",\"q\":7}}';var x</script>""", "script:stock.A.n", "색"),
    (r"""<script>var stock = '{\"A\":{\"n\":\"1\",\"q\":7}}';</script>""", "script:stock.A.q", 7),
    ("<script>var price = '9900'; var other = 1</script>", "script:price | won", 9900),
    ("<script>var name = 'it\\'s \\x41\\u0042'</script>", "script:name", "it's AB"),
    ("<script>let soldout = 'F', last = 2;</script>", "script:soldout | map{T: true, F: false}", False),
    ("<script>var total = 5 + extra;</script>", "script:total", UNCLEAR),
    ("<script>var total = count();</script>", "script:total", UNCLEAR),
    ("<script>var total = NaN;</script>", "script:total", UNCLEAR),
    ("<script>var total = 5; var total = 5;</script>", "script:total", 5),
    ("<script>var total = 5;</script><script>total = 6;</script>", "script:total", UNCLEAR),
    ("<script>if (total == 5) {}; my.total = 7; data-total = 8; xtotal = 9</script>", "script:total", NOTHING),
    ('<p total="5">total = 5</p>', "script:total", NOTHING),
    ("<!-- <script>var total = 5;</script> -->", "script:total", NOTHING),
    ("<script>var total = " + "[" * 100_000 + "</script>", "script:total", UNCLEAR),
    ("<script>var total = '" + "\\" * 99_999, "script:total", NOTHING),
    ("<script>var total = 'open\n;</script>", "script:total", UNCLEAR),
]


@pytest.mark.parametrize(("text", "expression", "value"), GIVEN, ids=range(len(GIVEN)))
def test_what_a_script_says(text: str, expression: str, value: Any) -> None:
    get = compile_expression(expression, Format.HTML, page=False)

    assert get(None, Document(page(Ask("https://shop.example.com/"), f"<html>{text}</html>"))) == value


SHOP = """\
shop: acme
intake: {kind: http, base: "https://acme.example.com", format: html}
streams:
  list:
    request: {get: /list}
    records: script:__NEXT_DATA__.list[*]
    key: id
    fields: {name: name, price: 'price | money{USD}'}
    variants: {records: "sizes[*]", key: no, fields: {size: size, stock: stock | int}, complete: true}
contract: {price: {type: money, currency: USD, min: 1, required: true}}
"""


def test_a_list_in_a_script_is_read_with_the_options_of_each_record(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    [ask] = shop.seeds(Target("list", "all"))
    listed = (
        '{"list": [{"id": 1, "name": "A", "price": "12.90", "sizes": [{"no": 7, "size": "M", "stock": "3"}]},'
        ' {"id": 2, "name": "B", "price": "12.905", "sizes": [{"no": 8, "size": "M", "stock": "many"}]},'
        ' {"id": 3, "name": "C", "price": 5, "sizes": []}]}'
    )

    found = shop.read(page(ask, f'<html><script id="__NEXT_DATA__">{listed}</script></html>'))

    assert [one for one in found if isinstance(one, Snapshot)] == [
        Snapshot(
            "acme",
            "1",
            {
                "name": "A",
                "price": 1290,
                "currency": "USD",
                "options": [{"code": "7", "size": "M", "stock": 3}],
            },
        ),
        Snapshot("acme", "2", {"name": "B"}, ("price", "options"), options_complete=False),
        Snapshot("acme", "3", {"name": "C", "price": 500, "currency": "USD"}, options_complete=False),
    ]


@pytest.mark.parametrize(
    "text", ["", '<script id="__NEXT_DATA__">{"other": 1}</script>', '<script id="__NEXT_DATA__">{']
)
def test_a_page_without_the_script_has_drifted(tmp_path: Path, text: str) -> None:
    shop = compiled(tmp_path, SHOP)
    [ask] = shop.seeds(Target("list", "all"))

    with pytest.raises(Drifted):
        list(shop.read(page(ask, f"<html>{text}</html>")))


def test_a_script_needs_a_name(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, SHOP.replace("script:__NEXT_DATA__.list", "script:.list"))

    assert problem.startswith("shop.yaml:6: streams.list.records: '.list[*]' names no script (as in script:")
