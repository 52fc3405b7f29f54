"""One product: it is what is asked most."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from bobusang.entry.api import express
from bobusang.entry.api.conditions import UNCHANGED, IfNoneMatch, shown
from bobusang.entry.api.desk import Desk, Viewer
from bobusang.entry.api.fields import PathId
from bobusang.entry.api.product_forms import WHOLE, example
from bobusang.entry.api.resource import Resource
from bobusang.views import products
from bobusang.views.products import ProductDetail

PREFIX = "/products"
DIGITS = 18
"""So many make a number that is certainly an id."""

router = Resource("products", PREFIX)


@router.get(
    "/{product_id}",
    summary="Show a product",
    response_model=ProductDetail,
    responses={200: example(WHOLE), **UNCHANGED},
)
async def show_product(desk: Viewer, product_id: PathId, if_none_match: IfNoneMatch = None) -> Response:
    """With its seller, and of each locked field what the source says."""
    return await _shown(desk, product_id, if_none_match)


async def _shown(desk: Desk, product_id: int, known: str | None) -> Response:
    async with desk.read() as tx:
        found = await products.one(tx, product_id)
    return shown(found, known=known)


def _plain(scope: Scope) -> express.Work | None:
    """A path with an id as ids are written; parameters are not looked at here, nor on the usual way."""
    before, _, id = scope["path"].rpartition("/")
    if before != PREFIX or not (id.isascii() and id.isdecimal() and len(id) <= DIGITS and id[0] != "0"):
        return None
    return lambda desk: _shown(desk, int(id), express.header(scope, b"if-none-match"))


DOOR = express.Door(router, _plain)
