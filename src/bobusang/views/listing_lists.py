"""Listings as a list that stays quick however many there are: by an index, or looking at so many at most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, or_, select, union_all

from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.register.market import Cause
from bobusang.stages.register.model import State
from bobusang.stages.register.tables import listings
from bobusang.views import accounts
from bobusang.views.columns import below, window
from bobusang.views.listings import ListingLine, line_of, lined

WINDOW = 5_000
"""Listings that one look for drift passes: most have none."""
CALLED = Statement("select id, name, brand from products where id in (:ids...)")
PRODUCTS = Statement("select sku, product_id from listings where sku in (:skus...)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """Which listings; what is not given does not matter. `text`: a SKU, or the market's own number."""

    market: str | None = None
    account: str | None = None
    state: State | None = None
    refused: bool = False
    cause: Cause | None = None
    drifted: bool = False
    text: str = ""
    ids: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some listings, newest first; `resume`: after which to go on, even where none of these was found."""

    lines: Sequence[ListingLine]
    resume: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What a product is called."""

    name: str | None
    brand: str | None


async def part(tx: Tx, wanted: Narrowed, before: int | None, limit: int) -> Part:
    """At most so many."""
    owners = await accounts.names(tx)
    chosen = [
        id
        for id, (market, name) in owners.items()
        if wanted.market in (None, market) and wanted.account in (None, name)
    ]
    table, oldest = listings.c, None
    conditions: list[Any] = below(table.id, before)
    if wanted.drifted:
        oldest = await window(tx, table.id, before, WINDOW)
        conditions += [table.drift.is_not(None), *([] if oldest is None else [table.id >= oldest])]
    conditions += _picked(wanted, list(owners))
    is_picked = wanted.drifted or wanted.refused or bool(wanted.cause or wanted.text or wanted.ids)
    is_narrow = len(chosen) < len(owners)
    query = lined()
    if is_narrow and not chosen:
        return Part(lines=(), resume=None)
    if not is_picked and (is_narrow or wanted.state):
        states = [wanted.state] if wanted.state else list(State)
        found = _by_state(chosen, states, conditions, limit)
        query = query.join(found, found.c.id == table.id)
    elif is_picked and not wanted.drifted:
        # Few are picked. Asked plainly for account, state and order SQLite would walk over all to find them so.
        conditions += [func.coalesce(table.account_id, 0).in_(chosen)] if is_narrow else []
        conditions += [func.coalesce(table.state, "") == wanted.state.value] if wanted.state else []
        found = select(table.id).where(*conditions).order_by((table.id + 0).desc()).limit(limit + 1).subquery()
        query = query.join(found, found.c.id == table.id)
    else:
        conditions += [table.account_id.in_(chosen)] if is_narrow else []
        conditions += [table.state == wanted.state.value] if wanted.state else []
        query = query.where(*conditions)
    lines = [line_of(row) for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit + 1))]
    if len(lines) > limit:
        return Part(lines=lines[:limit], resume=lines[limit - 1].id)
    return Part(lines=lines, resume=oldest)


async def called(tx: Tx, products: Sequence[int]) -> dict[int, Called]:
    """What these products are called."""
    rows = await tx.fetch(CALLED, ids=sorted(set(products))) if products else ()
    return {row["id"]: Called(name=row["name"], brand=row["brand"]) for row in rows}


async def products_of(tx: Tx, skus: Sequence[str]) -> dict[str, int]:
    """Of these SKUs those that have a listing, with the product of each."""
    rows = await tx.fetch(PRODUCTS, skus=sorted(set(skus))) if skus else ()
    return {row["sku"]: row["product_id"] for row in rows}


def _picked(wanted: Narrowed, owners: Sequence[int]) -> list[Any]:
    """What few listings have, by an index of its own."""
    table, found = listings.c, list[Any]()
    if wanted.cause is not None:
        found.append(table.refusal_cause == wanted.cause.value)
    elif wanted.refused:
        found.append(table.refusal_cause > "")  # for `is not null` SQLite takes no index
    if wanted.text:
        number = and_(table.account_id.in_(owners), table.market_id == wanted.text)
        found.append(or_(table.sku == wanted.text, number))
    if wanted.ids:
        found.append(table.id.in_(sorted(set(wanted.ids))))
    return found


def _by_state(owners: Sequence[int], states: Sequence[State], conditions: Sequence[Any], limit: int) -> Any:
    """The newest of each account and state, which is how the index is sorted; the newest of all are among them."""
    table = listings.c
    parts = [
        select(table.id)
        .where(table.account_id == owner, table.state == state.value, *conditions)
        .order_by(table.id.desc())
        .limit(limit + 1)
        .subquery()
        for owner in owners
        for state in states
    ]
    return union_all(*(select(one.c.id) for one in parts)).subquery()
