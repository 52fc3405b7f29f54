"""A product's pictures: which there are, in which order, by what right, and which cover."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from pydantic import Field

from bobusang.catalog import images
from bobusang.catalog.images import ProductImage
from bobusang.catalog.tables.images import PLACES, Rights
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Form, PathId
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.flows.conveyor import marks
from bobusang.kit.db import Tx
from bobusang.stages.image import deciding, revisits
from bobusang.views import pictures as view
from bobusang.views.pictures import PictureLine

router = Resource("products", "/products")


class OrderForm(Form):
    """Which pictures are shown, the cover first."""

    positions: Annotated[
        list[Annotated[int, Field(ge=1, le=PLACES)]],
        Field(min_length=1, max_length=PLACES, description="as the list shows them", examples=[[2, 1]]),
    ]


class RightsForm(Form):
    """By what right the pictures of a product are shown."""

    rights: Rights


@router.get("/{product_id}/pictures", summary="List a product's pictures")
async def list_product_pictures(desk: Viewer, product_id: PathId) -> Page[PictureLine]:
    """In their order: those that are ready, then those that are not, with why."""
    async with desk.read() as tx:
        return Page(items=await view.of_product(tx, product_id), next=None)


@router.post("/{product_id}/pictures/order", summary="Order a product's pictures")
async def order_product_pictures(desk: Operator, product_id: PathId, form: OrderForm) -> Page[PictureLine]:
    """What is ready and not named is taken out for good. The next run of either mode tells the market; no later one
    moves them."""

    async def work(tx: Tx) -> tuple[list[str], list[str]]:
        before, after = await deciding.order(tx, product_id, form.positions)
        return _ready(before), _ready(after)

    return await _changed(desk, product_id, "order", work)


@router.post("/{product_id}/pictures/rights", summary="Declare the rights of a product's pictures")
async def declare_product_pictures(desk: Operator, product_id: PathId, form: RightsForm) -> Page[PictureLine]:
    """It stays, whatever is said of the source. A false declaration is punished by the market."""

    async def work(tx: Tx) -> tuple[list[str], str]:
        before = (await images.of(tx, [product_id]))[product_id]
        await images.declare(tx, product_id, form.rights, by=desk.actor)
        return [one.rights for one in before], form.rights

    return await _changed(desk, product_id, "rights", work)


@router.post("/{product_id}/pictures/accept", summary="Take another cover")
async def accept_product_cover(desk: Operator, product_id: PathId) -> Page[PictureLine]:
    """The picture that the cover's address gives now; 422 where no cover waits. The next run tells the market."""

    async def work(tx: Tx) -> tuple[list[str], list[str]]:
        before, after = await deciding.accept(tx, product_id)
        return _ready(before), _ready(after)

    return await _changed(desk, product_id, "accept", work)


@router.post("/{product_id}/pictures/refresh", summary="Have a product's pictures fetched again")
async def refresh_product_pictures(desk: Operator, product_id: PathId) -> Page[PictureLine]:
    """The next FULL asks the mall whether their addresses still give the same. Another cover waits for a person."""

    async def work(tx: Tx) -> tuple[None, None]:
        await images.lock(tx, [product_id])
        await revisits.ask(tx, [product_id], refresh=True)
        return None, None

    return await _changed(desk, product_id, "refresh", work)


async def _changed(
    desk: Desk, product_id: int, verb: str, change: Callable[[Tx], Awaitable[tuple[object, object]]]
) -> Page[PictureLine]:
    async def work(tx: Tx) -> Page[PictureLine]:
        await view.of_product(tx, product_id)  # 404 before anything else
        before, after = await change(tx)
        await marks.forget(tx, desk.app.belt.market, [product_id])
        await desk.note(tx, f"product.pictures.{verb}", "product", product_id, before=before, after=after)
        return Page(items=await view.of_product(tx, product_id), next=None)

    return await desk.write(work)


def _ready(found: tuple[ProductImage, ...]) -> list[str]:
    return [one.sha256 or "" for one in found if one.is_ready]
