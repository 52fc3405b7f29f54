"""Enabling a source: what its robots.txt says is fetched first and kept beside the decision (law 11)."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bobusang.connectors.sources.declared.shop import Declared
from bobusang.kit import robots
from bobusang.kit.errors import BobusangError
from bobusang.kit.http import Call
from bobusang.kit.robots import LARGEST, Standing
from bobusang.stages.collect import decisions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.catalog.tables.images import Rights
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.decisions import Decision
    from bobusang.stages.collect.source import Source

PATIENCE = timedelta(seconds=10)
GRAVITY = (Standing.DISALLOWED, Standing.UNKNOWN, Standing.ALLOWED)


async def enable(
    collector: Collector,
    name: str,
    *,
    why: str,
    by: str,
    rights: Rights | None = None,
    base: str = "",
    rooted: bool = False,
) -> Decision:
    """Let a source be collected: robots.txt is asked, then decision and result are kept together.

    A robots.txt that cannot be had is told of and hinders nobody. `base` is the address of a place that no shop
    describes; without any, there is no robots.txt to ask for. `rooted`: the source lives under its base as if that were
    a host of its own, as in the sandbox.
    """
    source = collector.sources.get(name)
    base = base if source is None else source.base
    told = await robots_of(collector, source, base, rooted=rooted) if base else None

    async def work(tx: Tx) -> Decision:
        await collector.enable(tx, name, why=why, by=by, rights=rights)
        if told is not None:
            await decisions.note_robots(tx, name, told)
        found = await decisions.decided(tx, name)
        assert found is not None
        return found

    return await collector.db.transact(work)


async def robots_of(collector: Collector, source: Source | None, base: str, *, rooted: bool = False) -> dict[str, Any]:
    """What robots.txt says of each endpoint, and the gravest of it: `{url, status, error, standing, line, crawl_delay,
    endpoints: [{endpoint, path, standing, line}]}`."""
    parts = urlsplit(base)
    root = base.rstrip("/") if rooted else f"{parts.scheme}://{parts.netloc}"
    status, text, error = await _fetched(collector, f"{root}/robots.txt")
    judged = {
        endpoint: (path, robots.judged(status, text, url=path, agent=collector.user_agent))
        for endpoint, path in paths(source, "" if rooted else parts.path).items()
    }
    gravest = min((one for _, one in judged.values()), key=lambda one: GRAVITY.index(one.standing))
    return {
        "url": f"{root}/robots.txt",
        "status": status,
        "error": error,
        "standing": gravest.standing.value,
        "line": gravest.line,
        "crawl_delay": max((one.crawl_delay for _, one in judged.values() if one.crawl_delay), default=None),
        "endpoints": [
            {"endpoint": endpoint, "path": path, "standing": one.standing.value, "line": one.line}
            for endpoint, (path, one) in judged.items()
        ],
    }


def paths(source: Source | None, prefix: str = "") -> Mapping[str, str]:
    """An example of the addresses on its base that a source asks for, by endpoint; without any, where it lives."""
    if not isinstance(source, Declared):
        return {"": prefix or "/"}
    sample: defaultdict[str, str] = defaultdict(lambda: "1")
    here = {name: stream.request for name, stream in source.streams.items() if not stream.request.host}
    return {name: prefix + request.url(sample) for name, request in here.items()} or {"": prefix or "/"}


async def _fetched(collector: Collector, url: str) -> tuple[int | None, str, str | None]:
    call = Call(url, headers={"user-agent": collector.user_agent}, most=LARGEST, timeout=PATIENCE)
    try:
        answer = await collector.transport.send(call)
    except BobusangError as error:
        return None, "", error.message[:500]
    return answer.status, answer.body.decode("utf-8", "replace"), None
