"""A file that is no CSV is refused in words, whichever file it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.stages.convert import forbidden, reviewing, terms
from bobusang.stages.convert.masters import Masters
from bobusang.stages.price import fx, sheets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENDLESS = '\n"' + "a" * 200_000
"""A quote that is never closed: longer than any cell may be."""
FILES: dict[str, tuple[Sequence[str], Callable[[str], object]]] = {
    "the mapping": (reviewing.COLUMNS, lambda text: reviewing.parsed(text, Masters({}))),
    "the glossary": (terms.COLUMNS, terms.parsed),
    "the forbidden list": (forbidden.COLUMNS, forbidden.read),
    "the file of rates": (fx.COLUMNS, fx.read_csv),
    "the fees file": (sheets.FEES.columns, lambda text: sheets.read(sheets.FEES, text)),
}


@pytest.mark.parametrize("name", FILES)
def test_a_quote_that_never_ends_is_no_file_of_ours(name: str) -> None:
    columns, read = FILES[name]

    with pytest.raises(Invalid) as refused:
        read(",".join(columns) + ENDLESS)

    assert (refused.value.message, refused.value.hint) == (
        f"{name} is no CSV: field larger than field limit (131072)",
        f"its first line is {','.join(columns)}",
    )
