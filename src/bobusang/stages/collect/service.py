"""Collecting: runs are planned, their pages become truth or held writes, and their end proves what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import records, seen
from bobusang.stages.collect import closing, runs, saving, wanting
from bobusang.stages.collect.archive import Archive
from bobusang.stages.collect.deciding import Deciding
from bobusang.stages.collect.model import Fetched, Run, RunMode, Saved, Summary
from bobusang.stages.collect.source import WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bobusang.kit.db import Tx
    from bobusang.platform.blob import Blobs
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.source import Ask, Source, Target
    from bobusang.stages.collect.wanting import Holds


class Collecting:
    """The collect stage's service; `source` finds a source by its name.

    A flow calls `plan` when a run begins; for a batch of pages `archive.keep`, then `wanted` (both before the
    transaction), then `save` in the transaction that finishes their tasks; and `close` when all tasks of the run are
    over. `deciding` approves and rejects what guards have held.
    """

    def __init__(self, blobs: Blobs, source: Callable[[str], Source]) -> None:
        self.archive = Archive(blobs)
        self.deciding = Deciding(lambda name: source(name).policy)
        self._source = source

    async def plan(self, tx: Tx, source: Source, target: Target, mode: RunMode, run: int) -> list[Ask]:
        """Begin a run: its first requests, and the own pages of items that the list did not show the last time.

        `run` is the job's id: later runs of a target have higher ones. Planning the same run again begins nothing anew.
        """
        begun = Run(run, source.name, target.name, mode, 0, tx.now)
        if target.kind == WINDOW:
            # What has changed is a share of all that the source has, not of what has changed before.
            every = await records.count(tx, source.name, source.policy.type)
            await runs.opened(tx, Run(run, source.name, target.name, mode, every, tx.now))
            return list(source.seeds(target))
        scope = await seen.scope(tx, source.name, begun.scope)
        known = (await seen.counts(tx, scope, run)).known
        await runs.opened(tx, Run(run, source.name, target.name, mode, known, tx.now))
        doubted = [one.key for one in await seen.missed(tx, scope)]
        return [*source.seeds(target), *(source.items(target, doubted) if doubted else ())]

    async def wanted(self, tx: Tx, fetched: Sequence[Fetched], holds: Holds) -> list[tuple[Ask, ...]]:
        """Of each page's asks those to be made: lists always, an item's pages when their condition holds of the item as
        it is known before these pages are saved. A PARTIAL run asks for no unknown item. It only reads."""
        return await wanting.wanted(tx, self._policies(fetched), fetched, holds)

    async def save(self, tx: Tx, fetched: Sequence[Fetched]) -> Saved:
        """Write what a batch of pages says, of whichever runs and sources, in the caller's transaction, in a number of
        statements that does not grow with the number of items."""
        raw_ids = await self.archive.index(tx, fetched)
        return await saving.save(tx, self._policies(fetched), fetched, raw_ids)

    async def close(self, tx: Tx, run: int, *, failed: int = 0) -> Summary:
        """End a run whose tasks are all over; `failed` of its list pages could not be read. See `closing.close`."""
        begun = await runs.get(tx, run)
        return await closing.close(tx, self._source(begun.source).policy, run, failed=failed)

    def _policies(self, fetched: Sequence[Fetched]) -> dict[str, Policy]:
        return {name: self._source(name).policy for name in {page.source for page in fetched}}
