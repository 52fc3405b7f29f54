"""Dead letters: looked at, mended, driven again or thrown away, one by one, by filter, or the first ten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from bobusang.engine import redriving
from bobusang.engine.model import ReasonClass
from bobusang.engine.redriving import AT_ONCE, Filter
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Capitals, Flag, Form, Id, Name, Numeric, PathId, QueryId, Reference
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.references import optional_workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.kit import json
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict
from bobusang.views import dead_letters as view
from bobusang.views.dead_letters import Cause, DeadLetter, DeadLetterDetail

router = Resource("dead letters", "/dead-letters")

FIRST = 10
"""So many are driven again unless more are asked for: when those fail too, the others were spared."""
MOST = 100_000
NOTED = 10_000
"""The largest input that the audit log repeats."""

Fingerprint = Annotated[str, Field(min_length=1, max_length=64)]


class CauseQuery(Form):
    """Which dead letters."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    reason: Annotated[ReasonClass | None, Capitals] = None
    workflow: Annotated[Name | None, Field(description="id or name")] = None
    job: QueryId | None = None
    fingerprint: Fingerprint | None = None


class LetterQuery(Paged, CauseQuery):
    """Which dead letters."""


class LetterFilter(Form):
    """Which dead letters; at least one thing must be said."""

    reason: Annotated[ReasonClass | None, Capitals] = None
    workflow: Reference | None = None
    job: Id | None = None
    fingerprint: Fingerprint | None = None


class Choice(Form):
    """Dead letters by their tasks' ids, or by a filter, oldest first."""

    ids: Annotated[list[Id] | None, Field(min_length=1, max_length=1000)] = None
    filter: LetterFilter | None = None
    limit: Annotated[int, Field(ge=1, le=MOST, description="at most so many of a filter"), Numeric] = FIRST
    dry_run: Annotated[Flag, Field(description="only count them")] = False

    @model_validator(mode="after")
    def _one_of_both(self) -> Choice:
        if (self.ids is None) == (self.filter is None):
            raise PydanticCustomError("ids_or_filter", "needs either ids or filter")
        return self

    async def wanted(self, tx: Tx) -> Filter:
        """The same as the engine takes it."""
        if self.ids is not None:
            return Filter(ids=self.ids, limit=len(self.ids))
        asked = self.filter or LetterFilter()
        return Filter(
            job_id=asked.job,
            workflow_id=await optional_workflow_id(tx, asked.workflow),
            reason=asked.reason,
            fingerprint=asked.fingerprint,
            limit=self.limit,
        )


class DiscardForm(Choice):
    """Dead letters that are not wanted any more."""

    why: Annotated[str, Field(max_length=300, description="for the audit log")] = ""


class InputForm(Form):
    """The mended input."""

    input: Any


class Redriven(BaseModel):
    """How many match, and how many of them run again."""

    matched: int
    redriven: int
    dry_run: bool


class Discarded(BaseModel):
    """How many matched, and how many of them are gone."""

    matched: int
    discarded: int
    dry_run: bool


@router.get("", summary="List dead letters")
async def list_letters(desk: Viewer, query: Annotated[LetterQuery, Query()]) -> Page[DeadLetter]:
    """Oldest first."""
    after = unpack("dead-letters", query.cursor) or 0
    async with desk.read() as tx:
        wanted = await _asked(tx, query)
        found = await view.listed(tx, replace(wanted, after=after, limit=query.limit + 1))
    return page("dead-letters", found, query.limit, lambda letter: letter.task_id)


@router.get("/groups", summary="List dead letters by cause")
async def list_causes(desk: Viewer, query: Annotated[CauseQuery, Query()]) -> Page[Cause]:
    """The commonest first; errors that differ only in numbers are one cause."""
    async with desk.read() as tx:
        return Page(items=await view.causes(tx, await _asked(tx, query)), next=None)


async def _asked(tx: Tx, query: CauseQuery) -> Filter:
    return Filter(
        job_id=query.job,
        workflow_id=await optional_workflow_id(tx, query.workflow),
        reason=query.reason,
        fingerprint=query.fingerprint,
        limit=query.limit,
    )


@router.post("/redrive", summary="Run dead letters again")
async def redrive(desk: Operator, choice: Choice) -> Redriven:
    """Those named, or of a filter the first ten unless `limit` says more."""
    matched, done = await _in_parts(
        desk, choice, "dead_letter.redrive", lambda tx, part: redriving.redrive(tx, desk.engine.books, part)
    )
    return Redriven(matched=matched, redriven=done, dry_run=choice.dry_run)


@router.post("/discard", summary="Throw dead letters away")
async def discard(desk: Operator, choice: DiscardForm) -> Discarded:
    """Their tasks stay failed."""
    noted = {"why": choice.why} if choice.why else {}
    matched, done = await _in_parts(desk, choice, "dead_letter.discard", redriving.discard, noted)
    return Discarded(matched=matched, discarded=done, dry_run=choice.dry_run)


async def _in_parts(
    desk: Desk,
    choice: Choice,
    action: str,
    act: Callable[[Tx, Filter], Awaitable[int]],
    noted: Mapping[str, str] | None = None,
) -> tuple[int, int]:
    """Act on what was chosen, a bounded part a transaction; how many matched, and how many it was done to.

    What cannot be acted on (its job was cancelled) is stepped over, so that it does not stand before the others.
    """
    async with desk.read() as tx:
        wanted = await choice.wanted(tx)
        matched = await view.count(tx, wanted, MOST)
    done, after, refused = 0, 0, None
    while not choice.dry_run and done < wanted.limit:
        async with desk.read() as tx:
            ids = await view.ids(tx, replace(wanted, after=after, limit=min(AT_ONCE, wanted.limit - done)))
        if not ids:
            break
        part, after = Filter(ids=ids, limit=len(ids)), ids[-1]

        async def work(tx: Tx, part: Filter = part) -> int:
            count = await act(tx, part)
            await desk.note(tx, action, "dead_letters", _named(choice), after={"count": count, **(noted or {})})
            return count

        try:
            done += await desk.write(work)
        except Conflict as error:
            refused = error
    if refused is not None and done == 0:
        raise refused
    return matched, done


def _named(choice: Choice) -> str:
    """What was chosen, in the audit log's one line."""
    return json.dumps(choice.model_dump(mode="json", include={"ids", "filter"}, exclude_none=True))[:200]


@router.get("/{task_id}", summary="Show a dead letter")
async def show_letter(desk: Viewer, task_id: PathId) -> DeadLetterDetail:
    """With its input and what was tried."""
    async with desk.read() as tx:
        return await view.one(tx, task_id)


@router.patch("/{task_id}", summary="Mend a dead letter's input")
async def edit_letter(desk: Operator, task_id: PathId, form: InputForm) -> DeadLetterDetail:
    """Then re-drive it."""

    async def work(tx: Tx) -> DeadLetterDetail:
        before = (await view.one(tx, task_id)).input
        await redriving.edit(tx, desk.engine.books, task_id, form.input)
        after = _short(form.input)
        await desk.note(tx, "dead_letter.edit", "task", task_id, before=_short(before), after=after)
        return await view.one(tx, task_id)

    return await desk.write(work)


def _short(value: Any) -> Any:
    size = len(json.dumps(value))
    return {"input": value} if size <= NOTED else {"characters": size}
