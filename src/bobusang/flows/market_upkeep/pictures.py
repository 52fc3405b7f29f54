"""Blobs that nobody refers to: a picture whose transaction never came, or was undone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.sql import Statement
from bobusang.platform.blob import RENEW_AFTER

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.platform.blob import Blobs

OLDER_THAN = RENEW_AFTER + timedelta(days=1)
"""Bytes are put before the transaction that refers to them, and bytes put again within a day do not grow younger."""
AT_ONCE = 500

# The raw pages and the webhooks that nobody has read yet share the store with the pictures.
REFERRED = Statement("""
    select sha256 as value from image_files where sha256 in (:addresses...)
    union select sha256 from image_fetches where sha256 in (:addresses...)
    union select sha256 from product_images where sha256 in (:addresses...)
    union select sha256 from raw_pages where sha256 in (:addresses...)
    union select sha256 from inbound_events where state in ('RECEIVED', 'FAILED') and sha256 in (:addresses...)""")


async def sweep(db: Database, blobs: Blobs, *, older_than: timedelta = OLDER_THAN, at_once: int = AT_ONCE) -> int:
    """Delete them; how many."""
    gone, batch = 0, list[str]()
    async for address in blobs.addresses(older_than=db.clock.now() - older_than):
        batch.append(address)
        if len(batch) == at_once:
            gone += await _free(db, blobs, batch)
            batch = []
    return gone + await _free(db, blobs, batch)


async def _free(db: Database, blobs: Blobs, addresses: list[str]) -> int:
    if not addresses:
        return 0
    async with db.read() as tx:
        needed = {row["value"] for row in await tx.fetch(REFERRED, addresses=addresses)}
    free = [address for address in addresses if address not in needed]
    await blobs.delete(free)
    return len(free)
