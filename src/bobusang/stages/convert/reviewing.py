"""A reviewed mapping as a file: brands and categories of malls with the market's, out as CSV and in again."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.catalog import assigning, brands, categories
from bobusang.catalog.assigning import Assigned
from bobusang.catalog.model import Review
from bobusang.kit.commas import reading
from bobusang.kit.errors import Invalid
from bobusang.kit.formula import defused, plain
from bobusang.stages.convert.masters import SHOWN, Kind, Masters, market_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Tx

COLUMNS = ("kind", "mall", "key", "name_ko", "name_en", "market_id", "market_name", "review")
ALL = 1_000_000


class Subject(StrEnum):
    BRAND = "brand"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the file: a mall's brand or category, and what a person says of it."""

    kind: Subject
    mall: str
    key: str
    name_ko: str = ""
    name_en: str = ""
    market_id: int | None = None
    market_name: str = ""
    review: Review = Review.PROPOSED


def written(lines: Iterable[Line]) -> str:
    """The file's text, by kind, mall and key, so that two exports can be compared line by line."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for one in sorted(lines, key=lambda line: (line.kind, line.mall, line.key)):
        id = "" if one.market_id is None else one.market_id
        texts = [defused(text) for text in (one.mall, one.key, one.name_ko, one.name_en)]
        table.writerow((one.kind, *texts, id, defused(one.market_name), one.review))
    return out.getvalue()


def parsed(text: str, masters: Masters) -> list[Line]:
    """The lines of a file; what cannot be meant is refused with its line number, and nothing is taken."""
    with reading("the mapping", COLUMNS):
        rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise Invalid("this is no mapping", hint=f"its first line is {','.join(COLUMNS)}", field="mapping")
    found: dict[tuple[str, str, str], Line] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        one = _line(number, row, masters)
        if found.setdefault((one.kind, one.mall, one.key), one) is not one:
            raise _refused(number, f"the {one.kind} '{one.key}' of {one.mall} comes twice")
    return list(found.values())


def _line(number: int, row: Sequence[str], masters: Masters) -> Line:
    if len(row) != len(COLUMNS):
        raise _refused(number, f"it has {len(row)} columns, not {len(COLUMNS)}")
    kind, mall, key, name_ko, name_en, market_id, market_name, review = (plain(value.strip()) for value in row)
    if kind not in list(Subject) or review not in list(Review) or not mall or not key:
        raise _refused(number, "it needs a kind (brand, category), a mall, a key and a review")
    stands_for = market_number(market_id)
    if market_id and stands_for is None:
        raise _refused(number, f"'{market_id[:SHOWN]}' is no number of the market")
    one = Line(Subject(kind), mall, key, name_ko, name_en, stands_for, market_name, Review(review))
    _check(number, one, masters)
    return one


def _check(number: int, one: Line, masters: Masters) -> None:
    if one.review is Review.ACCEPTED and one.market_id is None:
        raise _refused(number, f"the {one.kind} '{one.key}' is accepted as nothing")
    if one.kind is Subject.CATEGORY and one.market_id == 0:
        raise _refused(number, f"the category '{one.key}' is mapped to 0, which is no category")
    list_of = Kind.CATEGORIES if one.kind is Subject.CATEGORY else Kind.BRANDS
    if one.market_id and not masters.has(list_of, one.market_id):
        raise _refused(number, f"the market has no {one.kind} {one.market_id}")


def _refused(number: int, why: str) -> Invalid:
    return Invalid(f"line {number} of the mapping: {why}", hint="mend the line; nothing was taken", field="mapping")


async def exported(tx: Tx, mall: str) -> list[Line]:
    """All brands and categories of a mall."""
    return [
        *(
            Line(
                *(Subject.BRAND, mall, one.key, one.name_ko or "", one.name_en or "", one.buyma_brand_id),
                *(one.buyma_brand_name or "", one.review),
            )
            for one in await brands.listed(tx, mall, limit=ALL)
        ),
        *(
            Line(Subject.CATEGORY, mall, one.full_path, market_id=one.buyma_category_id, review=one.review)
            for one in await categories.listed(tx, mall, limit=ALL)
        ),
    ]


async def imported(tx: Tx, lines: Sequence[Line]) -> int:
    """Take a reviewed mapping in; rows that no crawl has proposed yet are made."""
    for mall in sorted({one.mall for one in lines}):
        mine = [one for one in lines if one.mall == mall]
        await _take_brands(tx, mall, [one for one in mine if one.kind is Subject.BRAND])
        await _take_categories(tx, mall, [one for one in mine if one.kind is Subject.CATEGORY])
    return len(lines)


async def _take_brands(tx: Tx, mall: str, lines: Sequence[Line]) -> None:
    known = {one.key: one.id for one in await brands.listed(tx, mall, limit=ALL)}
    new = [brands.Proposal(one.key, one.name_ko, one.name_en) for one in lines if one.key not in known]
    if new:
        await brands.propose(tx, mall, new)
        known = {one.key: one.id for one in await brands.listed(tx, mall, limit=ALL)}
    await assigning.review_brands(
        tx, [Assigned(known[one.key], one.market_id, one.market_name or None, 1, one.review) for one in lines]
    )


async def _take_categories(tx: Tx, mall: str, lines: Sequence[Line]) -> None:
    known = {one.full_path: one.id for one in await categories.listed(tx, mall, limit=ALL)}
    new = [categories.Proposal(tuple(one.key.split(categories.SEPARATOR))) for one in lines if one.key not in known]
    if new:
        await categories.propose(tx, mall, new)
        known = {one.full_path: one.id for one in await categories.listed(tx, mall, limit=ALL)}
    await assigning.review_categories(tx, [Assigned(known[one.key], one.market_id, review=one.review) for one in lines])
