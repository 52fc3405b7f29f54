"""SQL and index compared product by product, by number and digest, and repaired from SQL."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.catalog import colours
from bobusang.flows.indexing import documents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.flows.indexing.indexer import Indexer
    from bobusang.kit.db import Database

PAGE = 5_000
SHOWN = 20


class Kind(StrEnum):
    """How an index may differ from the truth."""

    MISSING = "missing"
    EXTRA = "extra"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Difference:
    """One product of which the index says something else than SQL."""

    id: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison found: how many were compared, the differences by kind, the first of them, and how many were
    repaired."""

    compared: int
    missing: int
    extra: int
    different: int
    first: tuple[Difference, ...]
    repaired: int

    @property
    def clean(self) -> bool:
        """Whether index and SQL say the same."""
        return self.missing + self.extra + self.different == self.repaired


async def verify(indexer: Indexer, *, repair: bool, page: int = PAGE) -> Verdict:
    """Compare all there is. What differs is looked at once more before it counts, under the turn of the indexer: a
    change that is on its way is no difference, for it was brought meanwhile or is brought now. Who repairs also gives
    products their colours that were collected before those were kept."""
    if repair:
        async for _ in colours.told(indexer.db):
            pass
    indexer.forget_aliases()
    await indexer.index.renew()
    found = [one async for one in differences(digests(indexer, page), indexer.index.digests())]
    lasting = [one for at in range(0, len(found), page) for one in await _lasting(indexer, found[at : at + page])]
    counts = {kind: sum(one.kind is kind for one in lasting) for kind in Kind}
    compared = await indexer.index.count() + counts[Kind.MISSING]
    if repair:
        await indexer.bring([one.id for one in lasting], tell=False)
    return Verdict(
        compared=compared,
        missing=counts[Kind.MISSING],
        extra=counts[Kind.EXTRA],
        different=counts[Kind.DIFFERENT],
        first=tuple(lasting[:SHOWN]),
        repaired=len(lasting) if repair else 0,
    )


async def _lasting(indexer: Indexer, found: list[Difference]) -> list[Difference]:
    """Those that are still there when SQL and index are read together."""
    ids = [one.id for one in found]
    async with indexer.turn:
        known = await indexer.aliases()
        await indexer.index.renew()
        async with indexer.db.read() as tx:
            ours = {one.id: one for one in await documents.some(tx, indexer.market, known, ids)}
        theirs = await indexer.index.get(ids)
    return [Difference(id, kind) for id in ids if (kind := _kind(ours.get(id), theirs.get(id))) is not None]


def _kind(ours: object | None, theirs: object | None) -> Kind | None:
    if ours == theirs:
        return None
    if theirs is None:
        return Kind.MISSING
    return Kind.EXTRA if ours is None else Kind.DIFFERENT


async def differences(
    ours: AsyncIterator[tuple[int, str | None]], theirs: AsyncIterator[tuple[int, str]]
) -> AsyncIterator[Difference]:
    """Walk two lists that are in the order of their numbers. What has no digest on our side is compared by number."""
    left, right = await anext(ours, None), await anext(theirs, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left[0] < right[0]):
            assert left is not None
            yield Difference(left[0], Kind.MISSING)
            left = await anext(ours, None)
        elif left is None or right[0] < left[0]:
            yield Difference(right[0], Kind.EXTRA)
            right = await anext(theirs, None)
        else:
            if left[1] is not None and left[1] != right[1]:
                yield Difference(left[0], Kind.DIFFERENT)
            left, right = await anext(ours, None), await anext(theirs, None)


async def digests(indexer: Indexer, page: int = PAGE) -> AsyncIterator[tuple[int, str | None]]:
    """Number and digest of every product in SQL, by number."""
    known, last = await indexer.aliases(), 0
    while True:
        async with indexer.db.read() as tx:
            found = await documents.page(tx, indexer.market, known, last, page)
        for one in found:
            yield one.id, one.digest()
        if len(found) < page:
            return
        last = found[-1].id


async def ids(db: Database, page: int = PAGE) -> AsyncIterator[tuple[int, str | None]]:
    """Every product's number in SQL."""
    last = 0
    while True:
        async with db.read() as tx:
            rows = await tx.fetch(documents.IDS, after=last, limit=page)
        for row in rows:
            yield row["id"], None
        if len(rows) < page:
            return
        last = rows[-1]["id"]
