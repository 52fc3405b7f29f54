"""The sandbox for tests and benchmarks: in this process or in one of its own, with its admin doors as methods."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

from bobusang.kit import json
from bobusang.kit.errors import Unavailable
from bobusang.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.sandbox.world import World

START_SECONDS = 60


class Door:
    """A running sandbox: its address, and its admin doors over real HTTP."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url = url
        self.host_port = url.removeprefix("http://")
        self._http = http

    @property
    def okmall(self) -> str:
        """The base of OKmall."""
        return f"{self.url}/okmall"

    @property
    def mustit(self) -> str:
        """The base of MustIt."""
        return f"{self.url}/mustit"

    @property
    def buyma(self) -> str:
        """The base of BUYMA."""
        return f"{self.url}/buyma"

    async def world(self) -> dict[str, Any]:
        """Seed, hour, products by brand and seller, process id and CPU seconds."""
        return await self._call("GET", "world")

    async def advance(self, hours: float) -> float:
        """Let the world age; the hour it then is."""
        return float((await self._call("POST", "advance", hours=hours))["hours"])

    async def drift(self, at: float | None) -> None:
        """Change the layout of the malls' pages from this hour on; None: never."""
        await self._call("POST", "drift", at=at)

    async def override(self, mall: str, key: str, **told: Any) -> None:
        """Say how a product is: `price=`, `sold_out=`, `gone=`, `stocks={code: n}`, `options=n`,
        `spelled={word: word}`; `fate=True` undoes."""
        await self._call("POST", "override", mall=mall, key=key, **told)

    async def reset(self) -> None:
        """Hour 0, no faults, an empty journal, no valid token."""
        await self._call("POST", "reset")

    async def rotate(self) -> None:
        """W Concept has another public key from now on."""
        await self._call("POST", "rotate")

    async def suppliers(self, **how: Any) -> dict[str, Any]:
        """Say how the suppliers behave: `expire= token_seconds= per_minute= per_day=`; the logins and orders so far."""
        return await self._call("POST", "suppliers", **how)

    async def fault(self, mall: str, endpoint: str, kind: str, **more: Any) -> int:
        """Let something go wrong; `count= share= seed= seconds= after= match= agent= status= bytes=`. Its id."""
        return int((await self._call("POST", "faults", mall=mall, endpoint=endpoint, kind=kind, **more))["id"])

    async def faults(self) -> list[dict[str, Any]]:
        """What is to go wrong, with how often it did."""
        return list((await self._call("GET", "faults"))["items"])

    async def clear(self) -> None:
        """Let everything go well again."""
        await self._call("DELETE", "faults")

    async def truth(self, mall: str, **whose: str) -> dict[str, Any]:
        """What is so now: `brand=` or, at MustIt, `seller=`."""
        return await self._call("GET", "truth", {"mall": mall, **whose})

    async def log(self, **which: Any) -> list[dict[str, Any]]:
        """The calls it got: `mall= endpoint= since= limit=`."""
        return list((await self._call("GET", "log", {name: str(value) for name, value in which.items()}))["items"])

    async def counts(self) -> dict[str, Any]:
        """The calls it got, counted."""
        return await self._call("GET", "counts")

    async def acme_sends(self, to: str, **what: Any) -> dict[str, Any]:
        """Let Acme send webhooks: `type= keys= count= size= times= reverse= forged= stale=`; events and statuses."""
        return await self._call("POST", "acme/send", to=to, **what)

    async def market(self, **which: Any) -> dict[str, Any]:
        """BUYMA's listings, and what was made twice or fetched again: `reference= limit=`."""
        return await self._call("GET", "market", {name: str(value) for name, value in which.items()})

    async def effects(self) -> dict[str, Any]:
        """What each request to BUYMA did, by its request_uid."""
        return await self._call("GET", "market/effects")

    async def webhooks(self, key: str = "") -> list[dict[str, Any]]:
        """What became of BUYMA's webhooks, all or those about one reference."""
        return list((await self._call("GET", "market/webhooks", {"key": key}))["items"])

    async def behave(self, **how: Any) -> dict[str, Any]:
        """Say how BUYMA behaves: `delay= stock_delay= hour_limit= day_limit= retries= now=` and the rest of
        `Behaviour`."""
        return await self._call("POST", "market/behaviour", **how)

    async def account(self, **who: Any) -> dict[str, Any]:
        """Say who sells at BUYMA: `token= secret= webhook_url= seller_id= seller_name= methods=`."""
        return await self._call("POST", "market/account", **who)

    async def decide(self, reference: str, status: str) -> None:
        """BUYMA's people set a listing's state, such as `admin_suspended` or `not_approved`."""
        await self._call("POST", "market/decide", reference=reference, status=status)

    async def order(self, reference: str, color: str, size: str, amount: int = 1) -> dict[str, Any]:
        """A buyer orders at BUYMA."""
        return await self._call("POST", "market/order", reference=reference, color=color, size=size, amount=amount)

    async def rivals(self, model: str, rivals: list[dict[str, Any]] | None) -> None:
        """Say who else offers a model: `price shipping used seller_id seller_name name id`; None: as seeded."""
        await self._call("POST", "market/rivals", model=model, rivals=rivals)

    async def webhook(self, event: str, body: dict[str, Any], *, forged: bool = True) -> None:
        """Send a webhook of our own words, with a wrong signature unless said."""
        await self._call("POST", "market/webhook", event=event, body=body, forged=forged)

    async def settle(self, *, hurry: bool = False) -> None:
        """Wait until BUYMA has done all it accepted and sent all its webhooks; `hurry`: it takes no time for it."""
        await self._call("POST", "market/settle", hurry=hurry)

    async def _call(self, method: str, path: str, query: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
        data = json.dumps(body).encode() if method == "POST" else None
        async with self._http.request(method, f"{self.url}/admin/{path}", params=query, data=data) as answer:
            found: dict[str, Any] = json.loads(await answer.read())
        if "error" in found:
            raise ValueError(f"{found['error']['message']} ({found['error']['hint']})")
        return found


@asynccontextmanager
async def running(world: World | None = None, **options: Any) -> AsyncIterator[Door]:
    """A sandbox in this process and on this loop, on a free port; `options` are those of `Sandbox`."""
    async with Sandbox(world, **options) as sandbox, aiohttp.ClientSession() as http:
        yield Door(sandbox.url, http)


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[Door]:
    """A sandbox in a process of its own, so that its work is not counted as ours; arguments as of the command line.

    It ends with this context, and also when this process is killed.
    """
    command = [sys.executable, "-m", "bobusang.sandbox", "--tied", *arguments]
    pipe = asyncio.subprocess.PIPE
    found = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert found.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await found.stdout.readline()
        if not line:
            raise Unavailable("the sandbox did not start", hint="its stderr says why")
        async with aiohttp.ClientSession() as http:
            yield Door(json.loads(line)["url"], http)
    finally:
        if found.returncode is None:
            found.terminate()
        await found.wait()
