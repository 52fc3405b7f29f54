"""What the translation memory holds: each text with its translation, who translated it, and what that cost."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.stages.convert.memory import KO_JA
from bobusang.stages.convert.tables import Origin, translation_memory
from bobusang.views.columns import below, window

WINDOW = 20_000
"""How many texts one request looks through for a word: no index helps, and there are hundreds of thousands."""

_TABLE = translation_memory.c
_OURS = (_TABLE.source_lang == KO_JA.source, _TABLE.target_lang == KO_JA.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationLine:
    """A text and its translation; `cost_micros` in millionths of a US dollar."""

    id: int
    text: str
    translation: str
    origin: Origin
    model: str | None
    cost_micros: int
    created_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Translations:
    """Translations, newest first, and the id to go on from (None: there are no more)."""

    lines: list[TranslationLine]
    resume: int | None


async def listed(tx: Tx, text: str, origin: str | None, *, before: int | None, limit: int) -> Translations:
    """Those with the word in text or translation. One call looks through a bounded number of them for it, and says
    where to go on."""
    clauses: list[Any] = [*_OURS, *below(_TABLE.id, before)]
    end: int | None = None
    if text:
        end = await window(tx, _TABLE.id, before, WINDOW)
        clauses += [] if end is None else [_TABLE.id >= end]
        called = (_TABLE.source_text, _TABLE.target_text)
        clauses.append(or_(*(func.lower(one).contains(text.lower(), autoescape=True) for one in called)))
    if origin is not None:
        clauses.append(_TABLE.origin == origin)
    query = select(translation_memory).where(*clauses).order_by(_TABLE.id.desc()).limit(limit + 1)
    rows = await tx.fetch(query)
    lines = list(map(_line, rows[:limit]))
    return Translations(lines=lines, resume=lines[-1].id if len(rows) > limit else end)


async def one(tx: Tx, hash: str) -> TranslationLine:
    """A text by its digest."""
    row = await tx.first(select(translation_memory).where(*_OURS, _TABLE.source_hash == hash))
    if row is None:
        raise Missing("the memory does not hold this text", hint="`bobusang translation list` shows what it holds")
    return _line(row)


def _line(row: Row) -> TranslationLine:
    return TranslationLine(
        id=row["id"],
        text=row["source_text"],
        translation=row["target_text"],
        origin=Origin(row["origin"]),
        model=row["model"],
        cost_micros=row["cost_micros"],
        created_at=utc(row["created_at"]),
        used_at=None if row["used_at"] is None else utc(row["used_at"]),
    )
