"""Which answers a change makes old: tags that a product has, and those of which every answer to a query has one.

An answer that was found as it was typed shows only products that have all tokens of each of its words, so one of them
stands for all. One that was found loosely (a typo, another keyboard), or found nothing, could show anything that comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.platform.searches.tokens import filed, shared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.platform.search import Document, Found, Query

ANY = "*"
EVERY = "**"
"""Of every answer: replaced when nobody can tell which of them a change concerns."""


def of_documents(documents: Iterable[Document]) -> set[str]:
    """The tags that changes of these products make old: of all together, for most of them have most in common."""
    texts = [filed(one) for one in documents]
    return {*" ".join(texts).split(), ANY} if texts else set()


def of_query(query: Query) -> tuple[str, ...]:
    """The tags that may matter for the answer to a query."""
    return (*shared(query.keyword)[-1:], ANY, EVERY)


def of_answer(query: Query, found: Found) -> tuple[str, ...]:
    """Those of them that do, now that it is known how it was found."""
    typed = shared(query.keyword)[-1:]
    return (*(typed if typed and found.hits and not found.loose else (ANY,)), EVERY)
