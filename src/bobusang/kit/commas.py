"""Files with commas that cannot be read as CSV: one clear error instead of the reader's own."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def reading(what: str, columns: Sequence[str]) -> Iterator[None]:
    """Whatever the block reads of `what` is CSV, or it is refused: a quote that never ends makes one endless cell."""
    try:
        yield
    except csv.Error as error:
        raise Invalid(f"{what} is no CSV: {error}", hint=f"its first line is {','.join(columns)}") from error
