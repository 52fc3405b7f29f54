"""Our shops on markets: settings, the switch that stops all sending, and the rest a market asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import insert

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Statement
from bobusang.platform.bus import Event, publish
from bobusang.stages.register.model import Account, Policy
from bobusang.stages.register.tables import market_accounts

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

LOCK = Statement(
    "select * from market_accounts where id = :id for update", sqlite="select * from market_accounts where id = :id"
)
BY_NAME = Statement("select * from market_accounts where market = :market and name = :name")
ALL = Statement("select * from market_accounts order by market, name")
CHANGE = Statement("""
    update market_accounts set buying_area = :buying_area, shipping_area = :shipping_area,
      shipping_methods = :shipping_methods, shop_name = :shop_name, seller_name = :seller_name,
      shipping_charge = :shipping_charge, duty = :duty, fee_tier = :fee_tier,
      token_ref = :token_ref, secret_ref = :secret_ref, policy = :policy, updated_at = :now
    where id = :id""")
SWITCH = Statement("""
    update market_accounts set enabled = :enabled, stopped_why = :why, updated_at = :now
    where id = :id and enabled <> :enabled""")
REST = Statement("""
    update market_accounts set blocked_until = :until, updated_at = :now
    where id = :id and (blocked_until is null or blocked_until < :until)""")
REASON_LENGTH = 500

_policies = msgspec.json.Decoder(Policy)


async def add(tx: Tx, account: Account) -> Account:
    """Open an account here; its id in what is given does not matter."""
    check(account)
    values = _values(account) | {"market": account.market, "name": account.name, "created_at": tx.now}
    id = await tx.create(insert(market_accounts).values(**values, updated_at=tx.now))
    return replace(account, id=id)


async def change(tx: Tx, account: Account) -> None:
    """Give an account other settings; the switch is not one of them."""
    check(account)
    await tx.execute(CHANGE, **_values(account), id=account.id, now=tx.now)


def check(account: Account) -> None:
    """Refuse what could not sell."""
    if not account.shipping_methods:
        raise Invalid(f"{account.market}/{account.name} has no shipping method", field="shipping_methods")
    if account.shipping_charge is not None and account.shipping_charge < 0:
        hint = "0 where shipping is free"
        raise Invalid("a shipping charge is not negative", hint=hint, field="shipping_charge")
    if not account.token_ref or not account.secret_ref:
        hint = "name the secrets, such as env:BUYMA_TOKEN"
        raise Invalid(f"{account.market}/{account.name} names no secrets", hint=hint, field="token_ref")
    shares = account.policy.budget.shares
    if (
        len(shares) != 5
        or any(not 0 < share <= 100 for share in shares)
        or list(shares) != sorted(shares, reverse=True)
    ):
        hint = "five falling percentages, from stock-out to new listing"
        raise Invalid(f"the shares {shares} are no shares of a budget", hint=hint, field="shares")
    if account.policy.price_hours < 0:
        hint = "hours from 0 (for ever) on"
        raise Invalid("a price is not good for less than no time", hint=hint, field="price_hours")
    unseen = account.policy.unseen
    if unseen.cap < 1 or min(unseen.told, unseen.capped, unseen.suspended) < 0:
        hint = "hours from 0 (never) on, and a cap from 1 on"
        raise Invalid(f"{unseen} is no rule for what nobody has seen", hint=hint, field="unseen")


async def named(tx: Tx, market: str, name: str) -> Account:
    """The account of that name."""
    row = await tx.first(BY_NAME, market=market, name=name)
    if row is None:
        raise Missing(f"there is no account {name} on {market}", hint="see `bobusang account list`", field="account")
    return account_of(row)


async def every(tx: Tx) -> list[Account]:
    """All accounts."""
    return [account_of(row) for row in await tx.fetch(ALL)]


async def lock(tx: Tx, id: int) -> tuple[Account, datetime | None]:
    """The account, for one planner at a time, and until when the market asked for a rest."""
    row = await tx.first(LOCK, id=id)
    if row is None:
        raise Missing(f"there is no account {id}", field="account")
    return account_of(row), utc(row["blocked_until"])


async def switch(tx: Tx, account: Account, *, enabled: bool, why: str) -> None:
    """Stop all sending of an account, or let it go on; whoever listens is told."""
    if await tx.execute(SWITCH, id=account.id, enabled=enabled, why=why[:REASON_LENGTH], now=tx.now):
        told = {"account": f"{account.market}/{account.name}", "enabled": enabled, "why": why[:REASON_LENGTH]}
        await publish(tx, Event("account.switched", f"account:{account.id}", told))


async def rest(tx: Tx, id: int, until: datetime) -> None:
    """Send nothing before then."""
    await tx.execute(REST, id=id, until=until, now=tx.now)


def account_of(row: Row) -> Account:
    """An account as it is kept."""
    return Account(
        id=row["id"],
        market=row["market"],
        name=row["name"],
        buying_area=row["buying_area"],
        shipping_area=row["shipping_area"],
        shipping_methods=tuple(json.loads(row["shipping_methods"])),
        shop_name=row["shop_name"],
        seller_name=row["seller_name"],
        shipping_charge=row["shipping_charge"],
        duty=row["duty"],
        fee_tier=row["fee_tier"],
        token_ref=row["token_ref"],
        secret_ref=row["secret_ref"],
        enabled=bool(row["enabled"]),
        stopped_why=row["stopped_why"],
        policy=_policies.decode(row["policy"]),
    )


def _values(account: Account) -> dict[str, object]:
    plain = (
        *("buying_area", "shipping_area", "shop_name", "seller_name", "shipping_charge", "duty", "fee_tier"),
        *("token_ref", "secret_ref"),
    )
    return {name: getattr(account, name) for name in plain} | {
        "shipping_methods": json.dumps(account.shipping_methods),
        "policy": json.dumps(account.policy),
    }
