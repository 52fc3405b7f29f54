"""Quotes in the database: every decision that differs from the one before it, with all its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.kit.money import Money
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.price.model import (
    RULES,
    Decision,
    Hold,
    Keep,
    Lately,
    Priced,
    Quote,
    Reason,
    Rival,
    Step,
    Wanted,
)
from bobusang.stages.price.tables import REASON_LENGTH, price_quotes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

Key = tuple[int, str, str]
"""Product, market, account."""

LAST = Statement("""
    select q.product_id, q.market, q.account, q.decision, q.reason, q.price, q.is_below_floor
    from price_quotes q join
      (select max(id) as id from price_quotes where product_id in (:products...)
        group by product_id, market, account) m on m.id = q.id""")
LATELY = Statement("""
    select product_id, market, account, price, confirmed, currency from price_quotes
    where product_id in (:products...) and created_at > :since""")
OF_SKU = Statement("""
    select * from price_quotes where sku = :sku and (:market = '' or market = :market)
      and (:account = '' or account = :account) order by id desc limit :limit""")
_NEW = Bulk(
    price_quotes,
    (
        *("product_id", "sku", "market", "account", "decision", "reason", "detail", "price", "floor", "ceiling"),
        *("confirmed", "currency", "is_below_floor", "fx_quote_id", "competitor", "steps", "rules", "created_at"),
    ),
)
_steps = msgspec.json.Decoder(tuple[Step, ...])
_rivals = msgspec.json.Decoder(Rival)


@dataclass(frozen=True, slots=True)
class Said:
    """What makes a decision another one than the last: its numbers may waver without being news, but not past the
    floor."""

    decision: Decision
    reason: Reason
    price: int | None
    is_below_floor: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """What came of pricing one wanted product."""

    wanted: Wanted
    result: Priced
    rival: Rival
    currency: str
    fx_quote_id: int | None = None
    is_news: bool = True
    """Whether it differs from the last decision, and so was written down."""

    @property
    def key(self) -> Key:
        return key_of(self.wanted)

    @property
    def said(self) -> Said:
        result = self.result
        if isinstance(result, Hold):
            return Said(Decision.HOLD, result.reason, None, result.is_below_floor)
        return Said(decision_of(result), result.reason, result.price.amount_minor)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A decision as it is kept."""

    id: int
    product_id: int
    sku: str
    market: str
    account: str
    result: Priced
    confirmed: Money | None
    fx_quote_id: int | None
    rival: Rival
    rules: str
    created_at: datetime


def key_of(wanted: Wanted) -> Key:
    return wanted.product_id, wanted.market, wanted.account


def decision_of(result: Priced) -> Decision:
    match result:
        case Quote():
            return Decision.QUOTE
        case Keep():
            return Decision.KEEP
        case Hold():
            return Decision.HOLD


async def last_said(tx: Tx, products: Iterable[int]) -> dict[Key, Said]:
    """The last decision on each of these products, for every account."""
    rows = await tx.fetch(LAST, products=sorted(set(products)))
    return {
        _key(row): Said(Decision(row["decision"]), Reason(row["reason"]), row["price"], bool(row["is_below_floor"]))
        for row in rows
    }


async def lately(tx: Tx, products: Iterable[int], since: datetime) -> dict[Key, Lately]:
    """The highest and the lowest price of these products since then, whether wished for or confirmed."""
    prices: dict[Key, list[Money]] = {}
    for row in await tx.fetch(LATELY, products=sorted(set(products)), since=since):
        amounts = [Money(row[name], row["currency"]) for name in ("price", "confirmed") if row[name] is not None]
        prices.setdefault(_key(row), []).extend(amounts)
    by_amount = {key: sorted(found, key=lambda money: money.amount_minor) for key, found in prices.items() if found}
    return {key: Lately(found[-1], found[0]) for key, found in by_amount.items()}


async def write(tx: Tx, quoted: Sequence[Quoted]) -> None:
    """Keep these decisions."""
    await tx.insert(_NEW, [_row(one, tx.now) for one in quoted])


async def history(tx: Tx, sku: str, *, market: str = "", account: str = "", limit: int = 20) -> list[Recorded]:
    """The last decisions on a product, the newest first."""
    rows = await tx.fetch(OF_SKU, sku=sku, market=market, account=account, limit=limit)
    return [_recorded(row) for row in rows]


async def latest(tx: Tx, sku: str, *, market: str = "", account: str = "") -> Recorded:
    """The last decision on a product."""
    found = await history(tx, sku, market=market, account=account, limit=1)
    if not found:
        raise Missing(f"nothing has been decided on the price of '{sku}'", hint="has it been through PRICE yet?")
    return found[0]


def _row(one: Quoted, now: datetime) -> tuple[object, ...]:
    wanted, result, said = one.wanted, one.result, one.said
    return (
        *(wanted.product_id, wanted.sku, wanted.market, wanted.account, said.decision, said.reason),
        result.detail[:REASON_LENGTH],
        *(said.price, _amount(result.floor), _amount(result.ceiling), _amount(wanted.current), one.currency),
        said.is_below_floor,
        one.fx_quote_id,
        json.dumps(one.rival),
        json.dumps(result.steps),
        RULES,
        now,
    )


def _amount(money: Money | None) -> int | None:
    return None if money is None else money.amount_minor


def _key(row: Row) -> Key:
    return row["product_id"], row["market"], row["account"]


def _recorded(row: Row) -> Recorded:
    return Recorded(
        row["id"],
        row["product_id"],
        row["sku"],
        row["market"],
        row["account"],
        _result(row),
        _money(row, "confirmed"),
        row["fx_quote_id"],
        _rivals.decode(row["competitor"]),
        row["rules"],
        utc(row["created_at"]),
    )


def _result(row: Mapping[str, object] | Row) -> Priced:
    steps, reason, detail = _steps.decode(str(row["steps"])), Reason(str(row["reason"])), str(row["detail"])
    price, floor, ceiling = (_money(row, name) for name in ("price", "floor", "ceiling"))
    if price is None or floor is None or ceiling is None:
        return Hold(reason, detail, steps, floor, ceiling, bool(row["is_below_floor"]))
    kind = Quote if row["decision"] == Decision.QUOTE else Keep
    return kind(price, reason, floor, ceiling, steps, detail)


def _money(row: Mapping[str, object] | Row, name: str) -> Money | None:
    amount = row[name]
    return Money(amount, str(row["currency"])) if isinstance(amount, int) else None
