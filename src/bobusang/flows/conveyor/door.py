"""The door to the malls for pictures: politely through the gate as any page, and past the archive of raw pages."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.kit.errors import BobusangError, Throttled, Unavailable
from bobusang.stages.collect.admission import Wait
from bobusang.stages.collect.policy import Identity
from bobusang.stages.collect.responses import classify
from bobusang.stages.collect.source import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.http import Answer, Call
    from bobusang.stages.collect.identities import Lease
    from bobusang.stages.collect.policy import Pictures
    from bobusang.stages.collect.responses import Verdict
    from bobusang.stages.image.model import Request

ENDPOINT = "pictures"
OK = 200


class Door:
    """Fetches pictures; nobody needs to be known to a mall for that."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._paced: set[str] = set()

    async def __call__(self, requests: Sequence[Request], /) -> Sequence[Answer | BobusangError]:
        """One answer or error each, in order. What the gate does not let through now is Throttled."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, request in enumerate(requests):
            places[request.source].append(place)
        found: dict[int, Answer | BobusangError] = {}
        for source, mine in places.items():
            answers = await self._of(source, [requests[place].call for place in mine])
            found |= dict(zip(mine, answers, strict=True))
        return [found[place] for place in range(len(requests))]

    async def _of(self, source: str, calls: Sequence[Call]) -> list[Answer | BobusangError]:
        gate = self._collector.gate
        policy = replace(self._collector.policy(source), identity=Identity())
        go = await gate.admit(source, policy, ENDPOINT, len(calls))
        if isinstance(go, Wait):
            await self._prepare(source)
            return [Throttled(go.reason, until=go.until) for _ in calls]
        leases = [lease for lease in go.leases for _ in range(lease.calls)][: len(calls)]
        results: list[tuple[Lease, Verdict]] = []
        try:
            answers = await asyncio.gather(
                *(self._sent(call, lease, policy.pictures) for call, lease in zip(calls, leases, strict=False))
            )
            now = self._collector.db.clock.now()
            results = [
                (lease, classify(policy, call.url, got, now=now, kind=Kind.ITEM))
                for call, lease, got in zip(calls, leases, answers, strict=False)
            ]
        finally:
            await asyncio.shield(gate.settle(policy, go, results))
        rest = go.rest
        until = rest.until if rest else self._collector.db.clock.now()
        late = [Throttled(rest.reason if rest else f"{source} is at its limit", until=until)] * (
            len(calls) - len(answers)
        )
        return [*answers, *late]

    async def _prepare(self, source: str) -> None:
        """Set the pools of a place that no shop describes, once: who waits for its pictures waits there, and nobody
        plans its pages, which is when they are set otherwise."""
        if source not in self._collector.sources and source not in self._paced:
            await self._collector.db.transact(lambda tx: self._collector.prepare(tx, source))
            self._paced.add(source)

    async def _sent(self, call: Call, lease: Lease, pictures: Pictures) -> Answer | BobusangError:
        # Names in lower case: of two that differ by a letter's case both would be sent.
        own = {name.lower(): value for headers in (call.headers, pictures.headers) for name, value in headers.items()}
        try:
            answer = await self._collector.transport.send(replace(call, headers={**lease.headers, **own}))
        except BobusangError as error:
            return error
        if answer.status == OK and len(answer.body) < pictures.least:
            return Unavailable(f"{call.url}: {len(answer.body)} bytes are a placeholder, not a picture")
        return answer
