"""One product from its source to its market: what the source says, what it was made into, how it looks, what it costs,
where it is listed, and what stands in the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from bobusang.catalog import images
from bobusang.catalog.images import ProductImage
from bobusang.catalog.products import CURRENT
from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement
from bobusang.stages.convert.model import Converted, Reason
from bobusang.stages.convert.options import texts
from bobusang.stages.convert.tables import State
from bobusang.views import listings, prices, products
from bobusang.views.conversions import WhyHeld
from bobusang.views.listings import ListingDetail
from bobusang.views.prices import PriceExplained
from bobusang.views.products import ProductDetail

MADE = Statement("""
    select r.version, r.quality, r.last_changed_at, d.normalized_data, c.state, c.reasons, c.data, c.data_version,
      c.source_version, c.updated_at as converted_at,
      (select max(s.last_seen_at) from source_seen s where s.record_id = r.id) as seen_at
    from source_records r join source_data d on d.id = r.version_id
      left join conversions c on c.product_id = r.id and c.market = :market
    where r.id = :id""")
HOLDS = Statement("""
    select h.id, h.guard, h.reason, h.created_at from listings l
      join listing_holds h on h.listing_id = l.id and h.state = 'HELD'
    where l.sku = :sku and l.retired = 0 order by h.id""")

_made = msgspec.json.Decoder(Converted)
_reasons = msgspec.json.Decoder(tuple[Reason, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a product was made into for a market, or why it is held; `is_behind`: made of an older version."""

    state: State
    reasons: list[WhyHeld]
    made: Converted | None
    is_behind: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A send of it that a guard stopped."""

    id: int
    guard: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One colour or size: the mall's word, and the market's where there is one."""

    key: str
    text: str
    market_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What the mall says of one colour in one size; `is_filler`: only the market's grid asks for it."""

    stock: StockKind
    count: int | None = None
    price: int | None = None
    is_filler: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Colours by sizes; a product without choices has one of each."""

    colors: list[Choice]
    sizes: list[Choice]
    cells: Mapping[tuple[str, str], Cell]

    @property
    def available(self) -> int:
        """How many can be bought."""
        return sum(cell.stock in (StockKind.IN, StockKind.COUNT) for cell in self.cells.values())

    @property
    def real(self) -> int:
        """How many the mall has ever named."""
        return sum(not cell.is_filler for cell in self.cells.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductPage:
    """All of it."""

    product: ProductDetail
    said: Mapping[str, Any]
    """The fields of its source, as they are now."""
    version: int
    quality: float | None
    changed_at: datetime
    seen_at: datetime | None
    conversion: Conversion | None
    pictures: Sequence[ProductImage]
    price: PriceExplained | None
    listings: list[ListingDetail]
    holds: list[Hold] = field(default_factory=list)

    @property
    def listing(self) -> ListingDetail | None:
        """The one that was made last, and is not retired."""
        return max((one for one in self.listings if not one.retired), key=lambda one: one.id, default=None)

    @property
    def matrix(self) -> Matrix:
        """As it was converted; until then as the source says."""
        made = self.conversion.made if self.conversion else None
        return matrix_of(made.goods) if made else matrix_said(self.said.get("options"))


async def page(tx: Tx, id: int, market: str) -> ProductPage:
    """A product for a market, in six statements."""
    product = await products.one(tx, id)
    row = await tx.first(MADE, id=id, market=market)
    if row is None:
        raise Missing(f"product {id} has no source record", field="product_id")
    found = await images.of(tx, [id])
    holds = await tx.fetch(HOLDS, sku=product.sku)
    return ProductPage(
        product=product,
        said=json.loads(row["normalized_data"]),
        version=row["version"],
        quality=row["quality"],
        changed_at=utc(row["last_changed_at"]),
        seen_at=utc(row["seen_at"]),
        conversion=_conversion(row),
        pictures=found[id],
        price=await _price(tx, product.sku, market),
        listings=await listed(tx, product.sku, market),
        holds=[_hold(one) for one in holds],
    )


async def said(tx: Tx, id: int) -> Mapping[str, Any]:
    """All fields of its source as they are now."""
    row = await tx.first(CURRENT, id=id)
    found: Mapping[str, Any] = {} if row is None else json.loads(row["normalized_data"])
    return found


async def listed(tx: Tx, sku: str, market: str) -> list[ListingDetail]:
    """Its listings on a market; one that was never sent has none."""
    try:
        return [one for one in await listings.of_sku(tx, sku) if one.market == market]
    except Missing:
        return []


async def _price(tx: Tx, sku: str, market: str) -> PriceExplained | None:
    try:
        return await prices.explained(tx, sku, market=market)
    except Missing:
        return None


def _hold(row: Row) -> Hold:
    return Hold(id=row["id"], guard=row["guard"], reason=row["reason"], at=utc(row["created_at"]))


def _conversion(row: Row) -> Conversion | None:
    if row["state"] is None:
        return None
    return Conversion(
        state=State(row["state"]),
        reasons=[WhyHeld(why=one.why, text=one.text, field=one.field) for one in _reasons.decode(row["reasons"])],
        made=_made.decode(row["data"]) if row["data"] else None,
        is_behind=row["source_version"] < row["version"],
        at=utc(row["converted_at"]),
    )


def matrix_of(goods: Goods) -> Matrix:
    """The grid as the market is told it."""

    def axis(wanted: Axis) -> list[Choice]:
        found = sorted((one for one in goods.options if one.axis is wanted), key=lambda one: one.position)
        return [Choice(key=one.key, text=one.text, market_text=one.market_text) for one in found]

    cells = {
        (one.color_key, one.size_key): Cell(
            stock=one.stock.kind, count=one.stock.count, price=one.price, is_filler=one.filler
        )
        for one in goods.variants
    }
    return _whole(axis(Axis.COLOR), axis(Axis.SIZE), cells)


def matrix_said(options: Any) -> Matrix:
    """The same of what a source says; whatever is no option is left out."""
    said = [one for one in options if isinstance(one, dict)] if isinstance(options, list) else []
    cells = {
        (along.get(Axis.COLOR, ""), along.get(Axis.SIZE, "")): _cell(option)
        for option, along in zip(said, texts(said), strict=True)
    }

    def axis(place: int) -> list[Choice]:
        return [Choice(key=one, text=one, market_text="") for one in dict.fromkeys(key[place] for key in cells) if one]

    return _whole(axis(0), axis(1), cells)


def _whole(colors: list[Choice], sizes: list[Choice], cells: Mapping[tuple[str, str], Cell]) -> Matrix:
    one = Choice(key="", text="", market_text="")
    return Matrix(colors=colors or [one], sizes=sizes or [one], cells=cells)


def _cell(option: Mapping[str, Any]) -> Cell:
    count, available = option.get("stock"), option.get("available")
    counted = count if isinstance(count, int) and not isinstance(count, bool) else None
    if available is False or counted == 0:
        kind = StockKind.OUT
    elif counted is not None:
        kind = StockKind.COUNT
    else:
        kind = StockKind.IN if available is True else StockKind.UNKNOWN
    price = option.get("price")
    return Cell(stock=kind, count=counted, price=price if isinstance(price, int) else None)
