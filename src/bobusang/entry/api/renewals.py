"""Products that became something else under their number: listed anew, or with options that mean what they say now."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Operator
from bobusang.entry.api.fields import Form, PathId
from bobusang.entry.api.resource import Resource
from bobusang.flows.catalogue import renewing

router = Resource("products", "/products")


class WhyForm(Form):
    """Why, for whoever wonders."""

    why: Annotated[str, Field(min_length=1, max_length=500, examples=["the mall sells it by size only now"])]


class Renewed(BaseModel):
    """A product that begins anew; `listings`: how many were retired by this, none where it had begun before."""

    product_id: int
    sku: str
    generation: int
    listings: int
    again: bool


class Relabeled(BaseModel):
    """A product of which the codes name what its mall says; `told`: which, empty where that was said before."""

    product_id: int
    sku: str
    told: str
    again: bool


@router.post("/{product_id}/renew", summary="Have a product listed anew")
async def renew_product(desk: Operator, product_id: PathId, form: WhyForm) -> Renewed:
    """Its listings are retired: closed at the market within seconds, and never changed again. The next FULL converts it
    by the options of today, and lists it under another reference once the market has closed what was before. 409 unless
    it is held as `axes_changed` or `option_relabeled`, or was taken down; done twice it is done once."""
    market = desk.app.belt.market
    done = await desk.write(lambda tx: renewing.renew(tx, market, product_id, desk.actor, form.why))
    return Renewed(
        product_id=done.product_id,
        sku=done.sku,
        generation=done.generation,
        listings=done.listings,
        again=done.again,
    )


@router.post("/{product_id}/relabel", summary="Say that a product's options are what they are called now")
async def relabel_product(desk: Operator, product_id: PathId, form: WhyForm) -> Relabeled:
    """The mall's codes name what its texts say, as was shown when it was held; its listings stay and keep their words,
    and stock follows the texts at once. 409 unless it is held as `option_relabeled`, and where the mall calls them
    otherwise by now; done twice it is done once."""
    market = desk.app.belt.market
    done = await desk.write(lambda tx: renewing.relabel(tx, market, product_id, desk.actor, form.why))
    return Relabeled(product_id=done.product_id, sku=done.sku, told=done.told, again=done.again)
