"""The sandbox's BUYMA behind a wire that loses, delays and counts: what is sent is checked before it leaves."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from bobusang.kit import json
from bobusang.kit.errors import Unavailable
from bobusang.kit.http import Answer
from bobusang.kit.sql import Statement
from bobusang.kit.transport import AiohttpTransport
from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.server import Sandbox
from bobusang.sandbox.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from bobusang.kit.db import Database
    from bobusang.kit.http import Call
    from bobusang.sandbox.buyma.listing import Listing
    from bobusang.testing.clock import ManualClock

BEHAVIOUR = Behaviour(delay=0, stock_delay=0, retry_seconds=0, hour_limit=0, day_limit=0)
HOUR = 3600.0
LAST = Statement("""
    select c.id, c.state, c.payload from listings l join market_calls c on c.listing_id = l.id
    where l.account_id = :account and l.reference = :reference order by c.id desc limit 1""")


class Mood(StrEnum):
    """What becomes of a request on its way."""

    FINE = "fine"
    DEAF = "deaf"  # never arrives, no answer
    MUTE = "mute"  # arrives, no answer
    LATE = "late"  # arrives later, no answer
    SLOW = "slow"  # arrives and is answered; a product is done later, stock at once
    BUSY = "busy"  # 429


def is_product(call: Call) -> bool:
    return call.url.endswith("/products.json")


@dataclass(slots=True)
class Hook:
    """A webhook on its way; `sure`: nothing but this one tells what happened, so it must not be lost."""

    headers: dict[str, str]
    body: bytes
    sure: bool = False


@dataclass(slots=True)
class Trip:
    """One request that left us."""

    call_id: int
    at: datetime
    is_product: bool
    uid: str = ""


@dataclass(slots=True)
class Place:
    """The sandbox, and where it tells its sellers what happened; shared by all wires."""

    sandbox: Sandbox
    clock: ManualClock
    transport: AiohttpTransport
    ear: str
    hooks: dict[str, list[Hook]] = field(default_factory=dict)
    arrivals: int = 0

    @classmethod
    @asynccontextmanager
    async def opened(cls, clock: ManualClock) -> AsyncIterator[Place]:
        app = web.Application()
        runner = web.AppRunner(app)
        async with Sandbox(World(5, 300), behaviour=BEHAVIOUR) as sandbox:
            host, port = sandbox.url.removeprefix("http://").split(":")
            place = cls(sandbox, clock, AiohttpTransport(frozenset({(host, int(port))})), "")
            app.router.add_post("/{token}", place.hear)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            place.ear = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield place
            await place.transport.close()
            await runner.cleanup()

    async def hear(self, request: web.Request) -> web.Response:
        told = Hook(dict(request.headers), await request.read())
        self.hooks[request.match_info["token"]].append(told)
        return web.Response()

    def open_shop(self, token: str, secret: str) -> None:
        """A seller of its own, so that one sandbox serves many tests."""
        self.hooks[token] = []
        self.sandbox.desk.market.put_account(Account(token=token, secret=secret, webhook_url=f"{self.ear}/{token}"))

    async def arrive(self, call: Call, *, slow: bool = False) -> Answer:
        """The market takes a request, does it and tells of it, each at an instant of its own. Products are done in the
        order in which they came, and stock before those that take their time."""
        market = self.sandbox.desk.market
        if not slow and is_product(call):
            await self.finish()
        self._tick(delay=HOUR if slow else 0.0)
        answer = await self.transport.send(call)
        await market.works.idle()
        await market.post.lanes.settled()
        return answer

    async def finish(self) -> None:
        """What took its time is done, and its webhook is not lost: nothing else may tell of it."""
        market, before = self.sandbox.desk.market, {token: len(hooks) for token, hooks in self.hooks.items()}
        while await market.works.hasten():
            self._tick()
        await market.settled()
        for token, hooks in self.hooks.items():
            for hook in hooks[before[token] :]:
                hook.sure = True

    def _tick(self, delay: float = 0.0) -> None:
        market = self.sandbox.desk.market
        self.arrivals += 1
        now = self.clock.now() + timedelta(milliseconds=self.arrivals)
        market.behaviour = msgspec.structs.replace(market.behaviour, now=now, delay=delay)

    def listings(self, token: str) -> dict[str, Listing]:
        """A seller's listings by the reference they were made with; two of one are an error."""
        mine = [one for one in self.sandbox.desk.market.listings.values() if one.account.token == token]
        found = {one.references[0]: one for one in mine}
        assert len(found) == len(mine), "the market has two listings for one reference"
        return found


@dataclass(slots=True)
class Wire:
    """A transport for one account."""

    place: Place
    db: Database
    token: str
    account_id: int = 0
    mood: Mood = Mood.FINE
    trips: list[Trip] = field(default_factory=list)
    flying: list[tuple[Call, Trip]] = field(default_factory=list)
    was_late: bool = False
    was_slow: bool = False

    async def send(self, call: Call) -> Answer:
        trip = await self._leaving(call)
        self.trips.append(trip)
        match self.mood:
            case Mood.DEAF:
                raise Unavailable("no connection")
            case Mood.BUSY:
                return Answer(call.url, 429, {}, b"")
            case Mood.LATE:
                self.flying.append((call, trip))
                self.was_late = True
                raise Unavailable("no answer yet")
            case Mood.SLOW:
                self.was_late = self.was_slow = True
        answer = await self._arrived(call, trip)
        if self.mood is Mood.MUTE:
            raise Unavailable("no answer")
        return answer

    async def _leaving(self, call: Call) -> Trip:
        """Only a listing's last call may go out: one that another has overtaken would undo it."""
        body = json.loads(call.body or b"")["product"]
        async with self.db.read() as tx:
            last = await tx.first(LAST, account=self.account_id, reference=body["reference_number"])
        assert last is not None, "a reference was sent that no listing has"
        assert json.loads(last["payload"])["product"] == body, "what is sent was overtaken, or is not what was intended"
        assert last["state"] != "CANCELLED"
        return Trip(last["id"], self.place.clock.now(), is_product(call))

    async def _arrived(self, call: Call, trip: Trip) -> Answer:
        answer = await self.place.arrive(call, slow=self.mood is Mood.SLOW and trip.is_product)
        assert answer.status == 201, answer.body
        trip.uid = str(json.loads(answer.body)["request_uid"])
        return answer

    async def land(self) -> None:
        """What was slow is done; what was late arrives, and its webhook is not lost."""
        await self.place.finish()
        flying, self.flying = self.flying, []
        hooks = self.place.hooks[self.token]
        for call, trip in flying:
            before = len(hooks)
            await self._arrived(call, trip)
            for hook in hooks[before:]:
                hook.sure = True

    async def close(self) -> None:
        pass

    def effects(self) -> dict[int, int]:
        """By call, how often it changed something at the market, in the market's own count."""
        requests: dict[str, Any] = self.place.sandbox.desk.market.requests
        found: dict[int, int] = {}
        for trip in self.trips:
            found[trip.call_id] = found.get(trip.call_id, 0) + (requests[trip.uid].effects if trip.uid else 0)
        return found
