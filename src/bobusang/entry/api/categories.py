"""The malls' categories: proposed by collecting, accepted or blocked by a person, one by one or by filter."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from bobusang.catalog import categories
from bobusang.catalog.model import Review
from bobusang.entry.api.brands import AT_ONCE, REVIEWS, SHOWN, Reviewed
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Id, Name, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.kit.db import Tx
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.views import categories as view
from bobusang.views.categories import CategoryFilter, CategoryLine

router = APIRouter(prefix="/categories", tags=["categories"])

Text = Annotated[str, Field(min_length=1, max_length=200, description="part of the path")]


class CategoryQuery(Paged):
    """Which categories."""

    mall: Name | None = None
    review: Review | None = None
    q: Text | None = None


class CategoryChoice(Form):
    """Which categories; at least one thing must be said."""

    mall: Name | None = None
    review: Review | None = None
    q: Text | None = None


class CategoriesForm(Form):
    """One verdict on many categories, by their ids or by a filter."""

    action: Literal["accept", "block", "propose"]
    ids: Annotated[list[Id] | None, Field(min_length=1, max_length=AT_ONCE)] = None
    filter: CategoryChoice | None = None
    dry_run: Annotated[Flag, Field(description="only say how many")] = False

    @model_validator(mode="after")
    def _one_of_both(self) -> CategoriesForm:
        if (self.ids is None) == (self.filter is None):
            raise PydanticCustomError("ids_or_filter", "needs either ids or filter")
        if self.filter is not None and not self.filter.model_dump(exclude_none=True):
            raise PydanticCustomError("empty_filter", "needs a filter that says something")
        return self


@router.get("", summary="List categories of malls")
async def list_categories(desk: Viewer, query: Annotated[CategoryQuery, Query()]) -> Page[CategoryLine]:
    """By number."""
    after = unpack("categories", query.cursor)
    wanted = CategoryFilter(mall=query.mall, review=query.review, text=query.q)
    async with desk.read() as tx:
        found = await view.listed(tx, wanted, after=after, limit=query.limit + 1)
    return page("categories", found, query.limit, lambda category: category.id)


@router.post("/bulk", summary="Review many categories")
async def review_categories(desk: Operator, form: CategoriesForm) -> Reviewed:
    """Accept, block or set back all that are named, or all that a filter matches, in one transaction."""
    verdict, chosen = REVIEWS[form.action], form.filter or CategoryChoice()

    async def work(tx: Tx) -> Reviewed:
        wanted = CategoryFilter(mall=chosen.mall, review=chosen.review, text=chosen.q, ids=form.ids or ())
        ids = await view.ids(tx, wanted, but=verdict)
        changed = 0 if form.dry_run else await _reviewed(desk, tx, ids, form.action)
        return Reviewed(matched=len(ids), changed=changed, dry_run=form.dry_run, ids=ids[:SHOWN])

    return await desk.write(work)


@router.post("/{category_id}/accept", summary="Accept a category")
async def accept_category(desk: Operator, category_id: PathId) -> CategoryLine:
    """Its products may go to the market, as the market's category that stands beside it."""
    return await _review(desk, category_id, "accept")


@router.post("/{category_id}/block", summary="Block a category")
async def block_category(desk: Operator, category_id: PathId) -> CategoryLine:
    """Its products are held back, however often the mall proposes it."""
    return await _review(desk, category_id, "block")


@router.post("/{category_id}/propose", summary="Set a category back")
async def propose_category(desk: Operator, category_id: PathId) -> CategoryLine:
    """As if nobody had reviewed it."""
    return await _review(desk, category_id, "propose")


async def _review(desk: Desk, category_id: int, action: str) -> CategoryLine:
    async def work(tx: Tx) -> CategoryLine:
        before = await view.one(tx, category_id)
        await categories.review(tx, [category_id], REVIEWS[action])
        told = {"review": before.review}, {"review": REVIEWS[action]}
        await desk.note(tx, f"category.{action}", "category", category_id, before=told[0], after=told[1])
        return await view.one(tx, category_id)

    return await desk.write(work)


async def _reviewed(desk: Desk, tx: Tx, ids: list[int], action: str) -> int:
    changed, rest = 0, iter(ids)
    while some := list(islice(rest, AT_ONCE)):
        changed += await categories.review(tx, some, REVIEWS[action])
        after = {"review": REVIEWS[action]}
        await audit.record_all(
            tx, *(Entry(desk.actor, f"category.{action}", Subject("category", id), after=after) for id in some)
        )
    return changed
