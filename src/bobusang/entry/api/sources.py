"""Sources: what is on the shelf, enabled by a person with a reason, disabled, resumed; and the gate before them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field, StringConstraints

from bobusang.catalog.tables.images import Rights
from bobusang.connectors.sources.declared.shop import Declared
from bobusang.entry.api.desk import Admin, Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Name
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.flows.collect import enabling
from bobusang.kit.db import Tx
from bobusang.kit.errors import BobusangError, Conflict, Missing
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect import decisions, intervening, switch
from bobusang.stages.collect.policy import Policy
from bobusang.stages.collect.tables import AnswerWord
from bobusang.views import gate
from bobusang.views import sources as view
from bobusang.views.gate import GateEntry, GateLine
from bobusang.views.sources import Known, SourceDetail, SourceLine
from bobusang.wiring import App
from bobusang.wiring.collecting import Shelf

router = Resource("sources")

SourceName = Annotated[str, Path(min_length=1, max_length=50, examples=["okmall"])]
Why = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000),
    Field(examples=["written agreement of 2026-03-02 with the mall"]),
]


class DecisionForm(Form):
    """Why a source may be collected, or may no longer be."""

    why: Why


class EnableForm(DecisionForm):
    """Why a source may be collected, and by what right its pictures are shown."""

    rights: Annotated[
        Rights | None, Field(description="of its pictures, which a market may ask for; null: as it was said before")
    ] = None


class KeyForm(Form):
    """The key that the operator was given, or name and password (as the key); they are never shown again."""

    key: Annotated[str, Field(min_length=1, max_length=4000)]
    username: Annotated[str, Field(max_length=200)] = ""


class SourceQuery(Form):
    """Which sources."""

    enabled: bool | None = None


class GateQuery(Form):
    """Which places."""

    source: Name | None = None
    all: Annotated[bool, Field(description="also what does not wait")] = False


class JournalQuery(Paged):
    """Which decisions."""

    source: Name | None = None


class Resumed(Form):
    """A source after it was resumed; `resumed` is false when nothing had stopped it."""

    source: str
    resumed: Flag


class Answered(BaseModel):
    """What a source answered when it was asked for its robots.txt; `error` where nobody did."""

    source: str
    url: str
    status: int | None
    error: str | None
    robots: str
    seconds: float


@router.get("/sources", summary="List sources")
async def list_sources(desk: Viewer, query: Annotated[SourceQuery, Query()]) -> Page[SourceLine]:
    """All that can be collected, by name: who enabled it and why, what robots.txt says, how its gate stands."""
    async with desk.read() as tx:
        found = await view.listed(tx, await _all(desk, tx))
    return Page(items=[line for line in found if query.enabled in (None, line.enabled)], next=None)


@router.get("/sources/{name}", summary="Show a source")
async def show_source(desk: Viewer, name: SourceName) -> SourceDetail:
    """With its streams, its policy, the gate of each endpoint, its last decisions, and today's counts."""
    async with desk.read() as tx:
        return await view.one(tx, await _one(desk, tx, name))


@router.post("/sources/{name}/enable", summary="Let a source be collected")
async def enable_source(desk: Admin, name: SourceName, form: EnableForm) -> SourceDetail:
    """With why that may be: terms, an agreement, an official API. Its robots.txt is fetched first and kept beside it;
    one that cannot be had is told of and hinders nothing."""
    collector, rooted = desk.app.collector, bool(desk.app.settings.sandbox_url)
    async with desk.read() as tx:
        known = await _one(desk, tx, name)
    await enabling.enable(
        collector, name, why=form.why, by=desk.actor, rights=form.rights, base=known.base or "", rooted=rooted
    )
    async with desk.read() as tx:
        return await view.one(tx, known)


@router.post("/sources/{name}/disable", summary="Stop collecting a source")
async def disable_source(desk: Operator, name: SourceName, form: DecisionForm) -> SourceDetail:
    """What is queued waits until it is enabled again."""

    async def work(tx: Tx) -> SourceDetail:
        known = await _one(desk, tx, name)
        await switch.disable(tx, desk.app.collector.pools, name, why=form.why, by=desk.actor)
        return await view.one(tx, known)

    return await desk.write(work)


@router.post("/sources/{name}/resume", summary="Try a halted source again")
async def resume_source(desk: Operator, name: SourceName) -> Resumed:
    """After a bot wall or a 403 was looked into, or to end a rest early. Identities that rest after a 429 go on
    resting."""

    async def work(tx: Tx) -> bool:
        await _one(desk, tx, name)
        return await switch.resume(tx, desk.app.collector.pools, name, by=desk.actor)

    return Resumed(source=name, resumed=await desk.write(work))


@router.post("/sources/{name}/test", summary="See whether a source answers")
async def try_source(desk: Operator, name: SourceName) -> Answered:
    """By its robots.txt, which is kept beside the decision; no page of it is asked for, and no identity used."""
    collector = desk.app.collector
    async with desk.read() as tx:
        known = await _one(desk, tx, name)
    if not known.base:
        raise Conflict(f"the address of {name} is not known", hint="a shop.yaml names it")
    began = time.monotonic()
    told = await enabling.robots_of(collector, known.source, known.base, rooted=bool(desk.app.settings.sandbox_url))
    answered = Answered(
        source=name,
        url=told["url"],
        status=told["status"],
        error=told["error"],
        robots=told["standing"],
        seconds=round(time.monotonic() - began, 3),
    )

    async def work(tx: Tx) -> None:
        await decisions.note_robots(tx, name, told)
        await desk.note(tx, "source.test", "source", name, after=answered.model_dump(exclude={"source"}))

    await desk.write(work)
    return answered


@router.post("/sources/{name}/key", summary="Give a source its API key", status_code=204)
async def give_key(desk: Admin, name: SourceName, form: KeyForm) -> None:
    """For a source that knows us by a key, or by a name and a password; what waited for it goes on. The key is never
    shown and in no log."""
    collector = desk.app.collector
    policy = collector.source(name).policy
    await desk.write(
        lambda tx: intervening.give_key(
            tx,
            collector.pools,
            name,
            policy,
            form.key,
            by=desk.actor,
            user_agent=collector.user_agent,
            username=form.username,
        )
    )


@router.get("/gate", summary="Show what waits and why")
async def show_gate(desk: Viewer, query: Annotated[GateQuery, Query()]) -> Page[GateLine]:
    """Sources and endpoints that are not called now: until when, because of what, and how many tasks wait."""
    names = list(_shelf(desk))
    async with desk.read() as tx:
        found = await gate.lines(tx, names, source=query.source or "", counted=True)
    return Page(items=[line for line in found if query.all or line.answer is AnswerWord.WAIT], next=None)


@router.get("/gate/decisions", summary="List the gate's decisions")
async def list_decisions(desk: Viewer, query: Annotated[JournalQuery, Query()]) -> Page[GateEntry]:
    """Newest first; limits that are simply reached are not written down."""
    before = unpack("gate/decisions", query.cursor)
    async with desk.read() as tx:
        found = await gate.journal(tx, query.source or "", before=before, limit=query.limit + 1)
    return page("gate/decisions", found, query.limit, lambda entry: entry.id)


def collected_by(desk: Desk, kind: str) -> list[str]:
    """Malls that are collected by sellers, by brands, …"""
    shelf = _shelf(desk)
    found = {name: _shelved(shelf, name).source for name in shelf}
    return [name for name, source in found.items() if isinstance(source, Declared) and kind in source.target_kinds]


def policies(app: App) -> dict[str, Policy]:
    """How each source that can be read wants to be visited."""
    shelf = app.collector.sources
    assert isinstance(shelf, Shelf)
    found = {name: _shelved(shelf, name).policy for name in shelf}
    return {name: policy for name, policy in found.items() if policy is not None}


def _shelf(desk: Desk) -> Shelf:
    shelf = desk.app.collector.sources
    assert isinstance(shelf, Shelf)
    return shelf


async def _all(desk: Desk, tx: Tx) -> list[Known]:
    """The shelf, and behind it the places that no shop describes."""
    shelf = _shelf(desk)
    others = (await view.undescribed(tx, shelf)).items()
    return [_shelved(shelf, name) for name in shelf] + [_undescribed(desk, name, base) for name, base in others]


async def _one(desk: Desk, tx: Tx, name: str) -> Known:
    shelf = _shelf(desk)
    if name in shelf:
        return _shelved(shelf, name)
    others = await view.undescribed(tx, shelf)
    if name not in others:
        raise Missing(f"there is no source '{name}'", hint=did_you_mean(name, [*shelf, *others]))
    return _undescribed(desk, name, others[name])


def _shelved(shelf: Shelf, name: str) -> Known:
    """One whose shop.yaml is wrong is shown as that, and hides no other."""
    one = shelf.shelved(name)
    found = Known(name=name, origin=one.origin, contains_code=one.contains_code)
    try:
        source = shelf[name]
    except BobusangError as error:
        return replace(found, problem=error.message)
    return replace(found, base=source.base, policy=source.policy, source=source)


def _undescribed(desk: Desk, name: str, base: str | None) -> Known:
    return Known(name=name, origin=view.UNDESCRIBED, base=base, policy=desk.app.collector.plain)
