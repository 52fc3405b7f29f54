"""Webhooks: signed, sent to the seller's receiver, repeated until answered, and gone wrong where a fault says so."""

from __future__ import annotations

import asyncio
import base64
import hmac
from collections import Counter, deque
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import aiohttp

from bobusang.kit import json
from bobusang.sandbox.buyma.lanes import Lanes
from bobusang.sandbox.fault import Mishap

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.sandbox.buyma.account import Account, Behaviour
    from bobusang.sandbox.fault import Faults

KEPT = 5000
LATE_SECONDS, HELD_SECONDS = 30.0, 5.0
FORGERY = "forged-secret"


@dataclass(frozen=True, slots=True)
class Letter:
    """One webhook on its way."""

    number: int
    account: Account
    event: str
    key: str
    """What it is about: letters of one key go in order."""
    body: bytes
    forged: bool = False
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a letter: the receiver's status, 0 when there was no answer, or why it was not sent."""

    number: int
    event: str
    key: str
    attempt: int
    forged: bool
    status: int
    why: str
    body: str


def signature(secret: str, body: bytes) -> str:
    """As it stands in `X-Buyma-Hmac-Sha256`."""
    return base64.b64encode(hmac.digest(secret.encode(), body, "sha256")).decode()


class Post:
    """Sends letters."""

    def __init__(self, faults: Faults, behaviour: Callable[[], Behaviour]) -> None:
        self.lanes = Lanes()
        self.deliveries: deque[Delivery] = deque(maxlen=KEPT)
        self.counts: Counter[str] = Counter()
        self.http: aiohttp.ClientSession | None = None
        self.number = 0
        self.under_way: dict[int, Letter] = {}
        """What is not delivered yet, oldest first; a letter that is doubled stands here twice."""
        self._faults = faults
        self._behaviour = behaviour
        self._held: dict[str, int] = {}
        self._places = count()

    def clear(self) -> None:
        """Forget every letter."""
        self.lanes.clear()
        self.deliveries.clear()
        self.counts.clear()
        self._held.clear()
        self.under_way.clear()
        self.number = 0

    def send(self, account: Account, event: str, key: str, value: dict[str, Any]) -> None:
        """A letter to a seller, unless something befalls it."""
        self.number += 1
        letter = Letter(self.number, account, event, key, json.dumps(value).encode())
        hit = self._faults.befall("buyma", "webhook", f"{event}?reference_number={key}", "")
        seconds = hit.fault.seconds if hit else None
        match hit.fault.kind if hit else "":
            case Mishap.LOST:
                self._note(letter, 0, "lost")
                return
            case Mishap.LATE:
                self._put(letter, LATE_SECONDS if seconds is None else seconds)
            case Mishap.DOUBLED:
                self._put(letter)
                self._put(letter)
            case Mishap.FORGED:
                self._put(replace(letter, body=forgery(value), forged=True))
                self._put(letter)
            case Mishap.REORDERED:
                self._hold(letter, HELD_SECONDS if seconds is None else seconds)
                return
            case _:
                self._put(letter)
        self._release(key)

    def forge(self, account: Account, event: str, key: str, value: dict[str, Any]) -> None:
        """A letter as somebody else would send it."""
        self.number += 1
        self._put(Letter(self.number, account, event, key, json.dumps(value).encode(), forged=True))

    def remember(self, letter: Letter) -> int:
        """It is to be delivered; its place among those under way."""
        place = next(self._places)
        self.under_way[place] = letter
        return place

    def resume(self) -> None:
        """Deliver what was remembered."""
        for place, letter in self.under_way.items():
            self.lanes.put(letter.key, 0.0, partial(self._deliver, place, letter))

    def _put(self, letter: Letter, delay: float = 0.0) -> None:
        self.lanes.put(letter.key, delay, partial(self._deliver, self.remember(letter), letter))

    def _hold(self, letter: Letter, seconds: float) -> None:
        """Let the next letter about the same go first; if there is none, go after a while."""
        self._release(letter.key)
        place = self._held[letter.key] = self.remember(letter)
        self.lanes.put(letter.key, seconds, partial(self._late, letter.key, place))

    def _release(self, key: str) -> None:
        place = self._held.pop(key, None)
        if place is not None:
            self._put(self.under_way.pop(place))

    async def _late(self, key: str, place: int) -> None:
        if self._held.get(key) == place:
            self._release(key)

    async def _deliver(self, place: int, letter: Letter) -> None:
        if not letter.account.webhook_url:
            self.under_way.pop(place, None)
            self._note(letter, 0, "no receiver")
            return
        status = await self._posted(letter)
        self.under_way.pop(place, None)  # not before: who is stopped meanwhile sends it again
        self._note(letter, status, "" if status else "no answer")
        behaviour = self._behaviour()
        if status != 200 and not letter.forged and letter.attempt <= behaviour.retries:
            self._put(replace(letter, attempt=letter.attempt + 1), behaviour.retry_seconds)

    async def _posted(self, letter: Letter) -> int:
        assert self.http is not None
        headers = {
            "Content-Type": "application/json",
            "X-Buyma-Event": letter.event,
            "X-Buyma-Hmac-Sha256": signature(FORGERY if letter.forged else letter.account.secret, letter.body),
        }
        try:
            async with (
                asyncio.timeout(self._behaviour().answer_seconds),
                self.http.post(letter.account.webhook_url, data=letter.body, headers=headers) as answer,
            ):
                return answer.status
        except (aiohttp.ClientError, TimeoutError, ValueError, OSError):
            return 0

    def _note(self, letter: Letter, status: int, why: str) -> None:
        self.counts[why or str(status)] += 1
        number, event, key, attempt = letter.number, letter.event, letter.key, letter.attempt
        self.deliveries.append(Delivery(number, event, key, attempt, letter.forged, status, why, letter.body.decode()))

    def log(self, key: str = "", limit: int = KEPT) -> list[dict[str, Any]]:
        """What became of the letters, oldest first, the latest `limit` of them."""
        found = [asdict(one) for one in self.deliveries if key in ("", one.key)]
        return found[-limit:] if limit else []


def forgery(value: dict[str, Any]) -> bytes:
    """What somebody would like us to believe: that it is public, for one yen."""
    return json.dumps({**value, "status": "public", "price": 1}).encode()
