"""Products whose pictures are looked at again by the next FULL, because of what a person has said of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import images
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.image.look import COLOUR_APART, Look, alike
from bobusang.stages.image.recipe import ORIGINAL
from bobusang.stages.image.tables import image_revisits

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bobusang.kit.db import Database, Tx

AT_ONCE = 5_000
"""Originals that are looked through, and products that are written down, by one transaction."""
NAMES = 500

ASKED = Statement("select id, product_id, refresh from image_revisits where product_id in (:ids...)")
ANSWERED = Statement("delete from image_revisits where id in (:ids...)")
# By the red of the first field, in hexadecimal: no index, but most rows stay in the database.
ORIGINALS = Statement(f"""
    select made_from, phash, colours from image_files
    where made_from > :after and recipe = '{ORIGINAL}' and colours >= :low and colours < :high
    order by made_from limit :limit""")

_NEW = Bulk(image_revisits, ("product_id", "refresh", "asked_at"))


async def asked(tx: Tx, product_ids: Sequence[int]) -> tuple[dict[int, tuple[int, ...]], set[int]]:
    """What people have asked for these products, by product; and those whose addresses are to be asked again."""
    found: dict[int, tuple[int, ...]] = {}
    fresh: set[int] = set()
    for row in await tx.fetch(ASKED, ids=sorted(set(product_ids))) if product_ids else ():
        found[row["product_id"]] = (*found.get(row["product_id"], ()), row["id"])
        if row["refresh"]:
            fresh.add(row["product_id"])
    return found, fresh


async def ask(tx: Tx, product_ids: Collection[int], *, refresh: bool = False) -> None:
    """Have the pictures of these products looked at again; `refresh`: what their addresses give now, too."""
    await tx.insert(_NEW, [(id, refresh, tx.now) for id in sorted(product_ids)])


async def answered(tx: Tx, revisits: Collection[int]) -> None:
    """These were looked at; what was asked meanwhile stays."""
    if revisits:
        await tx.execute(ANSWERED, ids=sorted(revisits))


async def like(db: Database, look: Look) -> int:
    """Have all products looked at again that show what looks like this, or were refused it; how many.

    After the change it follows is written: who saves pictures meanwhile sees that change.
    """
    addresses = await looking_like(db, look)
    found: set[int] = set()
    for start in range(0, len(addresses), NAMES):
        async with db.read() as tx:
            found.update(await images.showing(tx, addresses[start : start + NAMES]))
    ids = sorted(found)
    for start in range(0, len(ids), AT_ONCE):
        part = ids[start : start + AT_ONCE]
        await db.transact(lambda tx, part=part: ask(tx, part))  # type: ignore[misc]
    return len(ids)


async def looking_like(db: Database, look: Look) -> list[str]:
    """All originals that a person would take for this picture."""
    red = int(look.colours[:2], 16)
    low = f"{max(0, red - COLOUR_APART):02x}"
    high = f"{red + COLOUR_APART + 1:02x}" if red + COLOUR_APART < 255 else "g"
    found, after = list[str](), ""
    while True:
        async with db.read() as tx:
            rows = await tx.fetch(ORIGINALS, after=after, low=low, high=high, limit=AT_ONCE)
        found += [row["made_from"] for row in rows if alike(look, Look(row["phash"], row["colours"]))]
        if len(rows) < AT_ONCE:
            return found
        after = rows[-1]["made_from"]
