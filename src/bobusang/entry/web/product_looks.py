"""What a person does about a product's pictures on its page: another cover, and looks that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.tables.images import ImageState
from bobusang.entry.api import pictures, product_pictures
from bobusang.entry.api.pictures import BlockForm
from bobusang.entry.api.product_pictures import OrderForm
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import Conflict
from bobusang.platform.blob import checked

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

pages = Pages()


@pages.post("/products/{product_id:int}/pictures/cover")
async def cover(visit: Visit) -> Response:
    """Put a picture first; the others follow as they stand."""
    id, chosen = visit.number("product_id"), (await visit.form()).get("sha256")
    found = (await product_pictures.list_product_pictures(visit.desk, id)).items
    ready = [one for one in found if one.state is ImageState.READY]
    if chosen not in [one.sha256 for one in ready]:
        raise Conflict("its pictures have changed since you looked", hint="look at them again")
    places = [one.position for one in sorted(ready, key=lambda one: one.sha256 != chosen)]
    await product_pictures.order_product_pictures(visit.desk, id, OrderForm(positions=places))
    return visit.done(N_("It is the cover; the next run tells the market."), f"/products/{id}")


@pages.post("/products/{product_id:int}/pictures/block")
async def block(visit: Visit) -> Response:
    """Refuse whatever looks like a picture."""
    id, sha256 = visit.number("product_id"), checked((await visit.form()).get("sha256"))
    why = f"blocked on the page of product {id}"
    done = await pictures.block_picture(visit.desk, BlockForm(sha256=sha256, reason=why))
    text = N_("What looks like it is refused from now on; the next FULL takes it off %(count)s products.")
    return visit.done(text, f"/products/{id}", count=done.products)
