"""What a list shows of products beside the products themselves: picture, conversion, selling price and margin, listing,
freshness and quality, in three statements for a whole page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.convert.model import Reason as Why
from bobusang.stages.convert.tables import State as Readiness
from bobusang.stages.price.model import Decision, Reason
from bobusang.stages.register.model import State
from bobusang.views.conversions import WhyHeld
from bobusang.views.margins import margin_of, with_tail
from bobusang.views.product_lists import LACKS, Lack
from bobusang.views.products import ProductLine

SHELF = Statement("""
    select p.id, i.sha256, c.state, c.reasons, r.quality,
      (select max(s.last_seen_at) from source_seen s where s.record_id = p.id) as seen_at
    from products p
      left join product_images i on i.product_id = p.id and i.position = 1 and i.state = 'READY'
      left join conversions c on c.product_id = p.id and c.market = :market
      left join source_records r on r.id = p.id
    where p.id in (:ids...)""")
QUOTES = with_tail("""
    select q.product_id, q.decision, q.reason, q.price, q.floor, q.currency, tail(steps) as steps from price_quotes q
      join (select max(id) as id from price_quotes where product_id in (:ids...) and market = :market
        group by product_id) m on m.id = q.id""")
LISTINGS = Statement("""
    select l.product_id, l.state, l.confirmed, l.open_call, l.refusal_words, l.refusal_cause from market_accounts a
      join listings l on l.account_id = a.id and l.product_id in (:ids...)
    where a.market = :market order by case when l.retired = 0 then 1 else 0 end, l.id""")


class _Confirmed(msgspec.Struct):
    price: int | None = None


_reasons = msgspec.json.Decoder(tuple[Why, ...])
_confirmed = msgspec.json.Decoder(_Confirmed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selling:
    """The last decision on its price; `margin` is a share of one, null where there is no price."""

    decision: Decision
    reason: Reason
    price: int | None
    currency: str
    margin: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnMarket:
    """Its listing that was made last; one that is retired only while no other is there."""

    state: State
    price: int | None
    is_open: bool
    refused: str | None

    @property
    def is_there(self) -> bool:
        """Whether the market has it, or may have it: such a product is not deleted."""
        over = (State.NEW, State.REJECTED, State.DELETED, State.REMOVED)
        return self.is_open or self.state not in over


@dataclass(frozen=True, slots=True, kw_only=True)
class OnShelf:
    """One product as a list shows it."""

    product: ProductLine
    picture: str | None
    readiness: Readiness | None
    reasons: list[WhyHeld]
    quality: float | None
    seen_at: datetime | None
    selling: Selling | None
    listing: OnMarket | None

    @property
    def lacks(self) -> list[Lack]:
        """What selling it needs and nobody has said."""
        return [lack for lack, column in LACKS.items() if getattr(self.product, column) is None]


async def shelf(tx: Tx, lines: Sequence[ProductLine], market: str) -> list[OnShelf]:
    """These products in their order."""
    if not lines:
        return []
    ids = [line.id for line in lines]
    rows = {row["id"]: row for row in await tx.fetch(SHELF, ids=ids, market=market)}
    quotes = {row["product_id"]: row for row in await tx.fetch(QUOTES, ids=ids, market=market)}
    listings = {row["product_id"]: row for row in await tx.fetch(LISTINGS, ids=ids, market=market)}
    return [_shown(line, rows.get(line.id), quotes.get(line.id), listings.get(line.id)) for line in lines]


async def pictures(tx: Tx, ids: Sequence[int], market: str) -> dict[int, str]:
    """The first picture of each product that has one."""
    rows = await tx.fetch(SHELF, ids=list(ids), market=market) if ids else ()
    return {row["id"]: row["sha256"] for row in rows if row["sha256"]}


def _shown(line: ProductLine, row: Row | None, quote: Row | None, listing: Row | None) -> OnShelf:
    held = row is not None and row["state"] == Readiness.HELD
    why = _reasons.decode(row["reasons"]) if row is not None and held else ()
    return OnShelf(
        product=line,
        picture=row["sha256"] if row else None,
        readiness=Readiness(row["state"]) if row and row["state"] else None,
        reasons=[WhyHeld(why=one.why, text=one.text, field=one.field) for one in why],
        quality=row["quality"] if row else None,
        seen_at=utc(row["seen_at"]) if row else None,
        selling=_selling(quote) if quote else None,
        listing=_listing(listing) if listing else None,
    )


def _selling(row: Row) -> Selling:
    return Selling(
        decision=Decision(row["decision"]),
        reason=Reason(row["reason"]),
        price=row["price"],
        currency=row["currency"],
        margin=margin_of(row["steps"]),
    )


def _listing(row: Row) -> OnMarket:
    return OnMarket(
        state=State(row["state"]),
        price=_confirmed.decode(row["confirmed"]).price if row["confirmed"] else None,
        is_open=row["open_call"] is not None,
        refused=row["refusal_words"] or row["refusal_cause"],
    )
