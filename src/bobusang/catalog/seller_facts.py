"""What the pages of products say of who sells them ([D]): kept with the mall's sellers, beside what a person wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.model import ChangeKind, SellerStatus
from bobusang.catalog.sellers import DAILY
from bobusang.catalog.tables import sellers
from bobusang.catalog.tables.products import NAME_LENGTH
from bobusang.catalog.tables.records import ID_LENGTH
from bobusang.kit.sql import Bulk, Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.catalog.model import Change
    from bobusang.kit.db import Row, Tx

SELLER = "seller"
COLUMNS = ("name", "company", "contact", "email")
"""Each is told by the field `seller_<column>` of a product."""
FIELDS = (SELLER, *(f"{SELLER}_{column}" for column in COLUMNS))

KNOWN = Statement("""
    select id, seller_id, name, company, contact, email from sellers where mall = :mall and seller_id in (:ids...)""")

_NEW = Bulk(
    sellers,
    ("mall", "seller_id", *COLUMNS, "status", "cadence_minutes", "adaptive", "created_at", "updated_at"),
    keep=True,
)
_TOLD = Revise(sellers, "id", (*COLUMNS, "updated_at"))

Facts = dict[str, tuple[str | None, str | None]]
"""By column: what was said before, and what is said now."""


async def learn(tx: Tx, mall: str, changes: Iterable[Change]) -> None:
    """Keep what changed products newly say of their sellers. A seller that nobody asked to be crawled is not crawled.

    Whoever wrote something else into a seller meant it: only what is empty, or what the source itself said before, is
    written over.
    """
    found: dict[str, Facts] = {}
    for change in changes:
        if change.after.get(SELLER) is None:  # as of most that sell for themselves
            continue
        seller, facts = _facts(change)
        if facts:
            found.setdefault(seller, {}).update(facts)
    if not found:
        return
    known = {row["seller_id"]: row for row in await tx.fetch(KNOWN, mall=mall, ids=sorted(found))}
    new, told = [], []
    for seller, facts in sorted(found.items()):
        if seller not in known:
            said = [facts.get(column, (None, None))[1] for column in COLUMNS]
            new.append((mall, seller, *said, SellerStatus.ACTIVE.value, DAILY, False, tx.now, tx.now))
        elif (merged := _merged(known[seller], facts)) != [known[seller][column] for column in COLUMNS]:
            told.append((known[seller]["id"], *merged, tx.now))
    await tx.insert(_NEW, new)
    await tx.revise(_TOLD, told)


def _facts(change: Change) -> tuple[str, Facts]:
    """The seller of a changed product, and what is newly said of it."""
    before, after = change.before or {}, change.after
    if change.kind is ChangeKind.SAME or all(before.get(name) == after.get(name) for name in FIELDS):
        return "", {}
    seller = _text(after.get(SELLER), ID_LENGTH)
    same = before.get(SELLER) == after.get(SELLER)
    facts: Facts = {}
    for column in COLUMNS:
        now = _text(after.get(f"{SELLER}_{column}"), NAME_LENGTH)
        if seller and now:
            facts[column] = (_text(before.get(f"{SELLER}_{column}"), NAME_LENGTH) if same else None, now)
    return seller or "", facts


def _merged(row: Row, facts: Facts) -> list[str | None]:
    found = []
    for column in COLUMNS:
        was, now = facts.get(column, (None, None))
        found.append(now if now and row[column] in (None, "", was) else row[column])
    return found


def _text(value: object, length: int) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return value.strip()[:length] or None if isinstance(value, str) and "\0" not in value else None
