"""The market as a file keeps it: what became different, one after another, and all of them as one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from bobusang.sandbox.buyma.account import Account
from bobusang.sandbox.buyma.listing import Status
from bobusang.sandbox.buyma.market import PENDING
from bobusang.sandbox.buyma.rivals import Rival


class KeptListing(msgspec.Struct, frozen=True, omit_defaults=True):
    token: str
    reference: str
    references: list[str]
    fields: dict[str, Any]
    status: Status
    created_at: datetime
    updated_at: datetime
    published: bool = False
    edits: int = 0
    idle_edits: int = 0
    stock_calls: int = 0
    idle_stock_calls: int = 0
    fetches: int = 0


class KeptRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    number: int
    token: str
    stock: bool
    product: dict[str, Any] = {}
    """Only until it is done."""
    outcome: str = PENDING
    effects: int = 0
    listing: int | None = None


class KeptLetter(msgspec.Struct, frozen=True, omit_defaults=True):
    number: int
    token: str
    event: str
    key: str
    body: str
    forged: bool = False
    attempt: int = 1


class Spent(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a seller's calls were counted."""

    calls: list[datetime] = []
    products: list[datetime] = []


class Changes(msgspec.Struct, omit_defaults=True):
    """What became different. What is None did not."""

    anew: bool = False
    """Whether all that was before is forgotten, but for the accounts."""
    accounts: list[Account] | None = None
    listings: dict[int, KeptListing] = {}
    found: dict[str, dict[str, int | None]] = {}
    """Token → reference → the listing it leads to, None: to nothing any more."""
    requests: dict[str, KeptRequest] = {}
    orders: list[tuple[str, dict[str, Any]]] = []
    """Whose, and the order."""
    letters: dict[int, KeptLetter] = {}
    delivered: list[int] = []
    fetched: dict[str, int] = {}
    budgets: dict[str, Spent] = {}
    rivals: dict[str, tuple[Rival, ...]] | None = None
    webhooks: dict[str, int] | None = None
    numbers: tuple[int, int] | None = None
    """Of the last request and of the last letter."""


def fold(whole: Changes, more: Changes) -> Changes:
    """All changes so far, with later ones. The first are changed in place."""
    if more.anew:
        whole = Changes(accounts=whole.accounts)
    whole.accounts = whole.accounts if more.accounts is None else more.accounts
    whole.rivals = whole.rivals if more.rivals is None else more.rivals
    whole.webhooks = whole.webhooks if more.webhooks is None else more.webhooks
    whole.numbers = more.numbers or whole.numbers
    whole.listings |= more.listings
    whole.requests |= more.requests
    whole.orders += more.orders
    whole.fetched |= more.fetched
    whole.letters |= more.letters
    for place in more.delivered:
        whole.letters.pop(place, None)
    for token, places in more.found.items():
        whole.found.setdefault(token, {}).update(places)
    for token, spent in more.budgets.items():
        known = whole.budgets.setdefault(token, Spent([], []))
        known.calls.extend(spent.calls)
        known.products.extend(spent.products)
    return whole
