"""Reviews of what malls propose, one by one or by filter: what the routes of brands and of categories share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from bobusang.catalog.model import Review
from bobusang.entry.api.desk import Desk
from bobusang.entry.api.fields import Flag, Form, Id, Name
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.kit.db import Tx
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.views.reviews import ReviewFilter, ReviewList

AT_ONCE = 1000
"""Rows a statement takes."""
SHOWN = 500
REVIEWS = {"accept": Review.ACCEPTED, "block": Review.BLOCKED, "propose": Review.PROPOSED}

Text = Annotated[str, Field(min_length=1, max_length=200)]


class Choice(Form):
    """Which of them."""

    mall: Name | None = None
    review: Review | None = None
    q: Text | None = None

    def wanted(self, ids: Sequence[int] = ()) -> ReviewFilter:
        return ReviewFilter(mall=self.mall, review=self.review, text=self.q, ids=ids)


class ChoiceQuery(Choice, Paged):
    """Which of them, page by page."""


class ReviewForm(Form):
    """One verdict on many, by their ids or by a filter."""

    action: Literal["accept", "block", "propose"]
    ids: Annotated[list[Id] | None, Field(min_length=1, max_length=AT_ONCE)] = None
    filter: Choice | None = None
    dry_run: Annotated[Flag, Field(description="only say how many")] = False

    @model_validator(mode="after")
    def _one_of_both(self) -> ReviewForm:
        if (self.ids is None) == (self.filter is None):
            raise PydanticCustomError("ids_or_filter", "needs either ids or filter")
        if self.filter is not None and not self.filter.model_dump(exclude_none=True):
            raise PydanticCustomError("empty_filter", "needs a filter that says something")
        return self


class Reviewed(BaseModel):
    """How many brands matched and were not so already, and how many were changed; `ids` shows the first of them."""

    matched: int
    changed: int
    dry_run: bool
    ids: list[int]


class Reviewable(Protocol):
    """What every line under review has."""

    @property
    def id(self) -> int: ...

    @property
    def review(self) -> Review: ...


Line = TypeVar("Line", bound=Reviewable)


@dataclass(frozen=True, slots=True)
class Reviewing(Generic[Line]):
    """How the rows of a list are shown and reviewed; `decide` is the catalog's."""

    path: str
    rows: ReviewList[Line]
    decide: Callable[[Tx, Sequence[int], Review], Awaitable[int]]

    async def page(self, desk: Desk, query: ChoiceQuery) -> Page[Line]:
        """By number."""
        after = unpack(self.path, query.cursor)
        async with desk.read() as tx:
            found = await self.rows.listed(tx, query.wanted(), after=after, limit=query.limit + 1)
        return page(self.path, found, query.limit, lambda line: line.id)

    async def one(self, desk: Desk, id: int, action: str) -> Line:
        """Review one."""

        async def work(tx: Tx) -> Line:
            before = await self.rows.one(tx, id)
            await self.decide(tx, [id], REVIEWS[action])
            told = {"review": before.review}, {"review": REVIEWS[action]}
            await desk.note(tx, f"{self.rows.noun}.{action}", self.rows.noun, id, before=told[0], after=told[1])
            return await self.rows.one(tx, id)

        return await desk.write(work)

    async def many(self, desk: Desk, form: ReviewForm) -> Reviewed:
        """Review all that are named or that match, in one transaction."""
        chosen = form.filter or Choice()

        async def work(tx: Tx) -> Reviewed:
            ids = await self.rows.ids(tx, chosen.wanted(form.ids or ()), but=REVIEWS[form.action])
            changed = 0 if form.dry_run else await self._reviewed(desk, tx, ids, form.action)
            return Reviewed(matched=len(ids), changed=changed, dry_run=form.dry_run, ids=ids[:SHOWN])

        return await desk.write(work)

    async def _reviewed(self, desk: Desk, tx: Tx, ids: list[int], action: str) -> int:
        changed, rest, noun = 0, iter(ids), self.rows.noun
        after = {"review": REVIEWS[action]}
        while some := list(islice(rest, AT_ONCE)):
            changed += await self.decide(tx, some, REVIEWS[action])
            lines = (Entry(desk.actor, f"{noun}.{action}", Subject(noun, id), after=after) for id in some)
            await audit.record_all(tx, *lines)
        return changed
