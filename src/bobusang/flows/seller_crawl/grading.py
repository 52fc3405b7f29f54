"""Grading: when a crawl of a seller ends, the quality of its data is measured and kept with its parts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.catalog import sellers as catalog
from bobusang.engine.model import JobStatus
from bobusang.flows.seller_crawl.healing import probe_of
from bobusang.flows.seller_crawl.sellers import of_run, target_name
from bobusang.stages.collect import quality

if TYPE_CHECKING:
    from bobusang.engine.hooks import JobMoved
    from bobusang.kit.db import Tx


async def grade(tx: Tx, moved: JobMoved) -> None:
    """Hooked to the end of jobs. What was seen within two cadences (a day at least) counts as fresh."""
    if not moved.status.ended or moved.status is JobStatus.CANCELLED or probe_of(moved.run) is not None:
        return
    seller = await of_run(tx, moved.run)
    if seller is None:
        return
    fresh = max(quality.FRESH, 2 * timedelta(minutes=seller.cadence_minutes))
    found = await quality.measure(tx, seller.mall, target_name(seller), fresh=fresh)
    parts = {name: round(value, 4) for name, value in asdict(found).items()}
    await catalog.set_quality(tx, seller.id, {"score": found.score, **parts, "measured_at": tx.now.isoformat()})
