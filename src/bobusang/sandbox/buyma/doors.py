"""The market's own doors below /admin/market: what it holds, how it behaves, and what its people do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from bobusang.kit import json
from bobusang.kit.errors import Invalid, Missing, Unavailable
from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.buyma.listing import Listing, Status
from bobusang.sandbox.buyma.report import effects, report
from bobusang.sandbox.buyma.rivals import Rival, plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bobusang.sandbox.buyma.market import Market

    Answer = dict[str, Any]
    Work = Callable[[Mapping[str, str], bytes], Awaitable[Answer]]

T = TypeVar("T")
SETTLE_SECONDS = 60.0


class Named(msgspec.Struct, forbid_unknown_fields=True):
    """A listing, by its id or its reference."""

    id: int | None = None
    reference: str = ""


class Decided(Named, forbid_unknown_fields=True, kw_only=True):
    status: Status


class Ordered(Named, forbid_unknown_fields=True, kw_only=True):
    color: str
    size: str
    amount: int = 1


class Offered(msgspec.Struct, forbid_unknown_fields=True):
    model: str
    rivals: list[Rival] | None = None
    """None: as it is seeded."""


class Settled(msgspec.Struct, forbid_unknown_fields=True):
    hurry: bool = False
    """Whether what would take its time is done without it, one after another."""


class Letter(msgspec.Struct, forbid_unknown_fields=True):
    event: str
    body: dict[str, Any]
    token: str = ""
    forged: bool = True


def decoded(raw: bytes, kind: type[T]) -> T:
    """A body of this kind, or what is wrong with it."""
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except msgspec.MsgspecError as error:
        raise Invalid(f"the body is not as expected: {error}") from error


class Doors:
    """What can be asked of the market and done to it."""

    def __init__(self, market: Market) -> None:
        self._market = market

    def all(self) -> list[tuple[str, str, Work]]:
        """Method, path and work of each."""
        return [
            ("GET", "/admin/market", self._report),
            ("GET", "/admin/market/effects", self._effects),
            ("GET", "/admin/market/webhooks", self._webhooks),
            ("POST", "/admin/market/webhook", self._webhook),
            ("GET", "/admin/market/behaviour", self._behaviour),
            ("POST", "/admin/market/behaviour", self._behave),
            ("POST", "/admin/market/account", self._account),
            ("POST", "/admin/market/decide", self._decide),
            ("POST", "/admin/market/order", self._order),
            ("POST", "/admin/market/rivals", self._rivals),
            ("POST", "/admin/market/settle", self._settle),
        ]

    async def _report(self, query: Mapping[str, str], raw: bytes) -> Answer:
        return report(self._market, reference=query.get("reference", ""), limit=_limit(query))

    async def _effects(self, query: Mapping[str, str], raw: bytes) -> Answer:
        return effects(self._market)

    async def _webhooks(self, query: Mapping[str, str], raw: bytes) -> Answer:
        return {"items": self._market.post.log(query.get("key", ""), _limit(query))}

    async def _webhook(self, query: Mapping[str, str], raw: bytes) -> Answer:
        """A letter of the caller's own words, forged unless said."""
        told = decoded(raw, Letter)
        account = self._of(told.token)
        key = str(told.body.get("reference_number") or told.body.get("id"))
        send = self._market.post.forge if told.forged else self._market.post.send
        send(account, told.event, key, told.body)
        return {"event": told.event}

    async def _behaviour(self, query: Mapping[str, str], raw: bytes) -> Answer:
        found: Answer = msgspec.to_builtins(self._market.behaviour)
        return found

    async def _behave(self, query: Mapping[str, str], raw: bytes) -> Answer:
        """Only what is named becomes different."""
        now: Answer = msgspec.to_builtins(self._market.behaviour)
        self._market.behaviour = decoded(json.dumps({**now, **decoded(raw, dict)}).encode(), Behaviour)
        return await self._behaviour(query, raw)

    async def _account(self, query: Mapping[str, str], raw: bytes) -> Answer:
        """Only what is named becomes different; without a token it is the first account."""
        told = decoded(raw, dict)
        known = self._market.accounts.get(told.get("token") or next(iter(self._market.accounts)))
        before: Answer = msgspec.to_builtins(known, str_keys=True) if known else {}
        account = decoded(json.dumps({**before, **told}).encode(), Account)
        self._market.put_account(account)
        return {"token": account.token, "seller_id": account.seller_id, "webhook_url": account.webhook_url}

    async def _decide(self, query: Mapping[str, str], raw: bytes) -> Answer:
        told = decoded(raw, Decided)
        listing = self._named(told)
        self._market.decide(listing.id, told.status)
        return {"id": listing.id, "status": listing.status}

    async def _order(self, query: Mapping[str, str], raw: bytes) -> Answer:
        told = decoded(raw, Ordered)
        return self._market.order(self._named(told), told.color, told.size, told.amount)

    async def _rivals(self, query: Mapping[str, str], raw: bytes) -> Answer:
        told, rivals = decoded(raw, Offered), self._market.rivals
        if told.rivals is None:
            rivals.told.pop(plain(told.model), None)
        else:
            rivals.told[plain(told.model)] = tuple(told.rivals)
        return {"rivals": len(told.rivals or ())}

    async def _settle(self, query: Mapping[str, str], raw: bytes) -> Answer:
        while decoded(raw, Settled).hurry and await self._market.works.hasten():
            pass
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await self._market.settled()
        except TimeoutError as error:
            raise Unavailable(f"{self._market.pending} are still under way", hint="shorten the delay") from error
        return {"pending": self._market.pending}

    def _named(self, named: Named) -> Listing:
        if named.id is not None:
            return self._market.listing(named.id)
        for listing in self._market.listings.values():
            if listing.reference == named.reference:
                return listing
        raise Missing(f"there is no listing '{named.reference}'", hint="GET /admin/market lists them")

    def _of(self, token: str) -> Account:
        accounts = self._market.accounts
        if token and token not in accounts:
            raise Missing(f"there is no account '{token}'", hint="POST /admin/market/account makes one")
        return accounts[token] if token else next(iter(accounts.values()))


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit", "100000")
    if not text.isdigit() or len(text) > 9:
        raise Invalid("limit is a number", field="limit")
    return int(text)
