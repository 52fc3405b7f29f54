"""The catalog's copy of what a market has confirmed: whoever looks at a record sees where it is for sale.

A record has one entry a market. With several listings there it is that of the one which is for sale, else of one that
is not retired, else of the one the market spoke of last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog import markets
from bobusang.catalog.markets import ACTIVE, NEVER, Sync
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.stages.register import accounts
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.register.market import Market

LISTED = Statement("""
    select product_id, account_id, market_id, state, confirmed, confirmed_at, retired from listings
    where account_id in (:accounts...) and product_id in (:products...) order by id""")


class _Confirmed(msgspec.Struct, frozen=True):
    """All that is wanted of a confirmed draft here."""

    price: int


_confirmed = msgspec.json.Decoder(_Confirmed)


async def mirror(tx: Tx, market: Market, products: Iterable[int]) -> None:
    """Bring the entries of these products up to their listings, which are saved."""
    wanted = sorted(set(products))
    if not wanted:
        return
    shown: dict[int, Row] = {}
    names = {one.id: one.name for one in await accounts.every(tx) if one.market == market.name}
    for row in await tx.fetch(LISTED, accounts=sorted(names), products=wanted):
        before = shown.get(row["product_id"])
        if before is None or _rank(row) > _rank(before):
            shown[row["product_id"]] = row
    syncs = [Sync(id, market.name, _info(market, names[row["account_id"]], row)) for id, row in sorted(shown.items())]
    await markets.set_market_data(tx, syncs, missing_ok=True)


def _rank(row: Row) -> tuple[bool, bool, datetime]:
    return row["state"] == State.LIVE, row["retired"] == 0, utc(row["confirmed_at"]) or NEVER


def _info(market: Market, account: str, row: Row) -> dict[str, Any]:
    state, id, at = State(row["state"]), row["market_id"] or "", utc(row["confirmed_at"])
    info: dict[str, Any] = {"status": ACTIVE if state is State.LIVE else state.lower(), "account": account}
    if id:
        info |= {"listing_id": id, "url": market.page(id)}
    if row["confirmed"]:
        info |= {"price": _confirmed.decode(row["confirmed"]).price, "currency": market.abilities.currency}
    return info | ({"last_sync": at.isoformat()} if at else {})
