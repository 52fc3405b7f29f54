"""What a person decides on pictures: a look that is not shown, a picture that is well, a product's order and cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import images
from bobusang.kit.errors import Invalid, Missing
from bobusang.stages.image import doubts, revisits, store
from bobusang.stages.image.look import alike
from bobusang.stages.image.model import Good, Limits
from bobusang.stages.image.rules import ANOTHER_COVER, judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.catalog.images import ProductImage
    from bobusang.kit.db import Tx
    from bobusang.stages.image.look import Look

Images = tuple["ProductImage", ...]


async def block(tx: Tx, sha256: str, reason: str, *, by: str) -> Look:
    """Whatever looks like this must not be shown; `revisits.like` tells the products that do, once this is written."""
    look = await store.block(tx, sha256, reason, by=by)
    files = await store.files(tx, await doubts.waiting(tx))
    await doubts.settled(tx, [one.sha256 for one in files.values() if alike(look, one.look)])
    return look


async def unblock(tx: Tx, sha256: str) -> tuple[tuple[Look, str], ...]:
    """Allow again what looks like this; the blocks that were taken away, with their reasons."""
    file = (await store.files(tx, [sha256])).get(sha256)
    gone = tuple(one for one in await store.blocks(tx) if file is not None and alike(one[0], file.look))
    if not gone:
        raise Missing("nothing that looks like this is blocked", hint="`bobusang picture blocks` lists what is")
    for look, _ in gone:
        await store.unblock(tx, look)
    return gone


async def allow(tx: Tx, sha256: str, *, by: str) -> int:
    """This very picture may stand on many products; how many of them are looked at again."""
    await doubts.allow(tx, sha256, by=by)
    found = await images.showing(tx, [sha256])
    await revisits.ask(tx, found)
    return len(found)


async def order(tx: Tx, product_id: int, positions: Sequence[int]) -> tuple[Images, Images]:
    """A product's pictures before, and as a person wants them; its cover waits for nobody any more."""
    before = (await images.of(tx, [product_id]))[product_id]
    after = await images.order(tx, product_id, positions)
    await doubts.decided(tx, [product_id])
    return before, after


async def accept(tx: Tx, product_id: int) -> tuple[Images, Images]:
    """Take what the address of the cover gives now; the pictures before and after."""
    await images.lock(tx, [product_id])
    before = (await images.of(tx, [product_id]))[product_id]
    if not before or before[0].reason != ANOTHER_COVER:
        raise Invalid(
            f"the cover of product {product_id} waits for nobody", hint="`bobusang picture doubts` shows those that do"
        )
    url = before[0].source_url
    known = (await store.known(tx, [url])).get(url)
    finding = None if known is None or known.file is None else judged(known.file, Limits(), await store.blocks(tx))
    if not isinstance(finding, Good):
        raise Invalid(
            f"{url} gives no picture that may be shown", hint="`bobusang picture order` keeps the one there is"
        )
    after = await images.renew_cover(tx, product_id, finding.file.sha256)
    await revisits.ask(tx, [product_id])
    await doubts.decided(tx, [product_id])
    return before, after
