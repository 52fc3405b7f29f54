"""The market itself: takes requests, does them a little later, and tells the seller by webhook."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp

from bobusang.kit.errors import Invalid, Missing
from bobusang.sandbox.buyma import effect, rules
from bobusang.sandbox.buyma.account import Account, Behaviour, Budget
from bobusang.sandbox.buyma.lanes import Lanes
from bobusang.sandbox.buyma.listing import DELETED, TOKYO, Listing, payload, stored
from bobusang.sandbox.buyma.orders import Orders
from bobusang.sandbox.buyma.pictures import Pictures
from bobusang.sandbox.buyma.post import Post
from bobusang.sandbox.buyma.rivals import Rivals, plain
from bobusang.sandbox.chance import seeded

if TYPE_CHECKING:
    from bobusang.sandbox.buyma.listing import Status
    from bobusang.sandbox.buyma.problem import Told
    from bobusang.sandbox.fault import Faults
    from bobusang.sandbox.world import World

FIRST_ID = 90_000_000
KEPT_REQUESTS = 100_000
MOST_LISTINGS = 200_000
PENDING = "pending"
UNFETCHED = "画像を取得できませんでした"


@dataclass(slots=True)
class Request:
    """A call that was accepted, and what came of it."""

    number: int
    uid: str
    account: Account
    product: dict[str, Any]
    stock: bool
    outcome: str = PENDING
    effects: int = 0
    listing: int | None = None

    @property
    def key(self) -> str:
        """What it is about."""
        return str(self.product.get("reference_number") or self.product.get("id"))


class Market:
    """All sellers, their listings and what is under way."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world = world
        self._http: aiohttp.ClientSession | None = None
        self.behaviour = Behaviour()
        self.works = Lanes()
        self.post = Post(faults, lambda: self.behaviour)
        self.pictures = Pictures(faults)
        self.rivals = Rivals(world)
        self.accounts: dict[str, Account] = {}
        self.era = 0
        """Grows when everything is forgotten."""
        self.clear()

    def clear(self) -> None:
        """No listings, no calls, nothing under way. Accounts and behaviour stay."""
        self.era += 1
        self.works.clear()
        self.post.clear()
        self.pictures.clear()
        self.rivals.told.clear()
        self.listings: dict[int, Listing] = {}
        self.touched: set[int] = set()
        """The listings that became different since somebody last kept them."""
        self.requests: dict[str, Request] = {}
        self.made: Counter[tuple[str, str]] = Counter()
        """How often a product was made for an account's reference."""
        self.orders = Orders()
        self.budgets: dict[str, Budget] = {}
        self.found: dict[tuple[str, str], int] = {}
        """Which listing an account's reference leads to."""
        self.number = 0
        """How many requests were accepted."""
        self._models: dict[str, set[int]] = {}

    async def open(self) -> None:
        """Begin to work."""
        self._http = self.post.http = self.pictures.http = aiohttp.ClientSession(
            headers={"User-Agent": "BUYMA-sandbox"}, cookie_jar=aiohttp.DummyCookieJar()
        )
        await self.works.open()
        await self.post.lanes.open()

    async def close(self) -> None:
        """Leave everything."""
        await self.works.close()
        await self.post.lanes.close()
        if self._http is not None:
            await self._http.close()

    async def settled(self) -> None:
        """Wait until every request has had its effect and every webhook was sent."""
        while self.pending:
            await self.works.settled()
            await self.post.lanes.settled()

    @property
    def pending(self) -> int:
        """Requests and webhooks that are under way."""
        return self.works.pending + self.post.lanes.pending

    @property
    def now(self) -> datetime:
        """The market's time goes on with the world's clock."""
        return (self.behaviour.now or datetime.now(UTC)) + timedelta(hours=self._world.hours)

    def put_account(self, account: Account) -> None:
        """A seller, new or as it is from now on."""
        if not account.token:
            raise Invalid("an account needs a token", field="token")
        known = self.accounts.get(account.token)
        self.accounts[account.token] = account
        for listing in self.listings.values() if known else ():
            if listing.account is known:
                listing.account = account

    def admit(self, account: Account, *, stock: bool = False, product: bool = True) -> bool:
        """Whether a call is within the seller's limits."""
        counts = product and (not stock or self.behaviour.stock_counts)
        return self.budgets.setdefault(account.token, Budget()).take(self.now, self.behaviour, product=counts)

    def find(self, account: Account, product: dict[str, Any]) -> Listing | None:
        """The seller's product of this id, or else of this reference; the id wins."""
        if (id := product.get("id")) is not None:
            found = self.listings.get(id)
            return found if found is not None and found.account.token == account.token else None
        place = self.found.get((account.token, product.get("reference_number") or ""))
        found = self.listings.get(place) if place is not None else None
        return None if found is None or found.status in DELETED else found

    def judge(self, account: Account, product: dict[str, Any], *, stock: bool) -> Told:
        """What is wrong with a request at first sight."""
        if stock:
            return rules.judged_stock(product)
        today = self.now.astimezone(TOKYO).date()
        id, reference = product.get("id"), product.get("reference_number")
        plain = isinstance(id, int | None) and isinstance(reference, str | None)
        known = self.find(account, product) if plain else None
        counter = rules.Counter(today, frozenset(account.methods), self.behaviour.suspends)
        return rules.judged({**(known.locked if known else {}), **product}, counter)

    def accept(self, account: Account, product: dict[str, Any], *, stock: bool) -> str:
        """Take a request that nothing is wrong with at first sight; its uid."""
        self.number += 1
        uid = f"{seeded(self._world.seed, 'request', self.number):016x}{self.number:08x}"
        request = Request(self.number, uid, account, product, stock)
        if len(self.requests) >= KEPT_REQUESTS:
            self.requests.pop(next(iter(self.requests)))
        self.requests[uid] = request
        self._put(request)
        return uid

    def resume(self) -> None:
        """Go on with what was accepted and not done, and told and not delivered, when we were stopped."""
        for request in self.requests.values():
            if request.outcome == PENDING:
                self._put(request)
        self.post.resume()

    def _put(self, request: Request) -> None:
        known = self.find(request.account, request.product)
        about = known.reference if known else request.key
        lane, delay = self.behaviour.lane(about, stock=request.stock)
        self.works.put(lane, delay, partial(self._work, request))

    def decide(self, id: int, status: Status) -> None:
        """The market's people change a product's state, and the seller hears of it."""
        listing = self.listing(id)
        listing.status, listing.updated_at = status, self.now
        self._tell(listing, "product/update")

    def order(self, listing: Listing, color: str, size: str, amount: int) -> dict[str, Any]:
        """A buyer orders, and the seller hears of it."""
        found = self.orders.place(listing, color, size, amount, self.now)
        listing.updated_at = self.now
        self.touched.add(listing.id)
        self.post.send(listing.account, "order/create", f"order-{found['id']}", found)
        return found

    def offered(self, model: str) -> list[Listing]:
        """The listings of a model number, whoever sells them."""
        return [self.listings[id] for id in sorted(self._models.get(model, ()))]

    def listing(self, id: int) -> Listing:
        """The product of this id."""
        if id not in self.listings:
            raise Missing(f"there is no listing {id}", hint="GET /admin/market lists them")
        return self.listings[id]

    async def _work(self, request: Request) -> None:
        listing = self.find(request.account, request.product)
        if request.stock:
            self._restock(request, listing)
            return
        full = listing is None and len(self.listings) >= MOST_LISTINGS
        refused = effect.TOO_MANY if full else effect.refusal(request.product, listing, self.now)
        fetched = set() if refused else await self._fetched(request, listing)
        if self.requests.get(request.uid) is not request:
            return  # everything was cleared meanwhile
        if fetched is None:
            refused = {"images": [UNFETCHED]}
        if refused:
            self._fail(request, "product/fail_to_update" if _edits(request, listing) else None, refused)
        elif listing is None:
            self._make(request, len(fetched or ()))
        else:
            listing.fetches += len(fetched or ())
            self._edit(request, listing)

    async def _fetched(self, request: Request, listing: Listing | None) -> set[str] | None:
        """The pictures that were fetched for it, those it has not yet; None when one cannot be had."""
        paths = {image["path"] for image in request.product.get("images") or ()}
        wanted = paths - (listing.paths if listing else set())
        return None if await self.pictures.missing(sorted(wanted)) else wanted

    def _make(self, request: Request, fetches: int) -> None:
        reference = request.product["reference_number"]
        status, now, id = effect.standing(request.product), self.now, FIRST_ID + request.number
        listing = Listing(id, request.account, reference, stored(request.product), status, now, now)
        listing.published = request.product["control"] == rules.Control.PUBLISH
        listing.references.append(reference)
        listing.fetches = fetches
        self.listings[id] = listing
        self.found[request.account.token, reference] = id
        self.index(listing)
        self.made[request.account.token, reference] += 1
        self._done(request, listing, "product/create", "created")

    def _edit(self, request: Request, listing: Listing) -> None:
        before = listing.reference
        changed = effect.edited(listing, request.product, self.now)
        listing.edits += 1
        listing.idle_edits += not changed
        if before != listing.reference:
            self.found.pop((request.account.token, before), None)
            self.found[request.account.token, listing.reference] = listing.id
        self.index(listing)
        self._done(request, listing, "product/update", "edited" if changed else "unchanged")

    def index(self, listing: Listing) -> None:
        """By style number, and by each word of the name: unlisted brands have no style number."""
        for word in {listing.model, *listing.fields["name"].split()}:
            self._models.setdefault(plain(word), set()).add(listing.id)

    def _restock(self, request: Request, listing: Listing | None) -> None:
        refused = effect.stock_refusal(request.product, listing)
        if refused or listing is None:
            # a wrong reference of a stock call was seen to come back as a failed creation
            event = None if refused is effect.WRONG_REFERENCE else "product/fail_to_update"
            self._fail(request, event, refused)
            return
        changed = effect.restocked(listing, request.product, self.now)
        listing.stock_calls += 1
        listing.idle_stock_calls += not changed
        self._done(request, listing, "product/update", "restocked" if changed else "unchanged")

    def _done(self, request: Request, listing: Listing, event: str, outcome: str) -> None:
        request.outcome, request.listing = outcome, listing.id
        request.effects += outcome != "unchanged"
        request.product = {}
        self._tell(listing, event, request.uid if self.behaviour.uid_in_success else "")

    def _tell(self, listing: Listing, event: str, uid: str = "") -> None:
        self.touched.add(listing.id)
        told = payload(listing, self.now) | ({"request_uid": uid} if uid else {})
        self.post.send(listing.account, event, listing.reference, told)

    def _fail(self, request: Request, event: str | None, errors: Told) -> None:
        request.outcome = "failed"
        told = {"request_uid": request.uid, "reference_number": request.product.get("reference_number")}
        self.post.send(request.account, event or "product/fail_to_create", request.key, {**told, "errors": errors})
        request.product = {}


def _edits(request: Request, listing: Listing | None) -> bool:
    return listing is not None or request.product.get("id") is not None
