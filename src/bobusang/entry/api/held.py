"""Held writes: what a guard stopped, looked at and approved or rejected, one by one or by filter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Capitals, Flag, Form, Name, Numeric, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.stages.collect.deciding import AT_ONCE, Decided, Refused
from bobusang.stages.collect.guards import Guard
from bobusang.stages.collect.held import Filter
from bobusang.stages.collect.tables import HeldState
from bobusang.views import held as view
from bobusang.views.held import HeldDetail, HeldLine

router = Resource("held writes", "/held")

MOST = 100_000
SHOWN = 100
"""So many refusals are told one by one."""

Target = Annotated[str, Field(min_length=1, max_length=300, examples=["seller:luxboy"])]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Act = Literal["approve", "reject"]


class HeldFilter(Form):
    """Which held writes."""

    source: Name | None = None
    target: Target | None = None
    guard: Guard | None = None
    key: Key | None = None

    def wanted(self, state: HeldState = HeldState.HELD) -> Filter:
        """The same as the stage takes it."""
        return Filter(state, self.source or "", self.target or "", self.guard or "", self.key or "")


class HeldQuery(Paged, HeldFilter):
    """Which held writes."""

    state: Annotated[HeldState, Capitals] = HeldState.HELD


class HeldChoice(Form):
    """Which open held writes to decide about, the newest first; a filter that says nothing means all of them."""

    filter: HeldFilter
    limit: Annotated[int, Field(ge=1, le=MOST, description="at most so many"), Numeric] = MOST
    dry_run: Annotated[Flag, Field(description="only count them")] = False


class RefusedWrite(BaseModel):
    """A held write that could not be approved, and why."""

    id: int
    reason: str


class HeldDecided(BaseModel):
    """How many match, how many were decided, and which were refused (the first hundred of them)."""

    matched: int
    decided: int
    refused_count: int
    refused: list[RefusedWrite]
    dry_run: bool


@router.get("", summary="List held writes")
async def list_held(desk: Viewer, query: Annotated[HeldQuery, Query()]) -> Page[HeldLine]:
    """Newest first; the open ones unless `state` says otherwise."""
    before = unpack("held", query.cursor)
    async with desk.read() as tx:
        found = await view.listed(tx, query.wanted(query.state), before, query.limit + 1)
    return page("held", found, query.limit, lambda one: one.id)


@router.post("/approve", summary="Approve held writes by filter")
async def approve_many(desk: Operator, choice: HeldChoice) -> HeldDecided:
    """Each is written with its evidence; one whose record has moved on meanwhile stays open and is told."""
    return await _many(desk, "approve", choice)


@router.post("/reject", summary="Reject held writes by filter")
async def reject_many(desk: Operator, choice: HeldChoice) -> HeldDecided:
    """The same readings are neither held nor written again for thirty days."""
    return await _many(desk, "reject", choice)


async def _many(desk: Desk, act: Act, choice: HeldChoice) -> HeldDecided:
    """A bounded part a transaction, each with its lines in the audit log."""
    wanted = choice.filter.wanted()
    async with desk.read() as tx:
        matched = await view.count(tx, wanted, choice.limit)
    done, refused, before = 0, list[Refused](), None
    while not choice.dry_run and done + len(refused) < choice.limit:
        part = min(AT_ONCE, choice.limit - done - len(refused))
        decided = await desk.write(_part(desk, act, wanted, before, part))
        done, refused, before = done + decided.done, [*refused, *decided.refused], decided.next
        if before is None:
            break
    return HeldDecided(
        matched=matched,
        decided=done,
        refused_count=len(refused),
        refused=[RefusedWrite(id=one.id, reason=one.reason) for one in refused[:SHOWN]],
        dry_run=choice.dry_run,
    )


def _part(desk: Desk, act: Act, wanted: Filter, before: int | None, limit: int) -> Callable[[Tx], Awaitable[Decided]]:
    deciding = desk.app.collector.service.deciding
    decide = deciding.approve_all if act == "approve" else deciding.reject_all

    async def work(tx: Tx) -> Decided:
        return await decide(tx, wanted, desk.actor, before=before, limit=limit)

    return work


@router.get("/{held_id}", summary="Show a held write")
async def show_held(desk: Viewer, held_id: PathId) -> HeldDetail:
    """What it would change, why it was stopped, and the page, reader and stream that say so."""
    async with desk.read() as tx:
        return await view.one(tx, held_id)


@router.post("/{held_id}/approve", summary="Approve a held write")
async def approve_held(desk: Operator, held_id: PathId) -> HeldDetail:
    """It is written with its evidence; 409 when the record has moved on meanwhile."""
    return await _one(desk, "approve", held_id)


@router.post("/{held_id}/reject", summary="Reject a held write")
async def reject_held(desk: Operator, held_id: PathId) -> HeldDetail:
    """The same reading is neither held nor written again for thirty days."""
    return await _one(desk, "reject", held_id)


async def _one(desk: Desk, act: Act, held_id: int) -> HeldDetail:
    deciding = desk.app.collector.service.deciding

    async def work(tx: Tx) -> HeldDetail:
        await (deciding.approve if act == "approve" else deciding.reject)(tx, held_id, desk.actor)
        return await view.one(tx, held_id)

    return await desk.write(work)
