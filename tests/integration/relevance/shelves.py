"""The sandbox's two malls as an index has them, made without asking for a page."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from bobusang.catalog.categories import SEPARATOR
from bobusang.platform.search import Document
from bobusang.sandbox.mustit.goods import HEADER, category

if TYPE_CHECKING:
    from bobusang.sandbox.product import Product, Standing
    from bobusang.sandbox.world import World

SEED, SIZE = 7, 2_000
MALLS = ("okmall", "mustit")
"""Those that the grades were given for."""


def stocked(world: World) -> list[tuple[Document, Product]]:
    """Every product that the two malls list, numbered as if they had been collected side by side."""
    found = [
        (mall, one)
        for mall in MALLS
        for brand in world.malls[mall].brands
        for no in world.of_brand(mall, brand)
        if (one := world.standing(mall, no))
    ]
    random.Random(SEED).shuffle(found)
    return [(document(id, mall, one), one.product) for id, (mall, one) in enumerate(found, 1)]


def document(id: int, mall: str, one: Standing) -> Document:
    """What is read of its pages: MustIt does not say which part of a name is the model number."""
    product = one.product
    return Document(
        id,
        mall,
        str(product.no),
        product.title,
        brand=product.brand.en,
        brand_ko=product.brand.ko,
        model=product.model if mall == "okmall" else "",
        category=SEPARATOR.join(_path(mall, product)),
        seller=product.seller if mall == "mustit" else "",
        price=one.price,
        currency="KRW",
        in_stock=not one.sold_out,
    )


def _path(mall: str, product: Product) -> tuple[str, ...]:
    if mall == "okmall":
        return product.kind.path if product.has_path else ()
    place = category(product.kind)
    return (HEADER[product.gender][1], place.large[1], place.medium[1], place.small[1])
