"""Webhooks on their way in: the signature is checked, the bytes are kept, then the events that came together are
stored by one commit and each is answered. What they say is read later."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.flows.collect.starting import ready
from bobusang.flows.inbound.secrets import secret_of
from bobusang.kit import log
from bobusang.kit.errors import BobusangError, Conflict, Invalid, Missing, Unavailable
from bobusang.stages.collect import events
from bobusang.stages.collect.inbound import Verdict, key_of, packed
from bobusang.stages.collect.source import Ask, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.source import Source

LARGEST = 1 << 20
JSON, HTTP = "application/json", "message/http"
AT_ONCE = 64
KNOWN_SECONDS = 2.0
"""How long a source's state and secret are not asked for again: whoever is answered waits for each way there."""


class Answer(StrEnum):
    """What whoever sent it is told."""

    RECEIVED = "received"
    KNOWN = "known"
    """It came before; nothing more will come of it."""
    FORGED = "forged"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Letter:
    """A webhook that was rightly signed and waits to be stored, and whoever waits for that."""

    source: str
    event: str
    kept: bytes
    media: str
    answer: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(frozen=True, slots=True)
class _Door:
    """A source that may send, with its secret, and until when that is believed."""

    source: Source
    secret: str = field(repr=False)
    until: float = 0.0


class Receiver:
    """One for all sources in a process. `given` are secrets that are known without asking, as the sandbox's."""

    def __init__(
        self, collector: Collector, find: Callable[[str], str], given: Mapping[str, str] | None = None
    ) -> None:
        self._collector = collector
        self._find = find
        self._given = dict(given or {})
        self._letters: deque[Letter] = deque()
        self._storing: asyncio.Task[None] | None = None
        self._doors: dict[str, _Door] = {}

    async def receive(self, name: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Store a webhook of a source. When this says RECEIVED it is safe, whatever happens.

        Raises Missing for a source that sends nothing, Conflict for one that is off or an event that once said
        something else, Invalid for what is too large, Unavailable where the signature cannot be checked.
        """
        door = await self._door(name)
        source = door.source
        assert source.inbound is not None
        if len(body) > self.most(source):
            raise Invalid(f"a webhook of {name} has at most {self.most(source):,} bytes", field="body")
        lower = {key.lower(): value for key, value in headers.items()}
        verdict = source.inbound.signing.verify(door.secret, lower, body, self._collector.db.clock.now())
        if verdict is not Verdict.GENUINE:
            log.get("inbound").warning("a webhook was refused", source=name, verdict=verdict.value, bytes=len(body))
            return Answer(verdict.value)
        kept = packed(source.inbound.headers, lower, body)
        letter = Letter(name, _event(source, lower, body), kept, HTTP if source.inbound.headers else JSON)
        self._letters.append(letter)
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store())
        return await letter.answer

    def most(self, source: Source) -> int:
        """Bytes that one webhook may have."""
        return min(source.policy.max_body, LARGEST)

    async def _door(self, name: str) -> _Door:
        known = self._doors.get(name)
        if known is not None and time.monotonic() < known.until:
            return known
        try:
            source = self._collector.source(name)
        except Missing:
            source = None
        if source is None or source.inbound is None:
            raise Missing(f"no source '{name[:50]}' sends us webhooks", hint="a shop.yaml with `kind: webhook` does")
        async with self._collector.db.read() as tx:
            await ready(tx, self._collector, name)
            try:
                secret = self._given.get(name) or await secret_of(tx, source, self._find)
            except Missing as error:
                # A stranger learns nothing of where the secret should be, and the supplier sends it again.
                log.get("inbound").error("a webhook cannot be checked", source=name, error=str(error))
                raise Unavailable(f"signatures of {name} cannot be checked now", hint="the log says why") from error
        found = self._doors[name] = _Door(source, secret, time.monotonic() + KNOWN_SECONDS)
        return found

    async def _store(self) -> None:
        while self._letters:
            count = min(len(self._letters), AT_ONCE)
            await self._stored([self._letters.popleft() for _ in range(count)])

    async def _stored(self, letters: Sequence[Letter]) -> None:
        try:
            addresses = await self._collector.blobs.put_many([(one.kept, one.media) for one in letters])
            answers = await self._collector.db.transact(lambda tx: _written(tx, letters, addresses), urgent=True)
        except Exception as error:
            if len(letters) == 1:
                _answer(letters[0], error)
            else:  # one of them, most likely: the others must not pay for it
                for letter in letters:
                    await self._stored([letter])
            return
        for letter, answer in zip(letters, answers, strict=True):
            _answer(letter, answer)


async def _written(tx: Tx, letters: Sequence[Letter], addresses: Sequence[str]) -> list[Answer | BobusangError]:
    answers: dict[int, Answer | BobusangError] = {}
    for source in sorted({one.source for one in letters}):
        mine = [place for place, one in enumerate(letters) if one.source == source]
        known = await events.known(tx, source, [letters[place].event for place in mine])
        new: dict[str, str] = {}
        for place in mine:
            event, address = letters[place].event, addresses[place]
            before = known.get(event, new.get(event))
            if before is None:
                new[event] = address
            answers[place] = _told(source, event, before, address)
        # Two processes may store the same at once: the second row is left away, and both say that it is safe.
        await events.store(tx, source, list(new.items()))
    return [answers[place] for place in range(len(letters))]


def _told(source: str, event: str, before: str | None, address: str) -> Answer | BobusangError:
    if before is None:
        return Answer.RECEIVED
    if before == address:
        return Answer.KNOWN
    return Conflict(
        f"the event {event} of {source} came before and said something else",
        hint="what happens later is another event, with a key of its own",
    )


def _event(source: Source, headers: Mapping[str, str], body: bytes) -> str:
    """The key of an event. One that does not say it, as we read it now, is stored too, by its bytes: what it says can
    be read once the shop is mended."""
    assert source.inbound is not None
    try:
        return source.inbound.event(Page(Ask(""), body, headers=headers)).key
    except (BobusangError, RecursionError):
        return key_of("", body)


def _answer(letter: Letter, verdict: Answer | Exception) -> None:
    if letter.answer.done():  # whoever asked is gone; the webhook is stored all the same
        return
    if isinstance(verdict, Exception):
        letter.answer.set_exception(verdict)
    else:
        letter.answer.set_result(verdict)
