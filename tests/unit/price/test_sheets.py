"""Files of dated rows: one wrong line refuses all, and says which."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bobusang.kit.errors import Invalid
from bobusang.stages.price import sheets
from bobusang.stages.price.rates import Duty, Fee, FeeKind

HEAD = "market,kind,valid_from,source,rate,amount\n"


def test_a_file_becomes_rows() -> None:
    text = "\ufeff" + HEAD + "buyma, sale ,2026-01-01,page,0.077,\nbuyma,payout,2026-01-01,page,,220\n"

    assert sheets.read(sheets.FEES, text) == [
        Fee("buyma", FeeKind.SALE, "2026-01-01", "page", rate=Decimal("0.077")),
        Fee("buyma", FeeKind.PAYOUT, "2026-01-01", "page", amount=220),
    ]


def test_a_simplified_rate_says_where_it_ends() -> None:
    """Above ¥200,000 of taxable value customs take the general rates."""
    ends = {row.source.split(" (")[0]: row.up_to for row in sheets.shipped(sheets.DUTIES)}
    pair = [
        Duty("JP", Decimal("0.05"), "2026-01-01", "x", up_to=200_000),
        Duty("JP", Decimal("0.08"), "2026-01-01", "x"),
    ]

    assert {up_to for source, up_to in ends.items() if "simplified" in source} == {200_000}
    assert {up_to for source, up_to in ends.items() if "simplified" not in source} == {0}
    assert sheets.read(sheets.DUTIES, sheets.write(sheets.DUTIES, pair)) == pair


def test_knitwear_is_told_from_the_rest_in_a_file() -> None:
    knit = Duty("JP", Decimal("0.109"), "2026-01-01", "x", construction="knit", is_exemptable=False)

    assert sheets.read(sheets.DUTIES, sheets.write(sheets.DUTIES, [knit])) == [knit]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("market,kind\n", "the fees file has no column 'source'"),
        ("markt," + HEAD, "the fees file has a column 'markt' that means nothing"),
        (HEAD + "buyma,sale,2026-01-01,page,7.7,\n", "line 2 of the fees file: rate is 7.7"),
        (
            HEAD + "buyma,sail,2026-01-01,page,0.1,\n",
            "line 2 of the fees file: Invalid enum value 'sail' - at `$.kind`",
        ),
        (HEAD + "buyma,sale,,page,0.1,\n", "line 2 of the fees file: Object missing required field `valid_from`"),
        (HEAD + "buyma,sale,2026-01-01,page,0.1,1,2\n", "line 2 of the fees file has more cells than the heading"),
        (HEAD + "buyma,sale,2026-01-01,p,0.1,\n" * 2, "line 3 of the fees file repeats buyma, sale, , , 2026-01-01"),
    ],
)
def test_a_wrong_line_is_named(text: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        sheets.read(sheets.FEES, text)

    assert refused.value.message == message


def test_what_comes_with_the_program_names_its_sources() -> None:
    sources = [
        *(row.source for row in sheets.shipped(sheets.FEES)),
        *(row.source for row in sheets.shipped(sheets.FREIGHTS)),
        *(row.source for row in sheets.shipped(sheets.DUTIES)),
        *(row.source for row in sheets.shipped(sheets.TAXES)),
    ]

    assert sources
    assert [source for source in sources if "confirmed" not in source and "assumption" not in source] == []
