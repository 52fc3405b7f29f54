"""Tells what became different of the market since it was last kept, and makes a market of what was kept."""

from __future__ import annotations

from collections import Counter
from itertools import islice, takewhile
from typing import TYPE_CHECKING

import msgspec

from bobusang.sandbox.buyma.account import Account, Budget
from bobusang.sandbox.buyma.kept import Changes, KeptLetter, KeptListing, KeptRequest, Spent
from bobusang.sandbox.buyma.listing import Listing
from bobusang.sandbox.buyma.market import KEPT_REQUESTS, PENDING, Market, Request
from bobusang.sandbox.buyma.post import Letter

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.sandbox.buyma.rivals import Rival


class Memory:
    """Knows what was kept of a market, and so what was not yet. Costs as much as there are changes."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self.forget()

    def forget(self) -> None:
        """Nothing is kept: everything is a change."""
        self._era = 0
        self._accounts: list[Account] = []
        self._nothing()

    def _nothing(self) -> None:
        self._rivals: Mapping[str, tuple[Rival, ...]] = {}
        self._webhooks: Mapping[str, int] = {}
        self._numbers = (0, 0)
        self._pending: list[str] = []
        self._under_way: set[int] = set()
        self._counted: dict[str, tuple[int, int]] = {}
        self._orders = 0

    def changes(self) -> Changes:
        """What became different since this was last asked."""
        market, found = self._market, Changes()
        if market.era != self._era:
            self._nothing()
            self._era, found.anew = market.era, True
            market.touched, market.pictures.lately = set(market.listings), set(market.pictures.fetched)
        accounts = list(market.accounts.values())
        if accounts != self._accounts:
            self._accounts = found.accounts = accounts
        if market.rivals.told != self._rivals:
            self._rivals = found.rivals = dict(market.rivals.told)
        if market.post.counts != self._webhooks:
            self._webhooks = found.webhooks = dict(market.post.counts)
        self._listings(found)
        self._requests(found)
        self._letters(found)
        self._budgets(found)
        found.orders = [(account.token, order) for account, order in market.orders.since(self._orders)]
        self._orders = len(market.orders)
        found.fetched = {path: market.pictures.fetched[path] for path in market.pictures.lately}
        market.pictures.lately.clear()
        return found

    def _listings(self, found: Changes) -> None:
        market = self._market
        for id in sorted(market.touched):
            one = market.listings[id]
            token = one.account.token
            found.listings[id] = _kept_listing(one)
            places = found.found.setdefault(token, {})
            places.update({reference: market.found.get((token, reference)) for reference in one.references})
        market.touched.clear()

    def _requests(self, found: Changes) -> None:
        requests = self._market.requests
        ended = [uid for uid in self._pending if uid in requests and requests[uid].outcome != PENDING]
        new = [*takewhile(lambda one: one.number > self._numbers[0], reversed(requests.values()))][::-1]
        found.requests = {one.uid: _kept_request(one) for one in (*(requests[uid] for uid in ended), *new)}
        waiting = (*self._pending, *(one.uid for one in new))
        self._pending = [uid for uid in waiting if uid in requests and requests[uid].outcome == PENDING]

    def _letters(self, found: Changes) -> None:
        post, numbers = self._market.post, (self._market.number, self._market.post.number)
        found.letters = {
            place: _kept_letter(one) for place, one in post.under_way.items() if place not in self._under_way
        }
        found.delivered = sorted(self._under_way - post.under_way.keys())
        self._under_way = set(post.under_way)
        if numbers != self._numbers:
            self._numbers = found.numbers = numbers

    def _budgets(self, found: Changes) -> None:
        for token, budget in self._market.budgets.items():
            if budget.counted != self._counted.get(token):
                calls, products = self._counted.get(token, (0, 0))
                new = (budget.counted[0] - calls, budget.counted[1] - products)
                found.budgets[token] = Spent(_last(budget.calls, new[0]), _last(budget.products, new[1]))
                self._counted[token] = budget.counted


def _last(times: deque[datetime], count: int) -> list[datetime]:
    return [*islice(reversed(times), count)][::-1]


def _kept_listing(one: Listing) -> KeptListing:
    """A listing as it is now."""
    return KeptListing(
        token=one.account.token,
        reference=one.reference,
        references=list(one.references),
        fields=one.fields,
        status=one.status,
        created_at=one.created_at,
        updated_at=one.updated_at,
        published=one.published,
        edits=one.edits,
        idle_edits=one.idle_edits,
        stock_calls=one.stock_calls,
        idle_stock_calls=one.idle_stock_calls,
        fetches=one.fetches,
    )


def _kept_request(one: Request) -> KeptRequest:
    return KeptRequest(one.number, one.account.token, one.stock, one.product, one.outcome, one.effects, one.listing)


def _kept_letter(one: Letter) -> KeptLetter:
    body = one.body.decode()
    return KeptLetter(one.number, one.account.token, one.event, one.key, body, one.forged, one.attempt)


def recall(market: Market, whole: Changes) -> None:
    """Make an empty market what these changes made of it. `resume` goes on with what was under way."""
    for account in whole.accounts or ():
        market.put_account(_told(account, market.accounts.get(account.token)))
    accounts = market.accounts
    for id, one in whole.listings.items():
        fields = msgspec.structs.asdict(one)
        listing = market.listings[id] = Listing(id=id, account=accounts[fields.pop("token")], **fields)
        market.made[one.token, one.references[0]] += 1
        market.index(listing)
    for token, places in whole.found.items():
        market.found |= {(token, reference): id for reference, id in places.items() if id is not None}
    for uid in [*whole.requests][-KEPT_REQUESTS:]:
        asked = whole.requests[uid]
        fields = msgspec.structs.asdict(asked)
        market.requests[uid] = Request(uid=uid, account=accounts[fields.pop("token")], **fields)
    for token, order in whole.orders:
        market.orders.put(accounts[token], order)
    for token, spent in whole.budgets.items():
        market.budgets.setdefault(token, Budget()).count(spent.calls, spent.products)
    for _, letter in sorted(whole.letters.items()):
        fields = msgspec.structs.asdict(letter) | {"body": letter.body.encode()}
        market.post.remember(Letter(account=accounts[fields.pop("token")], **fields))
    market.number, market.post.number = whole.numbers or (0, 0)
    market.post.counts = Counter(whole.webhooks or {})
    market.pictures.fetched = Counter(whole.fetched)
    market.rivals.told = dict(whole.rivals or {})


def _told(kept: Account, given: Account | None) -> Account:
    """An account as it was kept, but for what is told of it at the start."""
    usual = Account()
    told = {} if given is None else msgspec.structs.asdict(given)
    return msgspec.structs.replace(
        kept, **{name: value for name, value in told.items() if value != getattr(usual, name)}
    )
