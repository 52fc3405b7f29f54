"""A person says that options are what their mall calls them now: codes go where their texts are, and nothing is sold
that all codes have left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.tables.variants import StockKind
from bobusang.catalog.variants import Stock
from bobusang.stages.convert import grid, options
from bobusang.stages.convert.relabeling import relabeled
from bobusang.stages.convert.restocking import restocked
from bobusang.stages.convert.stock import IN, OUT, UNKNOWN
from tests.unit.convert.test_grid import built, claims, option

if TYPE_CHECKING:
    from bobusang.catalog.variants import Goods

SOLD = built([option("1", "블랙", "S"), option("2", "블랙", "M"), option("3", "블랙", "L")])


def codes(goods: Goods) -> dict[str, tuple[str, ...]]:
    return {one.size_key: one.codes for one in goods.variants}


def test_codes_that_traded_their_texts_are_believed_by_every_run() -> None:
    said = [option("1", "블랙", "M", stock=4), option("2", "블랙", "S", available=False), option("3", "블랙", "L")]
    now = options.read(said)

    goods = relabeled(SOLD, now)

    assert codes(goods) == {"S": ("2",), "M": ("1",), "L": ("3",)}
    assert (grid.relabeled(now, SOLD) != (), grid.relabeled(now, goods)) == (True, ())
    assert restocked(SOLD, now).doubts
    stocked = restocked(goods, now)
    assert (stocked.doubts, claims(stocked.goods)) == (
        "",
        {("블랙", "S"): OUT, ("블랙", "M"): Stock(StockKind.COUNT, 4), ("블랙", "L"): IN},
    )
    assert claims(built(said, goods)) == claims(stocked.goods)
    assert goods.options == SOLD.options


def test_what_all_its_codes_have_left_is_out_and_what_nobody_names_is_unknown() -> None:
    """The mall moved its codes up by one size: the S is gone, though its code is still there."""
    said = [option("1", "블랙", "M"), option("2", "블랙", "L")]
    moved = relabeled(SOLD, options.read(said))
    half = options.read([option("1", "블랙", "M"), option("2", "블랙", "S")])
    unread = relabeled(SOLD, half)

    assert codes(moved) == {"S": (), "M": ("1",), "L": ("2",)}
    assert claims(restocked(moved, options.read(said)).goods) == claims(built(said, moved))
    assert claims(built(said, moved)) == {("블랙", "S"): OUT, ("블랙", "M"): IN, ("블랙", "L"): IN}
    assert codes(unread) == {"S": ("2",), "M": ("1",), "L": ("3",)}
    assert claims(restocked(unread, half).goods)["블랙", "L"] == UNKNOWN


def test_an_option_without_a_code_is_named_by_its_text_alone() -> None:
    now = options.read([option("1", "블랙", "M"), option("2", "블랙", "L"), option("", "블랙", "S") | {"code": None}])

    goods = relabeled(SOLD, now)

    assert codes(goods) == {"S": (), "M": ("1",), "L": ("2",)}
    assert claims(restocked(goods, now).goods)["블랙", "S"] == IN


def test_what_is_asked_names_each_code_with_what_it_says_and_said() -> None:
    now = options.read([option("1", "블랙", "M"), option("2", "블랙", "S")])

    [reason] = grid.relabeled(now, SOLD)

    assert reason.text == (
        "the codes 1 ('블랙 / M', was '블랙 / S'), 2 ('블랙 / S', was '블랙 / M') "
        "now name what other codes named before"
    )
