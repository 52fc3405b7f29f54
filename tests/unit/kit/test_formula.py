"""No cell of a file that we hand out is run by a spreadsheet, and what we read back is what it was."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.model import Review
from bobusang.kit.formula import defused, plain
from bobusang.stages.convert import reviewing
from bobusang.stages.convert.reviewing import Line, Subject
from bobusang.stages.price import fx, sheets
from bobusang.stages.price.model import FxQuote
from bobusang.stages.price.rates import Fee, FeeKind

RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
EVIL = "=HYPERLINK(1)"


@pytest.mark.parametrize("sign", RUN)
def test_what_a_spreadsheet_would_run_is_marked_as_text(sign: str) -> None:
    assert (defused(f"{sign}1+1"), defused(f"a{sign}1")) == (f"'{sign}1+1", f"a{sign}1")


@given(st.text(st.sampled_from([*RUN, "'", "a", "1"]), max_size=8))
def test_it_is_read_back_as_it_was(text: str) -> None:
    assert plain(defused(text)) == text
    assert not defused(text).startswith(RUN)


def written_files() -> dict[str, str]:
    """Every file of ours that is read back, with a formula in each text of it."""
    quote = FxQuote("USD", "KRW", "1400", EVIL, datetime(2026, 1, 27, tzinfo=UTC))
    return {
        "mapping": reviewing.written([Line(Subject.BRAND, "mall", EVIL, EVIL, EVIL, 1, EVIL, Review.ACCEPTED)]),
        "fees": sheets.write(sheets.FEES, [Fee("buyma", FeeKind.SALE, "2026-01-01", EVIL, tier=EVIL)]),
        "rates": fx.write_csv([quote]),
    }


@pytest.mark.parametrize(("name", "text"), written_files().items())
def test_no_file_that_is_handed_out_runs_anything(name: str, text: str) -> None:
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]

    assert [cell for cell in cells if cell.startswith(RUN)] == []
    assert f"'{EVIL}" in cells, name


def test_such_a_file_is_read_as_it_was_written() -> None:
    files = written_files()

    assert [fee.source for fee in sheets.read(sheets.FEES, files["fees"])] == [EVIL]
    assert [quote.source for quote in fx.read_csv(files["rates"])] == [EVIL]
