"""What the market says of itself to tests: its listings, what was made twice, and the effect of every request."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.buyma.listing import DELETED

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from bobusang.sandbox.buyma.listing import Listing
    from bobusang.sandbox.buyma.market import Market

Answer = dict[str, Any]


def report(market: Market, *, reference: str = "", limit: int = 100_000) -> Answer:
    """Everything, or the listings of one reference, the first `limit` of them."""
    listings = [one for one in market.listings.values() if reference in ("", one.reference)]
    now = market.now
    return {
        "now": now.isoformat(),
        "pending": market.pending,
        "created": sum(market.made.values()),
        "states": dict(Counter(one.state(now) for one in market.listings.values())),
        "outcomes": dict(Counter(one.outcome for one in market.requests.values())),
        "listings": [shown(market, one) for one in listings[:limit]],
        **duplicates(market),
        "fetches": sum(market.pictures.fetched.values()),
        "fetched_again": sum(count - 1 for count in market.pictures.fetched.values()),
        "webhooks": dict(market.post.counts),
        "orders": len(market.orders),
        "budgets": {token: budget.used() for token, budget in market.budgets.items()},
        "broken": [*market.works.broken, *market.post.lanes.broken],
    }


def duplicates(market: Market) -> Answer:
    """Products that one reference was given twice, and those that are the same goods; what is deleted is no double."""
    there = [one for one in market.listings.values() if one.status not in DELETED]
    return {
        "made_again": {reference: count for (_, reference), count in market.made.items() if count > 1},
        "same_reference": _doubles(there, lambda one: [(one.account.token, name) for name in set(one.references)]),
        "same_goods": _doubles(there, lambda one: [(one.account.token, one.fields["name"], one.model)]),
    }


def effects(market: Market) -> Answer:
    """What every request did: at most one effect each."""
    return {
        one.uid: {"outcome": one.outcome, "effects": one.effects, "listing": one.listing, "stock": one.stock}
        for one in market.requests.values()
    }


def shown(market: Market, one: Listing) -> Answer:
    """A listing with all that was done to it."""
    fields = one.fields
    return {
        "id": one.id,
        "account": one.account.token,
        "reference": one.reference,
        "references": one.references,
        "status": one.state(market.now),
        "name": fields["name"],
        "model": one.model,
        "price": fields["price"],
        "list_price": one.list_price,
        "available_until": fields["available_until"],
        "variants": fields["variants"],
        "order_quantity": fields.get("order_quantity"),
        "images": [image["path"] for image in fields["images"]],
        "made": market.made[one.account.token, one.references[0]],
        "edits": one.edits,
        "idle_edits": one.idle_edits,
        "stock_calls": one.stock_calls,
        "idle_stock_calls": one.idle_stock_calls,
        "fetches": one.fetches,
    }


def _doubles(listings: Iterable[Listing], keys: Callable[[Listing], Iterable[Hashable]]) -> list[list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for one in listings:
        for key in keys(one):
            found[key].append(one.id)
    return [ids for ids in found.values() if len(ids) > 1]
