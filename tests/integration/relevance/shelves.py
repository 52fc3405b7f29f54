"""The sandbox's malls as an index has them, made without asking for a page."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from bobusang.catalog.categories import SEPARATOR
from bobusang.platform.search import Document
from bobusang.sandbox.musinsa import goods as musinsa
from bobusang.sandbox.mustit import goods as mustit
from bobusang.sandbox.wconcept import goods as wconcept

if TYPE_CHECKING:
    from bobusang.sandbox.product import Product, Standing
    from bobusang.sandbox.world import World

SEED, SIZE = 7, 2_000
MALLS = ("okmall", "wconcept", "mustit", "musinsa")


def stocked(world: World) -> list[tuple[Document, Product]]:
    """Every product that the malls list, numbered as if they had been collected side by side."""
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
        model="" if mall == "mustit" else product.model,
        colours=", ".join(dict.fromkeys(_colours(mall, one))),
        category=SEPARATOR.join(_path(mall, product)),
        seller=_seller(mall, product.seller),
        price=one.price,
        currency="KRW",
        in_stock=not one.sold_out,
    )


def _colours(mall: str, one: Standing) -> list[str]:
    """OKmall shows what can be bought of a product that leaves a choice; W Concept and Musinsa name its own colour, and
    Musinsa the others where there are several; MustIt those of its options, which often have none."""
    product, own = one.product, one.product.colour[1]
    told = list(dict.fromkeys(option.color for option in one.options if option.color))
    match mall:
        case "okmall":
            left = [option.color for option, left in zip(one.options, one.stocks, strict=True) if left]
            return [] if product.single else left
        case "wconcept":
            return [own]
        case "musinsa":
            return [own, *(told if len(told) > 1 else ())]
    return told


def _path(mall: str, product: Product) -> tuple[str, ...]:
    match mall:
        case "okmall":
            return product.kind.path
        case "wconcept":
            return (wconcept.department(product)[1], *wconcept.depths(product.kind))
        case "musinsa":
            return tuple(name for _, name in musinsa.depths(product.kind))
    place = mustit.category(product.kind)
    small = (place.small[1],) if product.has_path else ()
    return (mustit.HEADER[product.gender][1], place.large[1], place.medium[1], *small)


def _seller(mall: str, seller: str) -> str:
    return {"okmall": "", "wconcept": wconcept.vendor(seller).code}.get(mall, seller)
