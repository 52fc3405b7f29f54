"""A subscriber behind an HTTP address: one signed POST an event, several keys at once, the events of a key in turn."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from bobusang import __version__
from bobusang.kit import json
from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import Blocked
from bobusang.platform.bus import Delivered, Hold, Outcome, Patience, Pause, Retry, Untried
from bobusang.platform.buses.address import CheckedTransport
from bobusang.platform.buses.signature import HEADER, sign
from bobusang.platform.retry_after import waited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bobusang.kit.clock import Clock
    from bobusang.platform.bus import Event
    from bobusang.platform.subscriptions import Subscription

LONGEST_ANSWER = 65536
WELL = range(200, 300)
MOVED = range(300, 400)


class Http:
    """The bus whose subscribers are internal APIs."""

    schemes = frozenset({"http", "https"})

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        allow_private: bool = False,
        timeout: float = 10.0,
        budget: float = 20.0,
        at_once: int = 8,
        patience: Patience | None = None,
        reveal: Callable[[str], str] = str,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`reveal` turns a stored reference into the secret; after `budget` seconds a batch begins no more requests."""
        self.clock = clock or SystemClock()
        self.timeout, self.budget, self.at_once = timeout, budget, at_once
        self.patience = patience or Patience()
        self.reveal = reveal
        self.client = httpx.AsyncClient(
            transport=transport or CheckedTransport(allow_private=allow_private, connections=4 * at_once),
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
            headers={"User-Agent": f"bobusang/{__version__}"},
        )

    def open(self, subscription: Subscription) -> HttpSubscriber:
        """Its receiver."""
        return HttpSubscriber(self, subscription)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()


@dataclass(frozen=True, slots=True)
class HttpSubscriber:
    """One address."""

    bus: Http
    subscription: Subscription

    @property
    def patience(self) -> Patience:
        """As the bus was told."""
        return self.bus.patience

    async def deliver(self, events: Sequence[Event]) -> Sequence[Outcome]:
        """Post them; when the subscriber as a whole cannot take more, the rest is not tried."""
        outcomes: dict[int, Outcome] = {}
        by_key: dict[str, list[Event]] = {}
        for event in events:
            by_key.setdefault(event.key, []).append(event)
        waiting = iter(by_key.values())
        until = time.monotonic() + self.bus.budget
        stop = asyncio.Event()

        async def lane() -> None:
            for mine in waiting:
                for event in mine:
                    if stop.is_set() or time.monotonic() > until:
                        return
                    outcomes[event.id] = outcome = await self._post(event)
                    if isinstance(outcome, Hold | Pause):
                        stop.set()
                    if not isinstance(outcome, Delivered):
                        break

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.bus.at_once, len(by_key))):
                group.create_task(lane())
        return [outcomes.get(event.id, Untried()) for event in events]

    async def _post(self, event: Event) -> Outcome:
        body = _body(event)
        headers = {
            "Content-Type": "application/json",
            HEADER: sign(self.bus.reveal(self.subscription.secret or ""), body, self.bus.clock.now()),
            "Bobusang-Event-Id": str(event.id),
            "Bobusang-Topic": event.topic,
        }
        outcome: Outcome | None = None
        try:
            # The whole exchange has a limit too: a receiver that drips one byte a second never times out by reading.
            async with (
                asyncio.timeout(self.bus.timeout),
                self.bus.client.stream("POST", self.subscription.url, content=body, headers=headers) as response,
            ):
                outcome = answered(response.status_code, response.headers.get("Retry-After"), self.bus.clock.now())
                await _drain(response)
        except Exception as error:
            return outcome or unanswered(error)
        return outcome


async def _drain(response: httpx.Response) -> None:
    """Read a short answer to its end, so that the connection can be used again; nobody reads a long one."""
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > LONGEST_ANSWER:
            return


def unanswered(error: Exception) -> Outcome:
    """What it means that no status came back."""
    match error:
        case Blocked():
            return Pause(str(error))
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.PoolTimeout():
            return Hold(f"cannot be reached: {str(error) or type(error).__name__}")
        case httpx.TimeoutException() | TimeoutError():
            return Retry("no answer in time")
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return Pause("the address cannot be used")
        case httpx.HTTPError():
            return Retry(f"broken answer: {type(error).__name__}")
    raise error


def answered(status: int, retry_after: str | None, now: datetime) -> Outcome:
    """What a status means."""
    wait = waited(retry_after, now)
    if status in WELL:
        return Delivered()
    if status == httpx.codes.GONE:
        return Pause("the subscriber answered 410: it wants no more events")
    if status == httpx.codes.TOO_MANY_REQUESTS or (status == httpx.codes.SERVICE_UNAVAILABLE and wait):
        return Hold(f"the subscriber answered {status}: it asks for a rest", now + wait if wait else None)
    if status in MOVED:
        return Retry(f"the subscriber answered {status}: redirects are not followed")
    return Retry(f"the subscriber answered {status}", wait)


def _body(event: Event) -> bytes:
    return json.dumps(
        {
            "id": event.id,
            "topic": event.topic,
            "key": event.key,
            "created_at": event.created_at,
            "payload": event.payload,
            "headers": event.headers,
        }
    ).encode()
