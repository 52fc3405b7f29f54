"""Collecting, put together: sources, gate, transport, blobs and limiter, for real malls or for the sandbox alone."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bobusang.connectors.sources.declared.shelf import Shelved, shops
from bobusang.connectors.sources.sheets.supplied import Supplied
from bobusang.flows.collect.collector import Collector
from bobusang.flows.collect.pools import EnginePools
from bobusang.flows.collect.sharing import Sharing
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.platform import blobs, limiters
from bobusang.stages.collect import decisions, identities, intervening, switch
from bobusang.stages.collect.fetcher import Fetcher
from bobusang.stages.collect.gate import Gate
from bobusang.stages.collect.policy import IdentityKind, Limits, Policy, Quota
from bobusang.stages.collect.service import Collecting
from bobusang.stages.collect.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Answer, Call, Transport
    from bobusang.settings import Settings

SANDBOXED = (
    *("okmall", "mustit", "news", "feed", "buyma", "cafe24", "shopify", "acme", "wconcept", "musinsa"),
    *("ownerclan", "domeggook"),
)
"""What the sandbox serves, each under its name."""
PROFILE = "sandbox profile"
"""Who decides for the sandbox."""
PLAIN = "plain"
"""Its shop for generic workflows."""
SANDBOX_KEY = "sandbox"
"""Name, password and API key of every source there."""
SANDBOX_LIMITS = Limits(rate=500.0, burst=64.0, concurrency=32)
SANDBOX_QUOTA = Quota(20_000, timedelta(hours=1))


def collector(settings: Settings, database: Database) -> Collector:
    """Everything that collecting needs, on an open database; nothing is reached yet."""
    sources = Shelf(settings)
    store = blobs.opened(settings.blob_url, folder=Path(settings.home) / "blobs", clock=database.clock)
    limiter = limiters.opened(settings.limiter_url, database.clock)
    pools = EnginePools()
    transport = LaterTransport(allowed(settings), settings.user_agent)
    gate = Gate(database, limiter, pools, by=f"{socket.gethostname()}:{os.getpid()}", user_agent=settings.user_agent)
    service = Collecting(store, lambda name: sources[name] if name in sources else Supplied(name))
    return Collector(
        db=database,
        sources=sources,
        gate=gate,
        fetcher=Fetcher(database, gate, transport, service.archive),
        service=service,
        pools=pools,
        transport=transport,
        blobs=store,
        limiter=limiter,
        sharing=Sharing(
            database,
            pools,
            shared=bool(settings.limiter_url),
            dead_after=timedelta(seconds=settings.dead_seconds),
        ),
        user_agent=settings.user_agent,
        plain=Policy(limits=SANDBOX_LIMITS if settings.sandbox_url else Limits()),
    )


class LaterTransport:
    """The transport, made when something is first sent: most commands never send, and aiohttp takes long to import."""

    def __init__(self, allow: frozenset[tuple[str, int]], user_agent: str) -> None:
        self._allow = allow
        self._user_agent = user_agent
        self._made: Transport | None = None

    async def send(self, call: Call) -> Answer:
        if self._made is None:
            from bobusang.kit.transport import AiohttpTransport

            self._made = AiohttpTransport(self._allow, user_agent=self._user_agent)
        return await self._made.send(call)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()


class Shelf(Mapping[str, Source]):
    """All sources by name, each compiled when it is first wanted.

    With a sandbox only those that it serves, there; and of the operator's own folder those whose base lies on it.
    """

    def __init__(self, settings: Settings) -> None:
        found = shops(Path(settings.shops) if settings.shops else None)
        self._sandbox = settings.sandbox_url.rstrip("/")
        self._trusted = {name.strip() for name in settings.shops_trusted.split(",")}
        self._own = {
            name for name, one in found.items() if self._sandbox and one.origin != "shipped" and self._is_on(one)
        }
        served = {*SANDBOXED, *self._own} if self._sandbox else set(found)
        self._shelved = {name: one for name, one in found.items() if name in served}
        self._loaded: dict[str, Source] = {}

    def shelved(self, name: str) -> Shelved:
        """Where a source comes from."""
        return self._shelved[name]

    def __getitem__(self, name: str) -> Source:
        if name not in self._loaded:
            one = self._shelved[name]
            is_served = self._sandbox and name not in self._own
            self._loaded[name] = self._sandboxed(one) if is_served else one.load(trust=name in self._trusted)
        return self._loaded[name]

    def _is_on(self, one: Shelved) -> bool:
        """Whether a shop lives on the sandbox; one that cannot be read is kept, so that it is told what is wrong."""
        try:
            base = one.load().base  # what sends files has none, and calls nobody
            return not base or urlsplit(base).netloc == urlsplit(self._sandbox).netloc
        except BobusangError:
            return True

    def _sandboxed(self, one: Shelved) -> Source:
        source = one.load(base=f"{self._sandbox}/{one.name}", limits=SANDBOX_LIMITS)
        identity = source.policy.identity
        if identity.quota is not None:
            source.policy = replace(source.policy, identity=replace(identity, quota=SANDBOX_QUOTA))
        return source

    def __iter__(self) -> Iterator[str]:
        return iter(self._shelved)

    def __len__(self) -> int:
        return len(self._shelved)


def allowed(settings: Settings) -> frozenset[tuple[str, int]]:
    """The private address that may be called: the sandbox's own, and no other."""
    if not settings.sandbox_url:
        return frozenset()
    parts = urlsplit(settings.sandbox_url)
    if parts.scheme != "http" or not parts.hostname or not parts.port:
        raise Invalid(
            f"BOBUSANG_SANDBOX_URL: '{settings.sandbox_url}' is not the address of a sandbox",
            hint="`bobusang sandbox` prints it, as http://127.0.0.1:8600",
            field="sandbox_url",
        )
    return frozenset({(parts.hostname, parts.port)})


async def leave_sandbox(collector: Collector) -> None:
    """What was allowed for the sandbox is not allowed for the real malls: without it, its decisions are undone."""

    async def work(tx: Tx) -> None:
        for one in await decisions.all_decided(tx):
            if one.enabled and one.by == PROFILE:
                why = "it was enabled for the sandbox alone"
                await switch.disable(tx, collector.pools, one.source, why=why, by=PROFILE)
                await identities.forget(tx, one.source)  # no mall is shown what the sandbox issued

    await collector.db.transact(work)


async def enable_sandbox(collector: Collector) -> None:
    """In the sandbox everything that we ship may be collected, also what no shop describes. A shop of the operator's
    own needs a decision here as anywhere: who makes one learns it where it costs nothing."""

    async def work(tx: Tx) -> None:
        for name in (*(name for name in collector.sources if name in SANDBOXED), PLAIN):
            known = await decisions.decided(tx, name)
            if known is None or not known.by or (known.by == PROFILE and not known.enabled):
                await collector.enable(tx, name, why="it is the sandbox on this machine", by=PROFILE)
                if name in collector.sources:
                    await _known_there(tx, collector, name)

    await collector.db.transact(work)


async def _known_there(tx: Tx, collector: Collector, name: str) -> None:
    """The sandbox takes one key, and one name and password, from everybody."""
    policy = collector.sources[name].policy
    if policy.identity.kind in (IdentityKind.API_KEY, IdentityKind.LOGIN):
        username = SANDBOX_KEY if policy.identity.kind is IdentityKind.LOGIN else ""
        await intervening.give_key(
            tx,
            collector.pools,
            name,
            policy,
            SANDBOX_KEY,
            by=PROFILE,
            user_agent=collector.user_agent,
            username=username,
        )
