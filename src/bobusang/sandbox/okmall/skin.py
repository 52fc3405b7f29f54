"""The class names of OKmall's pages, as they are known and as they are after the layout has changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skin:
    """The names that readers hold on to."""

    box: str = "item_box"
    number: str = "data-ProductNo"
    title: str = "prName_PrName"
    price: str = "okmall_price"
    list_price: str = "orgin_price"
    total: str = "total_count"
    ld_product: str = "Product"
    name_area: str = "ProductNameArea"
    last_price: str = "last_price"
    option_row: str = "selectOption"


KNOWN = Skin()
CHANGED = Skin(
    box="prd_card",
    number="data-goods",
    title="card_name",
    price="card_price",
    list_price="card_before",
    total="result_total",
    ld_product="ProductGroup",
    name_area="GoodsTitle",
    last_price="now_price",
    option_row="optRow",
)


def skin(drifted: bool) -> Skin:
    """The names in use."""
    return CHANGED if drifted else KNOWN
