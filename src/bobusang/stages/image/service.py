"""Picturing: plan what is known, work without a transaction, save the places of pictures in one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.catalog import images
from bobusang.catalog.tables.images import ImageState
from bobusang.kit import cores
from bobusang.stages.image import doubts, revisits, store
from bobusang.stages.image.look import twins
from bobusang.stages.image.model import Alarm, Failed, Good, Limits, Picture, Pictured, Plan, Saved
from bobusang.stages.image.rules import (
    ANOTHER_COVER,
    COMES_AGAIN,
    addresses,
    arranged,
    blocked,
    cleared,
    judged,
    lacks_cover,
    spread,
)
from bobusang.stages.image.tables import Doubt
from bobusang.stages.image.working import Bench, Pools

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bobusang.catalog.images import ProductImage
    from bobusang.kit.db import Database, Tx
    from bobusang.kit.errors import BobusangError
    from bobusang.platform.blob import Blobs
    from bobusang.stages.image.look import Look
    from bobusang.stages.image.model import Fetch, Finding, Wanted, Worked
    from bobusang.stages.image.recipe import Recipe

Before = dict[int, tuple["ProductImage", ...]]


class Picturing:
    """The image stage's service. A flow calls `plan`, then `work`, then `save` in the transaction that finishes.

    All that came in between is weighed in `save` against the rows as they are then, so two workers that do the same
    product at once, or a person who orders its pictures meanwhile, lose nothing.
    """

    def __init__(
        self, db: Database, blobs: Blobs, fetch: Fetch, *, limits: Limits | None = None, threads: int = 2
    ) -> None:
        self._db, self._blobs, self._fetch = db, blobs, fetch
        self._limits = limits or Limits()
        # Decoding and encoding leave the interpreter to others, so threads are enough.
        self._pools = Pools(
            ThreadPoolExecutor(threads, "pictures"),
            ThreadPoolExecutor(threads, "large-pictures", initializer=cores.free),
        )

    def close(self) -> None:
        """Let the threads end."""
        for pool in (self._pools.small, self._pools.large):
            pool.shutdown(wait=False, cancel_futures=True)

    async def plan(self, tx: Tx, wanted: Sequence[Wanted], recipe: Recipe) -> Plan:
        """What is known of these products' pictures. It only reads."""
        known = await store.known(tx, {url for one in wanted for url in addresses(one.urls, one.referer)})
        made = await store.derivatives(tx, (one.sha256 for one in known.values() if one.file), recipe.key)
        asked, fresh = await revisits.asked(tx, [one.product_id for one in wanted])
        again = tuple(replace(one, refresh=True) if one.product_id in fresh else one for one in wanted)
        return Plan(again, recipe, known, frozenset(made), await store.blocks(tx), asked)

    async def work(self, plan: Plan) -> Worked:
        """Fetch, check, make and keep what is not there yet. What an address gives is a finding and never raises; a
        blob store that cannot be written is Unavailable."""
        return await Bench(self._db, self._blobs, self._fetch, self._pools, self._limits, plan).work()

    async def save(self, tx: Tx, worked: Worked, *, only: Collection[int] | None = None) -> Saved:
        """Give the pictures their places, in a number of statements that does not grow with the number of products.

        `only` names the products that the caller still owns. A product that does not exist is left out.
        """
        asked = [one for one in worked.plan.wanted if only is None or one.product_id in only]
        related = await images.lock(tx, [one.product_id for one in asked])
        wanted = [one for one in asked if one.product_id in related]
        before = await images.of(tx, sorted(related))
        await store.keep(tx, worked.files, worked.derivatives)
        await store.remember(tx, worked.fetched, again=frozenset(worked.plan.known))
        blocks = await store.blocks(tx)
        findings = self._judged(worked, blocks)
        found, alarms = await self._unshared(tx, wanted, findings, before, related)
        looks = await _looks(tx, wanted, findings, before, every=bool(blocks))
        reasons = {sha256: why for sha256, look in looks.items() if (why := blocked(look, blocks))}
        after = {
            one.product_id: arranged(one, cleared(before[one.product_id], reasons), found[one.product_id], looks)
            for one in wanted
        }
        await images.put(tx, {id: after[id] for id in after if after[id] != before[id]})
        pictured = tuple(
            Pictured(id, its, its != before[id], _trouble(its, findings), one.published, lacks_cover(one, its))
            for one in wanted
            for id, its in ((one.product_id, after[one.product_id]),)
        )
        alarms += await self._twins(tx, worked, after, related)
        await doubts.raised(tx, alarms)
        covers = _other_covers(after)
        await doubts.covers(tx, _other_covers(before), covers)
        answered = (one.product_id for one in wanted if not _is_owed(one, findings))
        await revisits.answered(tx, [id for one in answered for id in worked.plan.revisits.get(one, ())])
        return Saved(pictured, (*alarms, *covers.values()))

    async def pictures(self, tx: Tx, product_ids: Sequence[int], recipe: Recipe) -> dict[int, tuple[Picture, ...]]:
        """What a market is shown, in order. A product is left out unless the recipe was made of all its pictures:
        without its cover, the second one would become the cover."""
        found = await images.of(tx, product_ids)
        ready = {id: [one for one in its if one.is_ready and one.sha256] for id, its in found.items()}
        made = await store.derivatives(tx, {one.sha256 or "" for its in ready.values() for one in its}, recipe.key)
        shown: dict[int, tuple[Picture, ...]] = {}
        for id, its in ready.items():
            files = [made.get(one.sha256 or "") for one in its]
            pairs = enumerate(zip(its, files, strict=True), start=1)
            pictures = tuple(
                Picture(place, file.sha256, file.media, file.width, file.height, one.rights)
                for place, (one, file) in pairs
                if file is not None
            )
            if len(pictures) == len(its):
                shown[id] = pictures
        return shown

    def _judged(self, worked: Worked, blocks: Sequence[tuple[Look, str]]) -> Mapping[str, Finding]:
        """What was found, under the blocks of now: somebody may have blocked it while it was fetched."""
        if blocks == worked.plan.blocks:
            return worked.findings
        return {
            url: judged(one.file, self._limits, blocks) if isinstance(one, Good) else one
            for url, one in worked.findings.items()
        }

    async def _unshared(
        self,
        tx: Tx,
        wanted: Sequence[Wanted],
        findings: Mapping[str, Finding],
        before: Before,
        related: Mapping[int, str],
    ) -> tuple[dict[int, Mapping[str, Finding]], list[Alarm]]:
        """The findings of each product, without pictures that so many unrelated products have that it is none of
        them. What is shown already stays: a person decides on that."""
        new = {one.product_id: _new(one, findings, before[one.product_id]) for one in wanted}
        users: dict[str, set[str]] = await images.shared(tx, sorted({sha for its in new.values() for sha in its}))
        for id, its in new.items():
            for sha256 in its:
                users.setdefault(sha256, set()).add(related[id])
        refused = {sha: no for sha, groups in users.items() if (no := spread(sha, len(groups), self._limits))}
        for sha in await doubts.allowed(tx, refused):
            del refused[sha]
        found: dict[int, Mapping[str, Finding]] = {one.product_id: findings for one in wanted}
        hit: dict[str, list[int]] = {}
        for id, its in new.items():
            bad = {url: refused[sha] for sha, urls in its.items() if sha in refused for url in urls}
            if bad:
                found[id] = {**findings, **bad}
                for no in bad.values():
                    hit.setdefault(no.sha256 or "", []).append(id)
        return found, [
            Alarm(Doubt.SHARED, sha, refused[sha].reason, tuple(sorted(set(ids)))) for sha, ids in sorted(hit.items())
        ]

    async def _twins(
        self, tx: Tx, worked: Worked, after: Mapping[int, Sequence[ProductImage]], related: Mapping[int, str]
    ) -> list[Alarm]:
        """New pictures that look like those of several unrelated products, though their bytes differ."""
        new = {file.sha256: file.look for file in worked.files if file.look.is_telling}
        alike_to = twins(new, await store.same_shape(tx, new.values()))
        users = await images.shared(tx, sorted({other for others in alike_to.values() for other in others}))
        holders = _holders(after)
        alarms = []
        for sha256, others in sorted(alike_to.items()):
            mine = {related[id] for id in holders.get(sha256, ())}
            groups = {group for other in others for group in users.get(other, ())} - mine
            if mine and len(groups) >= self._limits.twins:
                reason = f"it looks like a picture of {len(groups)} unrelated products"
                alarms.append(Alarm(Doubt.LIKE, sha256, reason, tuple(holders[sha256])))
        well = await doubts.allowed(tx, [one.sha256 for one in alarms])
        return [one for one in alarms if one.sha256 not in well]


def _new(wanted: Wanted, findings: Mapping[str, Finding], before: Sequence[ProductImage]) -> dict[str, list[str]]:
    """By content the addresses that would bring a picture which the product does not show yet."""
    shown = {image.sha256 for image in before if image.is_ready}
    found: dict[str, list[str]] = {}
    for url in addresses(wanted.urls, wanted.referer):
        finding = findings.get(url)
        if isinstance(finding, Good) and finding.file.sha256 not in shown:
            found.setdefault(finding.file.sha256, []).append(url)
    return found


async def _looks(
    tx: Tx, wanted: Sequence[Wanted], findings: Mapping[str, Finding], before: Before, *, every: bool
) -> dict[str, Look]:
    """How pictures look, where places must be kept (or of every product): of what was found, and of what is shown and
    was not."""
    looks = {one.file.sha256: one.file.look for one in findings.values() if isinstance(one, Good)}
    shown = {one.sha256 for its in wanted if every or its.published for one in before[its.product_id] if one.is_ready}
    missing = {sha256 for sha256 in shown if sha256 is not None} - looks.keys()
    return looks | {sha256: file.look for sha256, file in (await store.files(tx, missing)).items()}


def _trouble(images: Sequence[ProductImage], findings: Mapping[str, Finding]) -> BobusangError | None:
    for image in images:
        finding = findings.get(image.source_url)
        if image.state is ImageState.PENDING and isinstance(finding, Failed):
            return finding.error
    return None


def _other_covers(images: Mapping[int, Sequence[ProductImage]]) -> dict[int, Alarm]:
    """The products whose cover waits for a person."""
    found = ((id, its[0]) for id, its in images.items() if its and its[0].reason == ANOTHER_COVER)
    return {id: Alarm(Doubt.COVER, cover.sha256 or "", ANOTHER_COVER, (id,)) for id, cover in found}


def _is_owed(wanted: Wanted, findings: Mapping[str, Finding]) -> bool:
    """Whether somebody asked what its addresses give, and one of them did not say."""
    found = (findings.get(url) for url in addresses(wanted.urls, wanted.referer))
    return wanted.refresh and any(isinstance(one, Failed) and one.error.verdict in COMES_AGAIN for one in found)


def _holders(after: Mapping[int, Sequence[ProductImage]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for id, its in sorted(after.items()):
        for image in its:
            if image.is_ready and image.sha256:
                found.setdefault(image.sha256, []).append(id)
    return found
