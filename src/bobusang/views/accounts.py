"""Our shops on markets: how each sells, whether it may send, and what it has used of its calls."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import func, select

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.stages.register import accounts as stage
from bobusang.stages.register import ledger, listings
from bobusang.stages.register.budget import DAY, HOUR
from bobusang.stages.register.market import Family
from bobusang.stages.register.model import Account, State
from bobusang.stages.register.tables import HoldState, listing_holds, market_accounts
from bobusang.stages.register.tables import listings as listing_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLine:
    """An account in a list; `rests_until` is what the market asked for."""

    id: int
    market: str
    name: str
    enabled: bool
    stopped_why: str
    rests_until: datetime | None
    shop_name: str
    seller_name: str
    fee_tier: str
    live: int
    held: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What an account has called of what its market allows; product calls are counted by 24 hours, all by the hour."""

    hour: int
    hour_limit: int
    day: int
    day_limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDetail(AccountLine):
    """An account with all that its listings are made of; secrets are named, never shown."""

    buying_area: str
    shipping_area: str
    shipping_methods: list[int]
    shipping_charge: int | None
    duty: str
    token_ref: str
    secret_ref: str
    policy: dict[str, Any]
    calls: Calls
    listings: dict[str, int]


async def listed(tx: Tx) -> list[AccountLine]:
    """All accounts, by market and name; there are few."""
    table = market_accounts.c
    rows = await tx.fetch(select(market_accounts).order_by(table.market, table.name))
    live, held = await _live(tx), await _held(tx)
    return [AccountLine(**_line(row, live.get(row["id"], 0), held.get(row["id"], 0))) for row in rows]


async def one(tx: Tx, market: str, name: str) -> AccountDetail:
    """One account with what it has used."""
    table = market_accounts.c
    row = await tx.first(select(market_accounts).where(table.market == market, table.name == name))
    if row is None:
        raise Missing(f"there is no account {name} on {market}", hint="see `bobusang account list`", field="account")
    account = stage.account_of(row)
    states = await listings.by_state(tx, account.id)
    return AccountDetail(
        **_line(row, states.get(State.LIVE, 0), (await _held(tx)).get(account.id, 0)),
        buying_area=account.buying_area,
        shipping_area=account.shipping_area,
        shipping_methods=list(account.shipping_methods),
        shipping_charge=account.shipping_charge,
        duty=account.duty,
        token_ref=account.token_ref,
        secret_ref=account.secret_ref,
        policy=msgspec.to_builtins(account.policy),
        calls=await _calls(tx, account),
        listings={state.value: count for state, count in states.items()},
    )


async def _calls(tx: Tx, account: Account) -> Calls:
    """The ledger of the last day against the budget."""
    budget = account.policy.budget
    used = await ledger.used(tx, account.id, timedelta())
    counted = frozenset(Family) if budget.stock_counts else frozenset({Family.PRODUCT})
    return Calls(
        hour=used.within(HOUR, tx.now, frozenset(Family)),
        hour_limit=budget.hour,
        day=used.within(DAY, tx.now, counted),
        day_limit=budget.day,
    )


async def names(tx: Tx) -> dict[int, tuple[str, str]]:
    """Market and name of each account by its number."""
    table = market_accounts.c
    rows = await tx.fetch(select(table.id, table.market, table.name).order_by(table.market, table.name))
    return {row["id"]: (row["market"], row["name"]) for row in rows}


async def _live(tx: Tx) -> dict[int, int]:
    table = listing_rows.c
    query = select(table.account_id, func.count().label("listings")).where(table.state == State.LIVE.value)
    return {row["account_id"]: row["listings"] for row in await tx.fetch(query.group_by(table.account_id))}


async def _held(tx: Tx) -> dict[int, int]:
    table = listing_holds.c
    query = select(table.account_id, func.count().label("holds")).where(table.state == HoldState.HELD.value)
    return {row["account_id"]: row["holds"] for row in await tx.fetch(query.group_by(table.account_id))}


def _line(row: Row, live: int, held: int) -> dict[str, Any]:
    same = ("id", "market", "name", "stopped_why", "shop_name", "seller_name", "fee_tier")
    return {
        **{name: row[name] for name in same},
        "enabled": bool(row["enabled"]),
        "rests_until": utc(row["blocked_until"]),
        "live": live,
        "held": held,
        "created_at": utc(row["created_at"]),
        "updated_at": utc(row["updated_at"]),
    }
