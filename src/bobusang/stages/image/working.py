"""The half of the stage that uses network and processor: each address once, each content once, few at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bobusang.kit.errors import BobusangError, Missing, Unavailable
from bobusang.kit.http import Call
from bobusang.platform.blob import address_of
from bobusang.stages.image import store
from bobusang.stages.image.decoding import Prepared, prepare
from bobusang.stages.image.model import Failed, Good, Known, Refused, Request, Worked
from bobusang.stages.image.rules import addresses, judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from bobusang.kit.db import Database
    from bobusang.kit.http import Answer
    from bobusang.platform.blob import Blobs
    from bobusang.stages.image.model import Derivative, Fetch, File, Finding, Limits, Plan, Wanted

AT_ONCE = 16
"""Pictures that are fetched and made together: as many as are in memory, twice."""
IN_FLIGHT = 2
"""While some are made, the next are fetched."""
ACCEPT = "image/jpeg,image/png,image/webp,image/gif;q=0.8,*/*;q=0.1"
LARGE = 256 << 10
"""Bytes of a photograph of a million points or so, which takes tens of milliseconds."""
GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Pools:
    """Threads for pictures by their size: a large one is worth a core of its own, a small one not the way there."""

    small: Executor
    large: Executor

    def of(self, data: bytes) -> Executor:
        """Those that a picture of these bytes is made by."""
        return self.large if len(data) > LARGE else self.small


@dataclass(slots=True)
class Bench:
    """One plan being worked on."""

    db: Database
    blobs: Blobs
    fetch: Fetch
    pools: Pools
    limits: Limits
    plan: Plan
    findings: dict[str, Finding] = field(default_factory=dict)
    fetched: list[Known] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    derivatives: dict[str, Derivative] = field(default_factory=dict)

    async def work(self) -> Worked:
        """All of it; the bytes are durable when it returns."""
        asked = _asked(self.plan)
        known = {url: self.plan.known[url] for url in asked if url in self.plan.known}
        self.findings |= {url: self._judged(one) for url, one in known.items() if not asked[url].refresh}
        await self._round([(url, wanted) for url, wanted in asked.items() if url not in self.findings])
        lost = await self._remade(known.values())
        await self._round([(url, replace(asked[url], refresh=False)) for url in lost])
        return Worked(
            self.plan,
            self.findings,
            tuple(self.fetched),
            tuple(self.files.values()),
            tuple(self.derivatives.values()),
        )

    async def _round(self, calls: Sequence[tuple[str, Wanted]]) -> None:
        slots = asyncio.Semaphore(IN_FLIGHT)

        async def some(part: Sequence[tuple[str, Wanted]]) -> None:
            async with slots:
                await self._fetched(part)

        parts = [calls[start : start + AT_ONCE] for start in range(0, len(calls), AT_ONCE)]
        done = await asyncio.gather(*(some(part) for part in parts), return_exceptions=True)
        for failed in done:  # only now: none of them goes on behind the back of whoever hears of the failure
            if failed is not None:
                raise failed

    def _judged(self, known: Known) -> Finding:
        if known.file is None:
            return Refused(known.reason, known.sha256)
        return judged(known.file, self.limits, self.plan.blocks)

    async def _remade(self, known: Iterable[Known]) -> list[str]:
        """Make what the recipe wants of originals we have; the addresses whose bytes are lost."""
        lost = []
        for one in known:
            is_made = one.sha256 in self.plan.made or one.sha256 in self.derivatives
            if is_made or not isinstance(self.findings[one.url], Good):
                continue
            try:
                made = await self._prepared(await self.blobs.get(one.sha256))
            except Missing:
                lost.append(one.url)
                continue
            if isinstance(made, Prepared):
                await self._kept([made])
        return lost

    async def _fetched(self, part: Sequence[tuple[str, Wanted]]) -> None:
        requests = [Request(wanted.source, self._call(url, wanted)) for url, wanted in part]
        answers = await self.fetch(requests)
        bodies: dict[str, Answer] = {}
        for (url, _), answer in zip(part, answers, strict=True):
            finding = self._told(url, answer)
            if finding is not None:
                self.findings[url] = finding
            elif not isinstance(answer, BobusangError):
                bodies[url] = answer
        await self._weighed(bodies)

    def _call(self, url: str, wanted: Wanted) -> Call:
        known = self.plan.known.get(url)
        asked = known.conditions if known is not None and wanted.refresh else {}
        referer = {"Referer": wanted.referer} if wanted.referer else {}
        return Call(url, headers={"Accept": ACCEPT, **referer, **asked}, most=self.limits.most_bytes)

    def _told(self, url: str, answer: Answer | BobusangError) -> Finding | None:
        """What an answer says without its body; None when there is a body to look at."""
        if isinstance(answer, BobusangError):
            return Failed(answer)
        known = self.plan.known.get(url)
        if answer.status == 304 and known is not None:
            return self._judged(known)
        if answer.status in GONE:
            return Failed(Missing(f"{url} is gone ({answer.status})"))
        if answer.status != 200:
            return Failed(Unavailable(f"{url} answers {answer.status}"))
        return None

    async def _weighed(self, bodies: dict[str, Answer]) -> None:
        """Make pictures of bodies, each content once; what another address gave before is not made again."""
        named = {url: address_of(answer.body) for url, answer in bodies.items()}
        async with self.db.read() as tx:
            files = await store.files(tx, named.values())
            made = await store.derivatives(tx, files, self.plan.recipe.key)
        content = {named[url]: answer.body for url, answer in bodies.items()}
        new = [address for address in content if address not in made and address not in self.derivatives]
        prepared = await asyncio.gather(*(self._prepared(content[address]) for address in new))
        seen: dict[str, File | Refused] = {**files, **self.files}
        seen |= {address: _file(one) for address, one in zip(new, prepared, strict=True)}
        for url, answer in bodies.items():
            self._noted(url, named[url], answer, seen[named[url]])
        pictures = [one for one in prepared if isinstance(one, Prepared)]
        await self._kept([one for one in pictures if self._is_good(one.file)])
        self.files |= {one.file.sha256: one.file for one in pictures}

    def _noted(self, url: str, address: str, answer: Answer, found: File | Refused) -> None:
        refused = found if isinstance(found, Refused) else None
        self.findings[url] = refused or self._judged(Known(url, address, _only_file(found)))
        if refused is not None and refused.sha256 is None:
            return  # perhaps only today's bytes are broken: the address is asked again the next time
        headers = answer.headers
        known = Known(url, address, _only_file(found), refused.reason if refused else "")
        etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
        self.fetched.append(replace(known, etag=etag, last_modified=modified))

    def _is_good(self, file: File) -> bool:
        return isinstance(judged(file, self.limits, self.plan.blocks), Good)

    async def _prepared(self, data: bytes) -> Prepared | Refused:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.pools.of(data), prepare, data, self.limits, self.plan.recipe)

    async def _kept(self, many: Sequence[Prepared]) -> None:
        """Originals and what was made of them become durable together."""
        pairs = list(_pairs(many))
        if pairs:
            await self.blobs.put_many(pairs)
        for one in many:
            if one.derivative is not None:
                self.derivatives[one.file.sha256] = one.derivative


def _asked(plan: Plan) -> dict[str, Wanted]:
    """Every address once, for the product that asks first; one that asks anew goes before."""
    found: dict[str, Wanted] = {}
    for wanted in sorted(plan.wanted, key=lambda one: not one.refresh):
        for url in addresses(wanted.urls, wanted.referer):
            found.setdefault(url, wanted)
    return found


def _file(one: Prepared | Refused) -> File | Refused:
    return one.file if isinstance(one, Prepared) else one


def _only_file(one: File | Refused) -> File | None:
    return None if isinstance(one, Refused) else one


def _pairs(many: Sequence[Prepared]) -> Iterator[tuple[bytes, str]]:
    for one in many:
        yield one.data, one.file.media
        if one.derivative is not None:
            yield one.derived, one.derivative.media
