"""The glossary as it is shown: the operator's terms, then those that are shipped and that he has not replaced."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.convert.glossary import shipped
from bobusang.stages.convert.memory import KO_JA
from bobusang.stages.convert.tables import glossary_terms
from bobusang.views.columns import below

OWN = Statement("""
    select term from glossary_terms where source_lang = :source and target_lang = :target and term in (:terms...)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryLine:
    """A term. Of the operator's, `replaces` is the shipped translation that it stands in for; a shipped one has its
    place in the shipped list for an id."""

    id: int
    term: str
    translation: str
    kind: str
    case_sensitive: bool
    shipped: bool
    replaces: str | None
    created_at: datetime | None


async def own(tx: Tx, text: str, *, before: int | None, limit: int) -> list[GlossaryLine]:
    """The operator's terms, newest first; those with the text in word or translation."""
    table = glossary_terms.c
    clauses: list[Any] = [table.source_lang == KO_JA.source, table.target_lang == KO_JA.target]
    if text:
        called = (table.term, table.translation)
        clauses.append(or_(*(func.lower(one).contains(text.lower(), autoescape=True) for one in called)))
    query = select(glossary_terms).where(*clauses, *below(table.id, before)).order_by(table.id.desc()).limit(limit)
    replaced = {one.term: one.translation for one in shipped()}
    return [_own(row, replaced.get(row["term"])) for row in await tx.fetch(query)]


async def unreplaced(tx: Tx, text: str, *, after: int, limit: int) -> list[GlossaryLine]:
    """The shipped terms that count, in their own order, by kind."""
    wanted = text.lower()
    found = [
        GlossaryLine(
            id=place,
            term=one.term,
            translation=one.translation,
            kind=one.kind,
            case_sensitive=one.case_sensitive,
            shipped=True,
            replaces=None,
            created_at=None,
        )
        for place, one in enumerate(shipped(), start=1)
        if place > after and (wanted in one.term.lower() or wanted in one.translation.lower())
    ]
    names = [one.term for one in found]
    rows = await tx.fetch(OWN, source=KO_JA.source, target=KO_JA.target, terms=names) if names else ()
    replaced = {row["term"] for row in rows}
    return [one for one in found if one.term not in replaced][:limit]


def _own(row: Row, replaces: str | None) -> GlossaryLine:
    return GlossaryLine(
        id=row["id"],
        term=row["term"],
        translation=row["translation"],
        kind=row["kind"],
        case_sensitive=bool(row["case_sensitive"]),
        shipped=False,
        replaces=replaces,
        created_at=utc(row["created_at"]),
    )
