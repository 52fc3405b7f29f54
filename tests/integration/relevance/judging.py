"""Queries with what was meant by them, and how well a product of the sandbox answers: 3 just so, 0 not at all."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from bobusang.sandbox.words import BRANDS, COLOURS, GENDERS, KINDS, LINES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.sandbox.product import Product

FILE = Path(__file__).with_name("relevance.csv")
BEST = 3
NOTHING = "none"

_BRANDS = {"", *(brand.en for brand in BRANDS)}
_KINDS = {kind.ko for kind in KINDS}
_COLOURS = dict(COLOURS)


@dataclass(frozen=True, slots=True)
class Meant:
    """A line of the file: what was typed, and the facts of what was looked for; empty: it does not matter."""

    group: str
    language: str
    typed: str
    brand: str
    kinds: Mapping[str, int]
    """Kinds of goods, and how well each of them answers."""
    gender: str
    colour: str
    line: str
    more: int
    """By how much a garment of the line is better than without; 0: it has to be of that line."""
    model: str
    """A pattern; `none`: there is no such thing."""

    def grade(self, product: Product) -> int:
        """How well a product answers."""
        if self.brand not in ("", product.brand.en) or not fnmatchcase(product.model, self.model or "*"):
            return 0
        grade = self.kinds.get(product.kind.ko, 0) if self.kinds else BEST
        if self.line:
            grade = self._lined(product, grade)
        return min(grade, BEST, self._gendered(product.gender), self._coloured(product))

    def _lined(self, product: Product, grade: int) -> int:
        if f" {self.line} " not in product.name:
            return grade if self.more else 0
        return grade + self.more if product.kind.sizes == "top" or not self.more else grade

    def _gendered(self, gender: str) -> int:
        """What is for everybody is good for a man, and not quite what he asked for."""
        if not self.gender or gender == self.gender:
            return BEST
        return BEST - 1 if gender == "U" else 0

    def _coloured(self, product: Product) -> int:
        """By what it comes in, whatever its title says."""
        sold = {product.colour[1], *(_COLOURS[option.color] for option in product.options if option.color)}
        return BEST if not self.colour or self.colour in sold else 0


def queries() -> list[Meant]:
    """All lines of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [_meant(row) for row in csv.DictReader(file)]


def _meant(row: Mapping[str, str]) -> Meant:
    kinds = {kind: int(grade or BEST) for kind, _, grade in (one.partition(":") for one in row["kinds"].split("|"))}
    line, _, more = row["line"].removeprefix("+").partition(":")
    kinds.pop("", None)
    assert row["brand"] in _BRANDS, row
    assert kinds.keys() <= _KINDS, row
    assert row["gender"] in ("", *GENDERS), row
    assert line in ("", *LINES), row
    assert row["colour"] in ("", *_COLOURS.values()), row
    return Meant(
        row["group"],
        row["language"],
        row["typed"],
        row["brand"],
        kinds,
        row["gender"],
        row["colour"],
        line,
        int(more or 0),
        row["model"],
    )
