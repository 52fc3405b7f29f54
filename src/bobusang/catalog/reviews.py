"""Review of what a mall proposes: NULL proposed, 1 accepted, 0 blocked; collecting proposes, only a person decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from bobusang.catalog.model import Review

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Table
    from sqlalchemy.sql import ColumnElement

    from bobusang.kit.db import Tx

CODES: dict[Review, int | None] = {Review.PROPOSED: None, Review.ACCEPTED: 1, Review.BLOCKED: 0}
REVIEWS = {code: review for review, code in CODES.items()}


def under(table: Table, review: Review | None) -> list[ColumnElement[Any]]:
    """The condition for rows under a review; none for all."""
    if review is None:
        return []
    return [table.c.is_active.is_(None) if review is Review.PROPOSED else table.c.is_active == CODES[review]]


async def decide(tx: Tx, table: Table, ids: Sequence[int], review: Review) -> int:
    """Put rows under a review; how many there were."""
    if not ids:
        return 0
    changed = update(table).where(table.c.id.in_(sorted(set(ids))))
    return await tx.execute(changed.values(is_active=CODES[review], updated_at=tx.now))
