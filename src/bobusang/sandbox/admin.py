"""The sandbox's own doors: its clock, its faults, its journal, and what is true."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Invalid, Missing
from bobusang.sandbox.acme import Acme, Send
from bobusang.sandbox.buyma.doors import Doors, decoded
from bobusang.sandbox.fault import Fault
from bobusang.sandbox.mall import Override
from bobusang.sandbox.truth import truth
from bobusang.sandbox.words import SELLERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.sandbox.buyma.doors import Work
    from bobusang.sandbox.desk import Desk

Answer = dict[str, Any]


class Advance(msgspec.Struct, forbid_unknown_fields=True):
    hours: float


class Drift(msgspec.Struct, forbid_unknown_fields=True):
    at: float | None = None


class Suppliers(msgspec.Struct, forbid_unknown_fields=True):
    """How the suppliers behave: Ownerclan ends its tokens or lets them live so long, Domeggook counts (0: not)."""

    expire: bool = False
    token_seconds: float | None = None
    per_minute: int | None = None
    per_day: int | None = None


class Told(msgspec.Struct, forbid_unknown_fields=True):
    """An override as it is sent; `fate` leaves the product to its fate again."""

    mall: str
    key: str
    fate: bool = False
    price: int | None = None
    sold_out: bool = False
    gone: bool = False
    stocks: dict[str, int] = {}
    options: int | None = None
    spelled: dict[str, str] = {}


class Admin:
    """The doors of one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._acme = Acme(desk.world)
        self._counted = lru_cache(maxsize=1)(self._count)  # benchmarks ask for our CPU time: asking must cost little

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        return [
            web.get("/admin/world", self._door(self._world)),
            web.post("/admin/advance", self._door(self._advance)),
            web.post("/admin/drift", self._door(self._drift)),
            web.post("/admin/override", self._door(self._override)),
            web.post("/admin/reset", self._door(self._reset)),
            web.get("/admin/truth", self._door(self._truth)),
            web.post("/admin/rotate", self._door(self._rotate)),
            web.post("/admin/suppliers", self._door(self._suppliers)),
            web.get("/admin/faults", self._door(self._faults)),
            web.post("/admin/faults", self._door(self._add_fault)),
            web.delete("/admin/faults", self._door(self._clear_faults)),
            web.delete(r"/admin/faults/{id:\d{1,9}}", self._door(self._remove_fault)),
            web.get("/admin/log", self._door(self._log)),
            web.get("/admin/counts", self._door(self._counts)),
            web.post("/admin/acme/send", self._door(self._acme_sends)),
            *(
                web.route(method, path, self._door(_read(work)))
                for method, path, work in Doors(self._desk.market).all()
            ),
        ]

    def _door(
        self, work: Callable[[web.Request], Awaitable[Answer]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                return _json(await work(request))
            except BobusangError as error:
                status = 404 if isinstance(error, Missing) else 400
                return _json({"error": {"code": error.code, "message": error.message, "hint": error.hint}}, status)

        return answer

    async def _world(self, request: web.Request) -> Answer:
        world = self._desk.world
        return {
            "seed": world.seed,
            "size": world.size,
            "pace": world.pace,
            "hours": world.hours,
            "now": world.now.isoformat(),
            "drift_at": world.drift_at,
            "drifted": world.drifted,
            **self._counted(world.version),
            "calls_per_token": self._desk.sessions.calls,
            "page_size": self._desk.page_size,
            "pid": os.getpid(),
            "cpu_seconds": time.process_time(),
        }

    def _count(self, version: int) -> Answer:
        world = self._desk.world
        return {
            "malls": {
                name: {brand.name: sum(1 for _ in mall.numbers(world.hours, brand)) for brand in mall.brands}
                for name, mall in world.malls.items()
            },
            "sellers": {seller: len(world.of_seller(seller)) for seller in SELLERS},
        }

    async def _advance(self, request: web.Request) -> Answer:
        return {"hours": self._desk.world.advance((await _body(request, Advance)).hours)}

    async def _drift(self, request: web.Request) -> Answer:
        self._desk.world.drift((await _body(request, Drift)).at)
        return {"drift_at": self._desk.world.drift_at, "drifted": self._desk.world.drifted}

    async def _override(self, request: web.Request) -> Answer:
        told = await _body(request, Told)
        if not told.key.isdigit():
            raise Invalid("key is the product's number", field="key")
        override = Override(told.price, told.sold_out, told.gone, told.stocks, told.options, told.spelled)
        self._desk.world.override(told.mall, int(told.key), None if told.fate else override)
        return {"mall": told.mall, "key": told.key}

    async def _reset(self, request: web.Request) -> Answer:
        self._desk.reset()
        return {"hours": self._desk.world.hours}

    async def _rotate(self, request: web.Request) -> Answer:
        self._desk.wconcept.rotate()
        return {"mall": "wconcept"}

    async def _suppliers(self, request: web.Request) -> Answer:
        told, tokens, meter = await _body(request, Suppliers), self._desk.tokens, self._desk.meter
        if told.expire:
            tokens.expire()
        tokens.seconds = tokens.seconds if told.token_seconds is None else told.token_seconds
        meter.per_minute = meter.per_minute if told.per_minute is None else told.per_minute
        meter.per_day = meter.per_day if told.per_day is None else told.per_day
        return {"logins": tokens.logins, "orders": list(self._desk.orders.placed.values())}

    async def _truth(self, request: web.Request) -> Answer:
        query = request.query
        brand, seller = query.get("brand", ""), query.get("seller", "")
        return truth(self._desk.world, query.get("mall", ""), brand=brand, seller=seller)

    async def _faults(self, request: web.Request) -> Answer:
        return {"items": self._desk.faults.listed()}

    async def _add_fault(self, request: web.Request) -> Answer:
        return {"id": self._desk.faults.add(await _body(request, Fault))}

    async def _clear_faults(self, request: web.Request) -> Answer:
        self._desk.faults.clear()
        return {"items": []}

    async def _remove_fault(self, request: web.Request) -> Answer:
        self._desk.faults.remove(int(request.match_info["id"]))
        return {"items": self._desk.faults.listed()}

    async def _log(self, request: web.Request) -> Answer:
        query = request.query
        try:
            since, limit = float(query.get("since", 0)), int(query.get("limit", 100_000))
        except ValueError as error:
            raise Invalid(f"since and limit are numbers: {error}") from error
        journal = self._desk.journal
        return journal.log(mall=query.get("mall", ""), endpoint=query.get("endpoint", ""), since=since, limit=limit)

    async def _counts(self, request: web.Request) -> Answer:
        return self._desk.journal.counts()

    async def _acme_sends(self, request: web.Request) -> Answer:
        return await self._acme.send(await _body(request, Send), request.host)


def _json(value: Answer, status: int = 200) -> web.Response:
    return web.Response(text=json.dumps(value), status=status, content_type="application/json")


async def _body(request: web.Request, kind: type[Any]) -> Any:
    return decoded(await request.read(), kind)


def _read(work: Work) -> Callable[[web.Request], Awaitable[Answer]]:
    async def done(request: web.Request) -> Answer:
        return await work(request.query, await request.read())

    return done
