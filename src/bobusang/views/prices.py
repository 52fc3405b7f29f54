"""Prices for the doors: what was decided and by which steps, the rates of exchange, and who prices by which policy."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.money import Money
from bobusang.stages.price import policies, quotes
from bobusang.stages.price.explain import ExplainRow, explain
from bobusang.stages.price.model import Decision, FxState, Hold, Reason, Search
from bobusang.stages.price.quotes import Recorded
from bobusang.stages.price.tables import fx_quotes, price_policies
from bobusang.views.columns import below


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLine:
    """What was decided on a price; amounts in the market's minor units, null where there is none."""

    id: int
    sku: str
    product_id: int
    market: str
    account: str
    decision: Decision
    reason: Reason
    detail: str
    price: int | None
    floor: int | None
    ceiling: int | None
    confirmed: int | None
    currency: str | None
    below_floor: bool
    decided_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalShown:
    """The lowest comparable offer that the decision knew of."""

    search: Search
    total: int | None
    currency: str | None
    seller: str
    title: str
    offers: int
    comparable: int
    found_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceExplained(PriceLine):
    """A decision with every step that led to it."""

    fx_quote_id: int | None
    rules: str
    rival: RivalShown
    steps: list[ExplainRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class FxLine:
    """So many `quote` for one `base`; `reason` says why a person should look at it."""

    id: int
    base: str
    quote: str
    rate: str
    spread: str
    source: str
    state: FxState
    reason: str
    quoted_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyShown:
    """How an account prices; `origin` is account, market or default."""

    market: str
    account: str
    origin: str
    decided_by: str | None
    decided_at: datetime | None
    policy: dict[str, Any]


async def explained(tx: Tx, sku: str, *, market: str = "", account: str = "") -> PriceExplained:
    """The last decision on a product's price, step by step."""
    found = await quotes.latest(tx, sku, market=market, account=account)
    rival = found.rival
    return PriceExplained(
        **_line(found),
        fx_quote_id=found.fx_quote_id,
        rules=found.rules,
        rival=RivalShown(
            search=rival.search,
            total=_amount(rival.total),
            currency=rival.total.currency if rival.total else None,
            seller=rival.seller,
            title=rival.title,
            offers=rival.offers,
            comparable=rival.comparable,
            found_at=rival.found_at,
        ),
        steps=explain(found.result),
    )


async def history(tx: Tx, sku: str, *, market: str = "", account: str = "", limit: int) -> list[PriceLine]:
    """Decisions that differ from the one before, newest first."""
    found = await quotes.history(tx, sku, market=market, account=account, limit=limit)
    return [PriceLine(**_line(one)) for one in found]


def _line(found: Recorded) -> dict[str, Any]:
    result = found.result
    price = None if isinstance(result, Hold) else result.price
    known = next((one for one in (price, result.floor, result.ceiling, found.confirmed) if one), None)
    return {
        "id": found.id,
        "sku": found.sku,
        "product_id": found.product_id,
        "market": found.market,
        "account": found.account,
        "decision": quotes.decision_of(result),
        "reason": result.reason,
        "detail": result.detail,
        "price": _amount(price),
        "floor": _amount(result.floor),
        "ceiling": _amount(result.ceiling),
        "confirmed": _amount(found.confirmed),
        "currency": known.currency if known else None,
        "below_floor": isinstance(result, Hold) and result.is_below_floor,
        "decided_at": found.created_at,
    }


def _amount(money: Money | None) -> int | None:
    return None if money is None else money.amount_minor


async def rates(
    tx: Tx,
    *,
    base: str | None = None,
    quote: str | None = None,
    state: FxState | None = None,
    before: int | None,
    limit: int,
) -> list[FxLine]:
    """Rates of exchange, those that came last first."""
    table = fx_quotes.c
    query = select(fx_quotes).where(*below(table.id, before))
    for column, value in ((table.base, base), (table.quote, quote), (table.state, state)):
        if value is not None:
            query = query.where(column == str(value))
    return [_rate(row) for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit))]


async def rate(tx: Tx, id: int) -> FxLine:
    """One rate."""
    row = await tx.first(select(fx_quotes).where(fx_quotes.c.id == id))
    if row is None:
        raise Missing(f"there is no rate {id}", hint="`bobusang fx list` shows them", field="id")
    return _rate(row)


def _rate(row: Row) -> FxLine:
    same = ("id", "base", "quote", "rate", "spread", "source", "reason", "decided_by")
    return FxLine(
        **{name: row[name] for name in same},
        state=FxState(row["state"]),
        quoted_at=utc(row["quoted_at"]),
        decided_at=utc(row["decided_at"]),
        created_at=utc(row["created_at"]),
    )


async def policy(tx: Tx, market: str, account: str = "") -> PolicyShown:
    """The policy by which an account prices, and whose it is."""
    table = price_policies.c
    rows = await tx.fetch(select(price_policies).where(table.market == market, table.account.in_([account, ""])))
    row = max(rows, key=lambda one: one["account"], default=None)
    return PolicyShown(
        market=market,
        account=account,
        origin="default" if row is None else "account" if row["account"] else "market",
        decided_by=None if row is None else row["decided_by"],
        decided_at=None if row is None else utc(row["decided_at"]),
        policy=msgspec.to_builtins((await policies.load(tx)).of(market, account)),
    )
