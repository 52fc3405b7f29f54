"""Tables to be saved: CSV that a spreadsheet opens as it is, and runs nothing of."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from bobusang.entry.api.files import handed
from bobusang.entry.api.product_bulk import cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.responses import Response

MARK = "\ufeff"
"""By which a spreadsheet knows UTF-8."""


def sheet(name: str, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    """A file of that name."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\r\n")
    lines.writerow(heading)
    lines.writerows([_cell(value) for value in row] for row in rows)
    return handed(MARK + text.getvalue(), name)


def _cell(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else cell(value)
