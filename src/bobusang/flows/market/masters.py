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
from bobusang.stages.convert import mapping, mastering
from bobusang.stages.convert.masters import LONGEST, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bobusang.catalog.assigning import Assigned
    from bobusang.catalog.brands import MallBrand
    from bobusang.catalog.categories import MallCategory
    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Transport
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


async def propose(tx: Tx, market: str) -> Proposed:
    """Write what brands and categories nobody has reviewed probably are; only a person accepts."""
    masters = await mastering.current(tx, market)
    names = [row["mall_name"] for row in await tx.fetch(MALLS)]
    every = [one for mall in names for one in await brands.listed(tx, mall, limit=ALL)]
    open_ = [one for mall in names for one in await categories.listed(tx, mall, review=Review.PROPOSED, limit=ALL)]
    # Thousands of names are compared with tens of thousands: not on the loop.
    found = await asyncio.to_thread(_sure, masters, every, open_)
    return Proposed(await assigning.propose_brands(tx, found[0]), await assigning.propose_categories(tx, found[1]))


def _sure(
    masters: Masters, every: Sequence[MallBrand], open_: Sequence[MallCategory]
) -> tuple[list[Assigned], list[Assigned]]:
    aliases = mapping.aliases_of(every)
    unreviewed = [one for one in every if one.review is Review.PROPOSED]
    return (
        mapping.sure(mapping.propose_brands(unreviewed, masters, aliases)),
        mapping.sure(mapping.propose_categories(open_, masters, {})),
    )
