"""One product, by the shortest way: it is what is asked most."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from bobusang.entry.api.conditions import UNCHANGED, IfNoneMatch, shown
from bobusang.entry.api.desk import Desk, Viewer, desk_of
from bobusang.entry.api.fields import PathId
from bobusang.entry.api.product_forms import WHOLE, example
from bobusang.entry.tables import Role
from bobusang.views import products
from bobusang.views.products import ProductDetail

DIGITS = 18
"""So many make a number that is certainly an id."""


class Quick(APIRoute):
    """The usual route, but for requests with nothing wrong in them, which need none of its solving of dependencies:
    that costs more than the query. Whatever is not plain goes the usual way, and is refused there."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            id, headers = request.path_params["product_id"], request.headers
            scheme, _, key = headers.get("authorization", "").partition(" ")
            plain = id.isascii() and id.isdecimal() and len(id) <= DIGITS and id[0] != "0"
            if plain and scheme == "Bearer" and not request.app.state.local:
                desk = await desk_of(request, key)
                if desk is not None and desk.role.includes(Role.VIEWER):
                    return await _shown(desk, int(id), headers.get("if-none-match"))
            return await usual(request)

        return handle


router = APIRouter(prefix="/products", tags=["products"], route_class=Quick)


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
