"""Dated rows as CSV files: fees, freight, duty and tax, imported as one whole and exported as they stand."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from bobusang.kit.commas import reading
from bobusang.kit.errors import Invalid
from bobusang.kit.formula import defused, plain
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.price.rates import Duty, Fee, Freight, Tax, checked
from bobusang.stages.price.tables import duty_rates, freight_rates, import_taxes, market_fees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Table

R = TypeVar("R", Fee, Freight, Duty, Tax)


@dataclass(frozen=True, slots=True)
class Sheet(Generic[R]):
    """A kind of rows: what one is, where they are kept, and which columns make it the same row."""

    name: str
    row: type[R]
    table: Table
    key: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.row.__struct_fields__

    @property
    def required(self) -> set[str]:
        fields = msgspec.structs.fields(self.row)
        return {field.name for field in fields if field.default is msgspec.NODEFAULT}

    def key_of(self, row: R) -> tuple[object, ...]:
        return tuple(getattr(row, name) for name in self.key)


FEES = Sheet("fees", Fee, market_fees, ("market", "kind", "tier", "category", "valid_from"))
FREIGHTS = Sheet("freight", Freight, freight_rates, ("leg", "route", "category", "up_to_grams", "valid_from"))
DUTIES = Sheet("duty", Duty, duty_rates, ("country", "category", "material", "construction", "up_to", "valid_from"))
TAXES = Sheet("tax", Tax, import_taxes, ("country", "valid_from"))

SHEETS: tuple[Sheet[Fee] | Sheet[Freight] | Sheet[Duty] | Sheet[Tax], ...] = (FEES, FREIGHTS, DUTIES, TAXES)


def read(sheet: Sheet[R], text: str) -> list[R]:
    """The rows of a file; one that is wrong refuses all of it, by its line."""
    with reading(f"the {sheet.name} file", sheet.columns):
        table = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
        names, rows = table.fieldnames or (), list(table)
    for name in sorted(sheet.required - set(names)):
        raise Invalid(f"the {sheet.name} file has no column '{name}'", hint=f"columns: {', '.join(sheet.columns)}")
    for name in sorted(set(names) - set(sheet.columns)):
        hint = did_you_mean(name, sheet.columns)
        raise Invalid(f"the {sheet.name} file has a column '{name}' that means nothing", hint=hint, field=name)
    found: dict[tuple[object, ...], R] = {}
    for number, cells in enumerate(rows, start=2):
        row = _row(sheet, cells, f"line {number} of the {sheet.name} file")
        if sheet.key_of(row) in found:
            raise Invalid(f"line {number} of the {sheet.name} file repeats {', '.join(map(str, sheet.key_of(row)))}")
        found[sheet.key_of(row)] = row
    return list(found.values())


def _row(sheet: Sheet[R], cells: dict[str, str | None], where: str) -> R:
    if None in cells:
        raise Invalid(f"{where} has more cells than the heading")
    given = {name: plain(cell.strip()) for name, cell in cells.items() if cell is not None and cell.strip()}
    try:
        row = msgspec.convert(given, sheet.row, strict=False)
        checked(row)
        return row
    except msgspec.ValidationError as error:
        raise Invalid(f"{where}: {error}") from error
    except Invalid as error:
        raise Invalid(f"{where}: {error.message}", hint=error.hint, field=error.field) from error


def write(sheet: Sheet[R], rows: Sequence[R]) -> str:
    """Rows as a file that `read` takes."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(sheet.columns)
    for row in rows:
        lines.writerow(_cell(getattr(row, name)) for name in sheet.columns)
    return out.getvalue()


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else defused(value) if isinstance(value, str) else str(value)


def shipped(sheet: Sheet[R]) -> list[R]:
    """The rows that come with the program: a beginning for the demo, each with its source; to be confirmed."""
    text = resources.files(__package__).joinpath("shipped", f"{sheet.name}.csv").read_text("utf-8")
    return read(sheet, text)
