"""The market's master lists: fetched or read as files, imported together, and mappings proposed from them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.catalog import assigning, brands, categories
from bobusang.catalog.model import Review
from bobusang.kit.errors import Missing, Unavailable
from bobusang.kit.http import Call
from bobusang.kit.sql import Statement
from bobusang.stages.convert import mapping, mastering, memory
from bobusang.stages.convert.masters import LONGEST, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bobusang.catalog.assigning import Assigned
    from bobusang.catalog.brands import MallBrand
    from bobusang.catalog.categories import MallCategory
    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Transport
    from bobusang.stages.convert.glossary import Glossary
    from bobusang.stages.convert.mastering import Imported
    from bobusang.stages.convert.masters import Masters

TIMEOUT = timedelta(minutes=2)
AT_ONCE = 3
ALL = 1_000_000

MALLS = Statement("select mall_name from mall_brands union select mall_name from mall_categories order by mall_name")


@dataclass(frozen=True, slots=True)
class Proposed:
    """How many rows got a proposal that a person may accept."""

    brands: int = 0
    categories: int = 0


@dataclass(frozen=True, slots=True)
class Unreviewed:
    """Brands and categories of all malls, and all that proposals for them are found by."""

    brands: Sequence[MallBrand]
    """Reviewed ones too: their names tell what others are called."""
    categories: Sequence[MallCategory]
    masters: Masters
    glossary: Glossary


@dataclass(frozen=True, slots=True)
class Compared:
    """What is near enough to be written beside its row."""

    brands: Sequence[Assigned]
    categories: Sequence[Assigned]


async def fetched(transport: Transport, url: str) -> dict[Kind, bytes]:
    """All lists below an address; one that cannot be had fails them all, because they belong together."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(kind: Kind) -> bytes:
        async with gate:
            answer = await transport.send(Call(f"{url.rstrip('/')}/{kind}.csv", most=LONGEST, timeout=TIMEOUT))
        if answer.status != 200:
            raise Unavailable(f"the list of {kind} was answered with HTTP {answer.status}", hint="try again later")
        return answer.body

    found = await asyncio.gather(*(one(kind) for kind in Kind))
    return dict(zip(Kind, found, strict=True))


def local(folder: Path) -> dict[Kind, bytes]:
    """The lists that lie in a folder under the names of their files; at least one must."""
    paths = {kind: folder / f"{kind}.csv" for kind in Kind}
    found = {kind: _content(path) for kind, path in paths.items() if path.is_file()}
    if not found:
        names = ", ".join(path.name for path in paths.values())
        raise Missing(f"there is no master list in {folder}", hint=f"they are called {names}", field="folder")
    return found


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LONGEST + 1)  # one more than is read, so that a larger file is refused


async def take_in(tx: Tx, market: str, files: Mapping[Kind, bytes], *, shrink: bool = False) -> list[Imported]:
    """Import lists as one whole: one that is refused leaves all as they were."""
    return [await mastering.take_in(tx, market, kind, data, shrink=shrink) for kind, data in files.items()]


async def refreshed(
    db: Database, transport: Transport, market: str, url: str, *, shrink: bool = False
) -> list[Imported]:
    """Fetch all lists and import them."""
    files = await fetched(transport, url)
    return await db.transact(lambda tx: take_in(tx, market, files, shrink=shrink))


async def unreviewed(tx: Tx, market: str) -> Unreviewed:
    """What waits for a review, in all malls."""
    names = [row["mall_name"] for row in await tx.fetch(MALLS)]
    every = [one for mall in names for one in await brands.listed(tx, mall, limit=ALL)]
    open_ = [one for mall in names for one in await categories.listed(tx, mall, review=Review.PROPOSED, limit=ALL)]
    return Unreviewed(every, open_, await mastering.current(tx, market), await memory.glossary(tx))


def compared(found: Unreviewed) -> Compared:
    """What it probably is. Thousands of names are compared with tens of thousands, for minutes: never on the loop, nor
    in a transaction, where nobody else could write meanwhile."""
    waiting = [one for one in found.brands if one.review is Review.PROPOSED]
    near = mapping.propose_brands(waiting, found.masters, mapping.aliases_of(found.brands))
    far = mapping.propose_categories(found.categories, found.masters, found.glossary)
    return Compared(mapping.sure(near), mapping.sure(far))


async def propose(tx: Tx, found: Compared) -> Proposed:
    """Write it beside what nobody has reviewed meanwhile; only a person accepts."""
    return Proposed(
        await assigning.propose_brands(tx, found.brands), await assigning.propose_categories(tx, found.categories)
    )
