"""Trying a source by hand: one page, through the real gate and transport, archived and read; the catalog stays."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bobusang.connectors.sources.declared import asking
from bobusang.connectors.sources.declared.paging import By, Further
from bobusang.connectors.sources.declared.shop import Declared
from bobusang.flows.collect.starting import ready
from bobusang.kit.errors import Blocked, BobusangError, Invalid, Throttled, Unavailable
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.admission import Cause
from bobusang.stages.collect.fetcher import absolute
from bobusang.stages.collect.model import Fetched
from bobusang.stages.collect.policy import Reaction
from bobusang.stages.collect.reading import page_of
from bobusang.stages.collect.source import Ask, Kind, Page, Reads, Source, Target

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.stream import Stream
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.fetcher import Visit


PATIENCE = timedelta(seconds=5)
"""For a call in whose place a session was asked for."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which page of a stream: of a target, of an item, by its number or by its address."""

    stream: str
    target: Target | None = None
    item: str = ""
    page: int | None = None
    url: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it."""

    source: Source
    page: Page
    sha256: str
    """Where the body is archived."""
    raw_id: int
    found: tuple[Reads, ...]
    problem: str = ""
    """Why the page could not be read."""
    unread: tuple[str, ...] = ()
    """Names in the records of a JSON page that no field reads, where the contract reports them."""


def ask_for(source: Source, wish: Wish) -> Ask:
    """The ask for a page that a person wishes to see; Invalid says what is missing to know which."""
    stream = _stream(source, wish.stream)
    if wish.url:
        return _at(source, stream, wish)
    target = wish.target or (Target("item", wish.item) if wish.item else _whole(source, stream, wish.stream))
    if wish.target is not None and wish.item:
        target = Target("item", wish.item, {**wish.target.data, wish.target.kind: wish.target.key})
    found = next((ask for ask in source.seeds(target) if ask.endpoint == wish.stream), None)
    if found is None:
        raise Invalid(f"{wish.stream} is not asked for {target.name}", hint=_how(stream), field="target")
    return found if wish.page is None else _paged(source, stream, found, wish.page)


def _stream(source: Source, name: str) -> Stream | None:
    """The stream of that name; a source in code does not tell of its streams."""
    if not isinstance(source, Declared):
        return None
    if name not in source.streams:
        raise Invalid(f"{source.name} has no stream '{name}'", hint=did_you_mean(name, source.streams), field="stream")
    return source.streams[name]


def _whole(source: Source, stream: Stream | None, name: str) -> Target:
    """The target of a stream that needs none."""
    if stream is not None and stream.kind is Kind.INDEX:
        return Target("index", name)
    if stream is not None and stream.kind is Kind.LIST and not stream.variables:
        return Target("list", name)
    raise Invalid(f"which page of {source.name} {name}?", hint=_how(stream), field="target")


def _how(stream: Stream | None) -> str:
    if stream is None:
        return "say --target KIND:KEY, --item KEY or --url ADDRESS"
    if stream.kind in (Kind.ITEM, Kind.PART):
        return "say --item KEY, with a key that its list shows"
    kinds = sorted(stream.target_kinds)
    return f"say {' or '.join(f'--target {kind}:…' for kind in kinds)}" if kinds else "it needs no target"


def _paged(source: Source, stream: Stream | None, ask: Ask, page: int) -> Ask:
    paging = stream.paging if stream is not None and ask.kind is Kind.LIST else None
    if not isinstance(source, Declared) or stream is None or paging is None or paging.by is not By.PAGE:
        raise Invalid(
            f"the pages of {ask.endpoint} have no numbers",
            hint="try the first, and pass the address that it asks for next as --url",
            field="page",
        )
    return asking.further(stream, source.home(stream), ask.given, Further(page))


def _at(source: Source, stream: Stream | None, wish: Wish) -> Ask:
    url = absolute(source, wish.url)
    if urlsplit(url)[:2] not in [urlsplit(home)[:2] for home in (source.base, *source.hosts.values())]:
        raise Invalid(f"{url} is not of {source.name}", hint=f"it lives at {source.base}", field="url")
    kind = stream.kind if stream is not None else Kind.ITEM if wish.item else Kind.LIST
    if kind in (Kind.ITEM, Kind.PART) and not wish.item:
        raise Invalid(f"whose page is {url}?", hint="say --item KEY", field="item")
    given = {asking.PAGE: wish.page or (stream.paging.start if stream and stream.paging else 1)}
    target = {asking.TARGET: wish.target.name} if wish.target else {}
    return Ask(url, kind, wish.stream, given={**target, **given}, item=wish.item)


async def tried(collector: Collector, name: str, wish: Wish) -> Tried:
    """Fetch one page of a source that a person has enabled, within its limits, archive it and read it.

    Raises Conflict (the source is off), Throttled (the gate says wait, until then and why), Unavailable and Blocked (no
    page came). A page that came and cannot be read is no error here: `problem` says why.
    """
    async with collector.db.read() as tx:
        source = await ready(tx, collector, name)
    ask = ask_for(source, wish)
    await collector.db.transact(lambda tx: collector.prepare(tx, name))
    [visit] = await collector.fetcher.visit(source, [ask])
    if visit.wait is not None and visit.wait.cause is Cause.IDENTITIES:
        until = visit.wait.until - collector.db.clock.now()
        if until <= PATIENCE:  # the call went into a session, and is made now
            await asyncio.sleep(max(0.0, until.total_seconds()))
            [visit] = await collector.fetcher.visit(source, [ask])
    page, problem = _page(source, visit)
    raw_id = await collector.db.transact(lambda tx: _kept(tx, collector, source, visit, page))
    unread = source.unread(page) if isinstance(source, Declared) and not problem else ()
    return Tried(source, page, visit.sha256, raw_id, visit.found, problem, unread)


def _page(source: Source, visit: Visit) -> tuple[Page, str]:
    """The page that came, and why it cannot be read."""
    if visit.wait is not None:
        raise Throttled(
            f"not now: {visit.wait.reason}",
            until=visit.wait.until,
            hint=f"try again at {visit.wait.until:%H:%M:%S} UTC",
        )
    answer, verdict = visit.answer, visit.verdict
    assert verdict is not None
    if answer is None or not visit.sha256:
        if verdict.reaction is Reaction.HALT:
            hint = f"look at it, then `bobusang source resume {source.name}`"
            raise Blocked(f"no page came: {verdict.reason}", hint=hint)
        raise Unavailable(f"no page came: {verdict.reason}", hint=f"the address was {absolute(source, visit.ask.url)}")
    problem = visit.drifted or ("" if verdict.reaction in (Reaction.READ, Reaction.GONE) else verdict.reason)
    try:
        return page_of(source, visit.ask, answer, visit.media, visit.at), problem
    except BobusangError as error:
        return Page(visit.ask, answer.body, answer.status, answer.headers, answer.url, visit.at), problem or str(error)


async def _kept(tx: Tx, collector: Collector, source: Source, visit: Visit, page: Page) -> int:
    """Index the archived page, not as one that later requests are made conditional on: nothing of it is stored."""
    assert visit.at is not None
    fetched = Fetched(
        source=source.name,
        target=str(visit.ask.given.get(asking.TARGET, "")),
        ask=visit.ask,
        found=(),
        reader=source.version,
        sha256=visit.sha256,
        url=absolute(source, visit.ask.url),
        fetched_at=visit.at,
        status=page.status,
        headers=page.headers,
        media=visit.media,
        size=len(page.body),
    )
    [raw_id] = await collector.service.archive.index(tx, [fetched], good=False)
    return raw_id
