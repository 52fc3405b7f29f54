"""The malls' categories: proposed by collecting, accepted or blocked by a person, one by one or by filter."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.catalog import categories
from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import PathId
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.reviews import Choice, ChoiceQuery, Reviewed, ReviewForm, Reviewing
from bobusang.views.categories import CATEGORIES, CategoryLine

router = Resource("categories", "/categories")

REVIEWING = Reviewing("categories", CATEGORIES, categories.review)

Text = Annotated[str, Field(min_length=1, max_length=200, description="part of the path")]


class CategoryQuery(ChoiceQuery):
    """Which categories."""

    q: Text | None = None


class CategoryChoice(Choice):
    """Which categories; at least one thing must be said."""

    q: Text | None = None


class CategoriesForm(ReviewForm):
    """One verdict on many categories, by their ids or by a filter."""

    filter: CategoryChoice | None = None


@router.get("", summary="List categories of malls")
async def list_categories(desk: Viewer, query: Annotated[CategoryQuery, Query()]) -> Page[CategoryLine]:
    """By number."""
    return await REVIEWING.page(desk, query)


@router.post("/bulk", summary="Review many categories")
async def review_categories(desk: Operator, form: CategoriesForm) -> Reviewed:
    """Accept, block or set back all that are named, or all that a filter matches, in one transaction."""
    return await REVIEWING.many(desk, form)


@router.post("/{category_id}/accept", summary="Accept a category")
async def accept_category(desk: Operator, category_id: PathId) -> CategoryLine:
    """Its products may go to the market, as the market's category that stands beside it."""
    return await REVIEWING.one(desk, category_id, "accept")


@router.post("/{category_id}/block", summary="Block a category")
async def block_category(desk: Operator, category_id: PathId) -> CategoryLine:
    """Its products are held back, however often the mall proposes it."""
    return await REVIEWING.one(desk, category_id, "block")


@router.post("/{category_id}/propose", summary="Set a category back")
async def propose_category(desk: Operator, category_id: PathId) -> CategoryLine:
    """As if nobody had reviewed it."""
    return await REVIEWING.one(desk, category_id, "propose")
