"""Products as callers write them: told like a source tells them, or edited by a person."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from bobusang.catalog.products import COLUMNS
from bobusang.entry.api.fields import Flag, Form, Numeric
from bobusang.flows.catalogue.upserting import HAND, Wanted

MOST_MONEY = 10**15

Mall = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,49}$", examples=["okmall"])]
ProductId = Annotated[str, Field(min_length=1, max_length=100, examples=["4711"], description="the mall's own id")]
SellerId = Annotated[str, Field(min_length=1, max_length=100, examples=["luxboy"], description="the mall's own id")]
Short = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=500)]
Url = Annotated[
    str,
    # Spaces by their numbers: which others are spaces is not the same in every grammar of patterns.
    Field(
        pattern=r"^https?://[^\x00-\x20\x7f-\xa0\u2028\u2029\u3000]+$",
        max_length=1000,
        examples=["https://www.okmall.com/4711"],
    ),
]
Money = Annotated[int, Field(ge=0, le=MOST_MONEY, description="in minor units", examples=[129000]), Numeric]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", examples=["KRW"])]
Gender = Annotated[str, Field(min_length=1, max_length=20, examples=["남성"])]


class OptionForm(Form):
    """One thing that can be chosen of a product."""

    code: Annotated[str, Field(min_length=1, max_length=200, examples=["B1"])]
    color: Short | None = None
    size: Short | None = None
    available: Flag | None = None
    stock: Annotated[int, Field(ge=0, le=10**9), Numeric] | None = None
    price: Money | None = None


class ProductFields(Form):
    """What a person or a program may say of a product; null says that there is none."""

    seller_id: SellerId | None = None
    brand: Annotated[Short | None, Field(examples=["NIKE"])] = None
    brand_ko: Annotated[Short | None, Field(examples=["나이키"])] = None
    name: Annotated[Text | None, Field(examples=["나이키 롱패딩"])] = None
    model: Annotated[Short | None, Field(examples=["DD1234-010"])] = None
    price: Money | None = None
    list_price: Money | None = None
    currency: Currency | None = None
    url: Url | None = None
    in_stock: Flag | None = None
    category: Annotated[Text | None, Field(examples=["의류 > 패딩"])] = None
    gender: Gender | None = None


class ProductForm(ProductFields):
    """A product, known by mall and product_id, or by its url alone; what is left out stays as it is."""

    mall: Annotated[Mall | None, Field(description=f"`{HAND}` unless the url is known of another")] = None
    product_id: ProductId | None = None
    images: Annotated[list[Url] | None, Field(max_length=50)] = None
    options: Annotated[list[OptionForm] | None, Field(max_length=1000)] = None
    description: Annotated[str | None, Field(max_length=20_000)] = None

    def wanted(self) -> Wanted:
        """The same as the catalogue takes it: a source speaks of a seller, and of what is sold out."""
        fields = self.model_dump(exclude_unset=True)
        mall, product_id = fields.pop("mall", None), fields.pop("product_id", None)
        if "seller_id" in fields:
            fields["seller"] = fields.pop("seller_id")
        if "in_stock" in fields:
            stock = fields.pop("in_stock")
            fields["sold_out"] = None if stock is None else not stock
        return Wanted(fields, mall, product_id)


class ProductEdit(ProductFields):
    """What a person sets; each is locked against the crawler until it is unlocked."""

    image: Url | None = None
    listed: Annotated[Flag | None, Field(description="whether the mall still lists it")] = None

    def values(self) -> dict[str, Any]:
        """What was said, by column."""
        return self.model_dump(exclude_unset=True)


class UnlockForm(Form):
    """Which fields follow the source again; all that are locked unless named."""

    fields: Annotated[list[str] | None, Field(min_length=1, max_length=len(COLUMNS), examples=[["price"]])] = None


EXAMPLE: dict[str, Any] = {
    "id": 500001,
    "mall": "okmall",
    "product_id": "4711",
    "sku": "okmall-4711",
    "seller_id": "luxboy",
    "brand": "NIKE",
    "brand_ko": "나이키",
    "name": "나이키 롱패딩",
    "model": "DD1234-010",
    "price": 119000,
    "list_price": 159000,
    "currency": "KRW",
    "url": "https://www.okmall.com/4711",
    "image": "https://www.okmall.com/4711.jpg",
    "in_stock": True,
    "listed": True,
    "category": "의류 > 패딩",
    "gender": "남성",
    "locked": ["price"],
    "version": 3,
    "created_at": "2026-11-16T03:00:00Z",
    "updated_at": "2026-11-16T04:00:00Z",
}
WHOLE = EXAMPLE | {"seller": {"id": 3, "seller_id": "luxboy", "name": "럭스보이"}, "source": {"price": 129000}}


def example(value: Any) -> dict[str, Any]:
    """How an answer looks, for the documentation."""
    return {"content": {"application/json": {"example": value}}}
