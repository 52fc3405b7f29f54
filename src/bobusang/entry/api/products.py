"""Products: listed, made or changed, edited, unlocked, deleted and restored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from bobusang.catalog import products as catalog
from bobusang.catalog.model import ChangeKind
from bobusang.entry.api.conditions import IfMatch, encoded, must_match, shown
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Form, Instant, PathId
from bobusang.entry.api.narrowing import FieldNames, asked, narrowed, part_of
from bobusang.entry.api.once import IdempotencyKey, once
from bobusang.entry.api.pages import Page, Paged, pack, unpacked
from bobusang.entry.api.product_forms import (
    EXAMPLE,
    MOST_MONEY,
    WHOLE,
    Mall,
    ProductEdit,
    ProductForm,
    ProductId,
    SellerId,
    Short,
    Text,
    UnlockForm,
    Url,
    example,
)
from bobusang.entry.api.records import groups_of
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import MARKETS, Market
from bobusang.flows.catalogue import editing, removing
from bobusang.flows.catalogue.upserting import upsert
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid
from bobusang.views import product_lists, products
from bobusang.views.product_lists import Lack, ProductFilter, Quality, Sort
from bobusang.views.products import ProductDetail, ProductLine

router = Resource("products", "/products")

NAMES = tuple(ProductLine.__dataclass_fields__)
Price = Annotated[int, Field(ge=0, le=MOST_MONEY, description="in minor units")]
State = Annotated[
    str, Field(pattern=r"^[a-z_]{1,50}$", description="as `active`, `sold_out` or `none`", examples=["active"])
]
ProductPart: Any = part_of(ProductLine, "ProductPart", "product")


class ProductChoice(Form):
    """Which products; all of it holds for each of them."""

    mall: Mall | None = None
    product_id: ProductId | None = None
    url: Url | None = None
    brand: Short | None = None
    seller: SellerId | None = None
    category: Annotated[Text | None, Field(description="this one and those below it", examples=["의류 > 패딩"])] = None
    min_price: Price | None = None
    max_price: Price | None = None
    in_stock: bool | None = None
    market: Market = MARKETS[0]
    market_state: State | None = None
    changed_since: Instant | None = None
    quality: Annotated[Quality | None, Field(description="has all of name, brand, model, price, picture …")] = None
    lacks: Annotated[Lack | None, Field(description="has none of this")] = None
    fields: FieldNames = None

    def wanted(self) -> ProductFilter:
        """The same as the view takes it."""
        names = ProductFilter.__dataclass_fields__
        return ProductFilter(**{name: getattr(self, name) for name in names})

    def names(self) -> tuple[str, ...]:
        """The fields that are asked for, each once."""
        return asked(self.fields, NAMES, "product")


class ProductQuery(Paged, ProductChoice):
    """Which products, in which order."""

    sort: Sort = Sort.ID


@router.get(
    "",
    summary="List products",
    response_model=Page[ProductPart],
    responses={200: example({"items": [EXAMPLE], "next": "WyJwcm9kdWN0cy9pZCIsNSw1XQ"})},
)
async def list_products(desk: Viewer, query: Annotated[ProductQuery, Query()]) -> Response:
    """By id, price or last change, walked by an index. What no index finds is looked for among a bounded number a call,
    so a page may be short or even empty while `next` is not null: go on until it is. By price, only what has one."""
    names = query.names()
    kind = f"products/{query.sort}"
    after = unpacked(kind, query.cursor, int, int)
    async with desk.read() as tx:
        found = await product_lists.listed(
            tx, query.wanted(), query.sort, None if after is None else (after[0], after[1]), query.limit
        )
    items = [narrowed(line, names) for line in found.lines]
    next_ = None if found.resume is None else pack(kind, *found.resume)
    return Response(encoded({"items": items, "next": next_}), media_type="application/json")


@router.post(
    "",
    summary="Make or change a product",
    status_code=201,
    response_model=ProductDetail,
    responses={200: {"model": ProductDetail, "description": "It was there already"} | example(WHOLE)},
)
async def put_product(
    desk: Operator, request: Request, form: ProductForm, idempotency_key: IdempotencyKey = None
) -> Response:
    """Found by mall and product_id, or by url: 201 when it is new, 200 when it was there. It speaks as a source does:
    with versions and history, never over what a person has locked."""

    async def work(tx: Tx) -> Response:
        (outcome,) = await upsert(tx, [form.wanted()], desk.actor, lambda mall: groups_of(desk, mall))
        if outcome.error is not None:
            raise outcome.error
        status = 201 if outcome.kind is ChangeKind.NEW else 200
        return shown(await products.one(tx, outcome.id), status, Location=f"/products/{outcome.id}")

    return await once(desk, request, idempotency_key, form, work)


@router.patch("/{product_id}", summary="Edit a product", response_model=ProductDetail, responses={200: example(WHOLE)})
async def edit_product(desk: Operator, product_id: PathId, form: ProductEdit, if_match: IfMatch = None) -> Response:
    """What is given is set and locked against the crawler; null says that there is none."""
    values = form.values()
    if not values:
        raise Invalid("nothing to change was given", hint=f"one of {', '.join(ProductEdit.model_fields)}")
    return await _changed(desk, product_id, if_match, lambda tx: editing.change(tx, product_id, values, desk.actor))


@router.put("/{product_id}", summary="Replace the edits of a product", response_model=ProductDetail)
async def replace_product(desk: Operator, product_id: PathId, form: ProductEdit, if_match: IfMatch = None) -> Response:
    """All that a person says of it: what is given is set and locked, everything else follows the source again."""
    return await _changed(
        desk, product_id, if_match, lambda tx: editing.replace(tx, product_id, form.values(), desk.actor)
    )


@router.delete("/{product_id}", summary="Delete a product", status_code=204)
async def delete_product(desk: Operator, product_id: PathId, if_match: IfMatch = None) -> None:
    """409 while a market has it. Its record and history stay, and no crawl brings it back: only a restore does."""

    async def work(tx: Tx) -> None:
        await _must_match(tx, product_id, if_match)
        await removing.remove(tx, product_id, desk.actor)

    await desk.write(work)


@router.post("/{product_id}/unlock", summary="Unlock fields of a product", response_model=ProductDetail)
async def unlock_product(
    desk: Operator, product_id: PathId, form: UnlockForm | None = None, if_match: IfMatch = None
) -> Response:
    """They follow the source again, at once."""
    names = form.fields if form else None
    return await _changed(desk, product_id, if_match, lambda tx: editing.unlock(tx, product_id, names, desk.actor))


@router.post("/{product_id}/restore", summary="Restore a deleted product", response_model=ProductDetail)
async def restore_product(desk: Operator, product_id: PathId) -> Response:
    """As its source describes it now; what was edited in it before is in the audit log."""

    async def work(tx: Tx) -> ProductDetail:
        await removing.restore(tx, product_id, desk.actor)
        return await products.one(tx, product_id)

    return shown(await desk.write(work))


async def _changed(
    desk: Desk, product_id: int, if_match: str | None, change: Callable[[Tx], Awaitable[None]]
) -> Response:
    async def work(tx: Tx) -> ProductDetail:
        await _must_match(tx, product_id, if_match)
        await change(tx)
        return await products.one(tx, product_id)

    return shown(await desk.write(work))


async def _must_match(tx: Tx, product_id: int, if_match: str | None) -> None:
    """Held first: what matches stays so until the change is made."""
    if if_match is not None:
        await catalog.hold(tx, product_id)
        must_match(if_match, await products.one(tx, product_id))
