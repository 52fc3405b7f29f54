"""The market's own lists (brands, categories, sizes, colours, …): read from its CSV files, compared, looked up."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.stages.convert import colors, sizes
from bobusang.stages.convert.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Row = dict[str, str]
LONGEST = 20_000_000
"""More bytes than any of the lists has (22,567 brands are about a megabyte)."""
SHOWN = 30
_BESIDE = re.compile(r"[()\[\]/,]")
_LETTER = re.compile(r"(?:[2-9]?X|X{2,4})?[SL]|M|SMALL|MEDIUM|X?-?LARGE")


class Kind(StrEnum):
    """The lists, by the names of their files."""

    AREAS = "areas"
    BRANDS = "brands"
    CATEGORIES = "categories"
    COLORS = "colors"
    SIZES = "sizes"
    SIZE_DETAILS = "size_details"
    SEASONS = "seasons"
    THEMES = "themes"
    TAGS = "tags"
    UNITS = "units"
    MODELS = "models"
    SHIPPING_SERVICES = "shipping_services"


KEYS: dict[Kind, tuple[str, ...]] = {
    Kind.SIZE_DETAILS: ("category_id", "name"),
    Kind.SIZES: ("id", "category_id"),
    Kind.TAGS: ("id", "category_id"),
    Kind.UNITS: ("name",),
}
"""What tells the rows of a list apart; for all others it is their `id`. A column that a file lacks is left out."""

REQUIRED: dict[Kind, tuple[tuple[str, ...], ...]] = {
    Kind.BRANDS: (("id",), ("brand_name", "name")),
    Kind.CATEGORIES: (("id",), ("name",)),
    Kind.COLORS: (("id",), ("name",)),
    Kind.SEASONS: (("id",), ("name",)),
    Kind.SIZES: (("id",), ("name",), ("category_id",)),
    Kind.SIZE_DETAILS: (("name",), ("category_id",)),
    Kind.UNITS: (("name",),),
}
"""The columns that a list is looked up by, one of each group."""
ID = (("id",),)
"""What all other lists need."""

TELLING: dict[str, tuple[Kind, ...]] = {
    "paths": (Kind.CATEGORIES,),
    "brand_name": (Kind.BRANDS, Kind.MODELS),
    "brand_id": (Kind.MODELS,),
    "category_id": (Kind.SIZES, Kind.SIZE_DETAILS, Kind.TAGS),
    "continent": (Kind.AREAS,),
    "anonymous_delivery": (Kind.SHIPPING_SERVICES,),
}
"""Columns that tell which list a file is: many lists have an `id` and a `name`."""

NUMBERS = ("id", "category_id")
LARGEST = 2**63 - 1
"""What the database holds."""

OPTIONS = (Kind.COLORS, Kind.SIZES, Kind.SIZE_DETAILS, Kind.SEASONS)
"""The lists that every product is made by; of brands and categories each product needs but one row."""

OTHER = ("その他", "指定なし")
"""How a list names what it has no name for."""

NAMES: dict[Kind, tuple[str, ...]] = {Kind.BRANDS: ("brand_name", "name"), Kind.AREAS: ("city", "country", "name")}


@dataclass(frozen=True, slots=True)
class Difference:
    """What a new version of a list adds, changes and no longer has, by key."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        return not (self.added or self.changed or self.vanished)


def parse(kind: Kind, data: bytes) -> list[Row]:
    """The rows of a file; one that is cut off, empty or of another list is refused as a whole."""
    rows = _lines(kind, data)
    header = [name.strip().lower() for name in rows[0]] if rows else []
    _check_header(kind, header)
    found = []
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise _refused(kind, f"line {line} has {len(row)} columns, not {len(header)}")
        found.append({name: clean(value) for name, value in zip(header, row, strict=True)})
        _check_numbers(kind, line, found[-1])
    if not found:
        raise _refused(kind, "it has no rows")
    if len(keyed(kind, found)) < len(found):
        raise _refused(kind, "a row comes twice")
    return found


def _check_header(kind: Kind, header: Sequence[str]) -> None:
    for names in REQUIRED.get(kind, ID):
        if not set(names).intersection(header):
            raise _refused(kind, f"its first line has no column {' or '.join(names)}")
    if "" in header or len(set(header)) < len(header):
        raise _refused(kind, "its first line has a column twice, or one without a name")
    for name in header:
        if kind not in TELLING.get(name, (kind,)):
            raise _refused(kind, f"its column {name} is of the list of {' or '.join(TELLING[name])}")


def _check_numbers(kind: Kind, line: int, row: Row) -> None:
    """Options and categories are looked up by these; a size without a category is one of all categories."""
    for name, *_ in REQUIRED.get(kind, ID):
        text = row.get(name, "")
        if name in NUMBERS and market_number(text) is None and (text or name == "id"):
            raise _refused(kind, f"line {line}: the {name} '{text[:SHOWN]}' is no number of the market")


def market_number(text: str) -> int | None:
    """A number of the market as its lists write it; None: this is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST))):
        return None
    found = int(text)
    return found if found <= LARGEST else None


def _lines(kind: Kind, data: bytes) -> list[list[str]]:
    if len(data) > LONGEST:
        raise _refused(kind, f"it has {len(data):,} bytes, at most {LONGEST:,} are read")
    try:
        return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except UnicodeDecodeError as error:
        raise _refused(kind, f"it is not UTF-8 at byte {error.start:,}") from error
    except csv.Error as error:
        raise _refused(kind, f"it is not CSV: {error}") from error


def _refused(kind: Kind, why: str) -> Invalid:
    return Invalid(f"the list of {kind} cannot be read: {why}", hint="fetch the file again", field=kind)


def keyed(kind: Kind, rows: Sequence[Row]) -> dict[str, Row]:
    """Rows by what tells them apart."""
    names = KEYS.get(kind, ("id",))
    return {"/".join(row[name] for name in names if name in row): row for row in rows}


def difference(kind: Kind, before: Sequence[Row], after: Sequence[Row]) -> Difference:
    """What has changed from one version of a list to the next."""
    old, new = keyed(kind, before), keyed(kind, after)
    return Difference(
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(key for key in new.keys() & old.keys() if new[key] != old[key])),
        tuple(sorted(old.keys() - new.keys())),
    )


def checksum(rows: Sequence[Row]) -> str:
    """The same for the same rows, in whatever order and quoting they came."""
    lines = sorted("\x1f".join(f"{name}={row[name]}" for name in sorted(row)) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def name_of(kind: Kind, row: Row) -> str:
    """What a row is called."""
    return next((row[name] for name in NAMES.get(kind, ("name",)) if row.get(name)), "")


def path_of(kind: Kind, row: Row) -> str:
    """The same with what it stands under."""
    return " > ".join(filter(None, (row.get("paths"), name_of(kind, row))))


@dataclass(frozen=True)
class Masters:
    """The current lists of a market, to be looked up."""

    lists: Mapping[Kind, Sequence[Row]]

    def rows(self, kind: Kind) -> Sequence[Row]:
        return self.lists.get(kind, ())

    def numbered(self, kind: Kind) -> Iterator[tuple[int, Row]]:
        """Rows with their numbers; a version that was stored before they were checked may have some without."""
        return ((id, row) for row in self.rows(kind) if (id := market_number(row.get("id", ""))) is not None)

    def has(self, kind: Kind, id: int) -> bool:
        """Whether a list has this id; a list that was never imported is not asked."""
        return kind not in self.lists or id in self._ids[kind]

    def name(self, kind: Kind, id: int) -> str:
        row = self._ids[kind].get(id)
        return name_of(kind, row) if row else ""

    def size(self, category_id: int, text: str) -> int | None:
        """The number of a size within a category, as it is written there or by its letter; else that of what it calls
        other."""
        names = (sizes.written(text), *_lettered(text), *OTHER)
        asked = ((category, name) for category in (category_id, 0) for name in names)
        return next((found for one in asked if (found := self._sizes.get(one)) is not None), None)

    def color(self, text: str) -> int | None:
        """The number of a colour's family; None where the family is not known or the market has none such."""
        family = colors.family(text)
        return None if family is None else self._colors.get(family)

    def measures(self, category_id: int) -> frozenset[str]:
        """The measurements that a category allows."""
        return self._measures.get(category_id, frozenset())

    def season(self, text: str) -> int | None:
        """The number of a season by its name; autumn and winter is AW to one and FW to another."""
        return self._seasons.get(_season(text))

    @cached_property
    def mark(self) -> str:
        """Of the lists that options are looked up in: the same for the same rows."""
        return " ".join(checksum(self.rows(kind)) for kind in OPTIONS)

    @cached_property
    def _ids(self) -> dict[Kind, dict[int, Row]]:
        return {kind: dict(self.numbered(kind)) for kind in Kind}

    @cached_property
    def _sizes(self) -> dict[tuple[int, str], int]:
        found: dict[tuple[int, str], int] = {}
        for id, row in self.numbered(Kind.SIZES):
            found.setdefault((_category(row), sizes.written(row.get("name", ""))), id)
        for (category, name), id in tuple(found.items()):  # after the names: a list may have both XXL and 2XL
            for letter in _lettered(name):
                found.setdefault((category, letter), id)
        return found

    @cached_property
    def _colors(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for id, row in self.numbered(Kind.COLORS):
            family = colors.family(name_of(Kind.COLORS, row))
            if family is not None:
                found.setdefault(family, id)
        # A market that does not tell navy from blue has both in one.
        if "blue" in found:
            found.setdefault("navy", found["blue"])
        return found

    @cached_property
    def _measures(self) -> dict[int, frozenset[str]]:
        found: defaultdict[int, set[str]] = defaultdict(set)
        for row in self.rows(Kind.SIZE_DETAILS):
            found[_category(row)].add(row.get("name", ""))
        return {category: frozenset(names) for category, names in found.items()}

    @cached_property
    def _seasons(self) -> dict[str, int]:
        return {_season(name_of(Kind.SEASONS, row)): id for id, row in self.numbered(Kind.SEASONS)}


@lru_cache(maxsize=8192)
def _lettered(text: str) -> tuple[str, ...]:
    """The one letter that a size is, beside what is only told with it: `S(95)`, `Small`, `XXL / 110`.

    The L of `W32 L34` and the M of `US M10` are no sizes, so a letter that stands with others is none.
    """
    whole = [part for part in _BESIDE.split(text) if _LETTER.fullmatch(sizes.written(part).upper())]
    return tuple(sizes.letters(whole[0])) if whole and len(sizes.letters(text)) == 1 else ()


def _season(text: str) -> str:
    return clean(text).casefold().replace(" ", "").replace("/", "").replace("fw", "aw")


def _category(row: Row) -> int:
    """Whose row it is; 0: every category's."""
    return market_number(row.get("category_id", "")) or 0
