"""The listings: one a product and account, made before anything is sent, kept as the market last described them.

Where a product began anew the one before it is retired: whoever looks by product does not find it, whoever looks by id,
reference, SKU or the market's number does.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit import ids, json
from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.stages.register.model import Draft, Listing, Refusal, State
from bobusang.stages.register.tables import listings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.register.market import Notice

_OF_PRODUCTS = "select * from listings where account_id = :account and product_id in (:products...) and retired = 0"
OF_PRODUCTS = Statement(_OF_PRODUCTS)
LOCK_PRODUCTS = Statement(f"{_OF_PRODUCTS} order by id for update", sqlite=_OF_PRODUCTS)
LOCK = Statement(
    "select * from listings where id in (:ids...) order by id for update",
    sqlite="select * from listings where id in (:ids...) order by id",
)
# A reference is nobody else's anywhere; asked for the account too, SQLite reads all that the account has.
BY_REFERENCE = Statement("select id, account_id from listings where reference in (:references...)")
BY_MARKET_ID = Statement("select id from listings where account_id = :account and market_id in (:ids...)")
# After a stock call or an extension there may be an edit that a guard has stopped: who was woken by it plans again. So
# does who was woken by a verdict that was not the market's last word.
# `is null` and `is not null` would make SQLite walk an index of them, with all that the account has on the market.
STANDING = Statement("""
    select product_id from listings l where account_id = :account and product_id in (:products...) and retired = 0
      and open_call is null and coalesce(refusal_cause, '') = '' and coalesce(market_id, '') <> '' and exists (
        select 1 from market_calls c
        where c.kind not in ('STOCK', 'CLOSE', 'EXTEND') and c.confirmed_at = l.confirmed_at
          and c.id = (select max(m.id) from market_calls m where m.listing_id = l.id))""")
LIVE = Statement("select count(*) as value from listings where account_id = :account and state = 'LIVE'")
ENDING = Statement("""
    select product_id from listings
    where account_id = :account and state = 'LIVE' and open_call is null and available_until <= :until and retired = 0
    order by available_until, product_id limit :limit""")
OURS = Statement("""
    select market_id from listings where account_id in (:accounts...) and market_id in (:ids...)""")
BY_ID = Statement("select * from listings where id in (:ids...) order by id")
BY_SKU = Statement("select * from listings where sku = :sku order by account_id, retired")
BY_STATE = Statement("select state, count(*) as listings from listings where account_id = :account group by state")

_NEW = Bulk(listings, ("id", "account_id", "product_id", "sku", "state", "created_at", "updated_at"), keep=True)
_COLUMNS = (
    *("reference", "market_id", "state", "confirmed", "market_updated", "open_call", "refusal_cause", "refusal_digest"),
    *("refusal_until", "refusal_words", "day", "day_price", "available_until", "shipping_charge", "updated_at"),
)
_KEEP = Revise(listings, "id", _COLUMNS)
_CONFIRMED = Revise(listings, "id", ("drift", "confirmed_at"))

_drafts = msgspec.json.Decoder(Draft)


async def wanted(tx: Tx, account: int, products: Mapping[int, str]) -> dict[int, Listing]:
    """The listings of products (with their SKUs), those that are missing made; nobody else changes them now."""
    found = await _of(tx, account, products, LOCK_PRODUCTS)
    missing = [product for product in products if product not in found]
    if not missing:
        return found
    fresh = await ids.sequence(tx, "listing").take(tx, len(missing))
    rows = [
        (id, account, product, products[product], State.NEW, tx.now, tx.now)
        for id, product in zip(fresh, missing, strict=True)
    ]
    await tx.insert(_NEW, rows)
    return await _of(tx, account, products, LOCK_PRODUCTS)


async def locked(tx: Tx, account: int, products: Iterable[int]) -> dict[int, Listing]:
    """The listings that there are of these products; nobody else changes them now."""
    return await _of(tx, account, list(products), LOCK_PRODUCTS)


async def known(tx: Tx, account: int, products: Iterable[int]) -> dict[int, Listing]:
    """The listings that there are of these products; for looking only."""
    return await _of(tx, account, list(products), OF_PRODUCTS)


async def standing(tx: Tx, account: int, products: Sequence[int]) -> dict[int, bool]:
    """Of these products, those that the market has taken whole as they were sent last, and has not spoken of since."""
    rows = await tx.fetch(STANDING, account=account, products=list(products)) if products else ()
    return {row["product_id"]: True for row in rows}


async def _of(tx: Tx, account: int, products: Iterable[int], statement: Statement) -> dict[int, Listing]:
    rows = await tx.fetch(statement, account=account, products=list(products))
    return {row["product_id"]: listing_of(row) for row in rows}


async def lock(tx: Tx, wanted_ids: Iterable[int]) -> dict[int, Listing]:
    """These listings, by id, for nobody else to change."""
    chosen = sorted(set(wanted_ids))
    rows = await tx.fetch(LOCK, ids=chosen) if chosen else ()
    return {row["id"]: listing_of(row) for row in rows}


async def named(tx: Tx, account: int, notices: Sequence[Notice]) -> dict[int, Listing]:
    """The listings that webhooks may mean, by id and by reference, locked."""
    references = sorted({notice.reference for notice in notices if notice.reference})
    market_ids = sorted({notice.market_id for notice in notices if notice.market_id})
    rows = await tx.fetch(BY_REFERENCE, references=references)
    found = [row["id"] for row in rows if row["account_id"] == account]
    found += [row["id"] for row in await tx.fetch(BY_MARKET_ID, account=account, ids=market_ids)]
    return await lock(tx, found)


async def save(tx: Tx, changed: Iterable[Listing]) -> None:
    """Keep listings as they are now."""
    await tx.revise(_KEEP, [_row(tx, listing) for listing in sorted(changed, key=lambda listing: listing.id)])


async def save_confirmed(tx: Tx, drifts: Mapping[int, str | None]) -> None:
    """Keep when the market last spoke, and how what it has differs from what was sent."""
    await tx.revise(_CONFIRMED, [(id, drift, tx.now) for id, drift in sorted(drifts.items())])


async def live(tx: Tx, account: int) -> int:
    """How many are live."""
    return int(await tx.value(LIVE, account=account))


async def ending(tx: Tx, account: int, until: date, *, limit: int = 500) -> list[int]:
    """Products whose listings end by then, soonest first: what PARTIAL must not forget, though nothing changed."""
    rows = await tx.fetch(ENDING, account=account, until=until.isoformat(), limit=limit)
    return [row["product_id"] for row in rows]


async def ours(tx: Tx, accounts: Sequence[int], market_ids: Iterable[str]) -> frozenset[str]:
    """Of a market's numbers, those of products that these accounts sell or once sold."""
    wanted = sorted(set(market_ids) - {""})
    parts = [wanted[start : start + 500] for start in range(0, len(wanted), 500)] if accounts else []
    found = [await tx.fetch(OURS, accounts=list(accounts), ids=part) for part in parts]
    return frozenset(row["market_id"] for rows in found for row in rows)


async def some(tx: Tx, chosen: Sequence[int]) -> list[Listing]:
    """These listings; for looking only, since an account is locked before its listings."""
    return [listing_of(row) for row in (await tx.fetch(BY_ID, ids=list(chosen)) if chosen else ())]


async def by_sku(tx: Tx, sku: str) -> list[Listing]:
    """A product's listings on all accounts, of each the present one first."""
    return [listing_of(row) for row in await tx.fetch(BY_SKU, sku=sku)]


async def by_state(tx: Tx, account: int) -> dict[State, int]:
    """How many listings stand where."""
    return {State(row["state"]): row["listings"] for row in await tx.fetch(BY_STATE, account=account)}


def listing_of(row: Row) -> Listing:
    """A listing as it is kept."""
    refusal = None
    if row["refusal_cause"]:
        until, words = utc(row["refusal_until"]), row["refusal_words"] or ""
        refusal = Refusal(row["refusal_cause"], row["refusal_digest"], until, words)
    return Listing(
        id=row["id"],
        account_id=row["account_id"],
        product_id=row["product_id"],
        sku=row["sku"],
        reference=row["reference"] or "",
        market_id=row["market_id"] or "",
        state=State(row["state"]),
        confirmed=_drafts.decode(row["confirmed"]) if row["confirmed"] else None,
        market_updated=row["market_updated"],
        told_at=utc(row["confirmed_at"]),
        shipping_charge=row["shipping_charge"],
        open_call=row["open_call"],
        refusal=refusal,
        day_price=row["day_price"],
        day=date.fromisoformat(row["day"]) if row["day"] else None,
        closed_at=utc(row["closed_at"]),
        unseen_at=utc(row["unseen_at"]),
        is_retired=row["retired"] != 0,
    )


def _row(tx: Tx, listing: Listing) -> tuple[object, ...]:
    confirmed, refusal = listing.confirmed, listing.refusal
    return (
        listing.id,
        listing.reference or None,
        listing.market_id or None,
        listing.state,
        json.dumps(confirmed) if confirmed else None,
        listing.market_updated,
        listing.open_call,
        refusal and refusal.cause,
        refusal and refusal.digest,
        refusal and refusal.until,
        refusal and refusal.words[:500],
        listing.day and listing.day.isoformat(),
        listing.day_price,
        confirmed and confirmed.available_until.isoformat(),
        listing.shipping_charge,
        tx.now,
    )
