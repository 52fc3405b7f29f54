"""The role of the one that writes: taken when there is something to write, given back when nothing comes.

It stands in an index of its own. Whoever holds it says so every few seconds. Whoever dies with it keeps others waiting
until they have seen it silent for a while, or, those who have not watched, until it has run out. The first is measured
by the clock of the one who watches alone, so that clocks may differ.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from opensearchpy.exceptions import TransportError

from bobusang.kit.errors import BobusangError, Conflict
from bobusang.platform.search import SETTING

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.searches.opensearch.server import Server

LASTS = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often the one that writes says so, and after how long without a word it is dead, in seconds.

    What is sent is sent within a beat after a word, so that it has the rest of the silence to arrive before another
    can write.
    """

    beat: float = 4.0
    silence: float = 15.0


IDLE = 2.0
"""Seconds without a write after which another process may write."""
MADE = {"settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}, "mappings": {"enabled": False}}
TAKEN = 409


class Lease:
    """Ours while `take` has returned, until nothing was written for a while."""

    def __init__(self, server: Server, index: str, clock: Clock, rhythm: Rhythm | None = None) -> None:
        self._server = server
        self._index = index
        self._clock = clock
        self._rhythm = rhythm or Rhythm()
        self._owner = secrets.token_hex(8)
        self._until: datetime | None = None
        self._said = 0.0
        self._word: dict[str, str] = {}
        self._heart: asyncio.Task[None] | None = None
        self._lost: Conflict | None = None
        self._watched: tuple[int, float] | None = None
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._resting: asyncio.Task[None] | None = None

    async def take(self) -> None:
        """Become the writer, or stay it; Conflict when another process is."""
        async with self._lock:
            self._awake()
            if self._lost is not None:  # somebody has written since, perhaps past a rebuild of ours
                lost, self._lost = self._lost, None
                raise lost
            if self._until is None or self._is_old():
                await self._take()
            if self._heart is None or self._heart.done():
                self._heart = asyncio.create_task(self._beat())

    def rest(self) -> None:
        """Nothing to write now: give it back unless something comes soon."""
        self._awake()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE, self._rested)

    async def give_back(self) -> None:
        """Let another process write. One that cannot be given back runs out."""
        async with self._lock:
            self._awake()
            self._lost = None
            if self._heart is not None:
                self._heart.cancel()
            if self._until is not None:
                self._until = None
                with suppress(BobusangError, TransportError):
                    await self._server.raw("DELETE", f"/{self._index}/_doc/writer", None, **self._word)

    def _is_old(self) -> bool:
        """Whether our last word is not of this beat; by either clock, for a machine that slept."""
        ours = self._until is not None and self._until - self._clock.now() > LASTS / 2
        return not ours or time.monotonic() - self._said > self._rhythm.beat

    async def _beat(self) -> None:
        """Say that we are here, for as long as we hold it."""
        while True:
            await asyncio.sleep(self._rhythm.beat)
            async with self._lock:
                if self._until is None:
                    return
                try:
                    await self._take()
                except Conflict as lost:
                    self._lost = lost
                    return
                except BobusangError:  # a server that is away takes nothing from us either
                    continue

    def _awake(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rested(self) -> None:
        self._resting = asyncio.create_task(self.give_back())

    async def _take(self) -> None:
        now = self._clock.now()
        if self._until is not None:  # where somebody has written since, perhaps past a rebuild of ours, it is refused
            await self._write("_doc", now, **self._word)
            return
        held = await self._server.call("GET", f"/{self._index}/_doc/writer", absent=True)
        if held is None:
            await self._server.call("PUT", f"/{self._index}", MADE, known=True)
            await self._write("_create", now)
            return
        if held["_source"]["owner"] != self._owner and not self._is_dead(held, now):
            raise self._conflict()
        await self._write("_doc", now, **_unchanged(held))

    def _is_dead(self, held: Any, now: datetime) -> bool:
        """Whether its holder has not said a word for a while as far as we saw, or its time has run out."""
        word = held["_seq_no"]
        if self._watched is None or self._watched[0] != word:
            self._watched = (word, time.monotonic())
        silent = held["_source"].get("beats", False) and time.monotonic() - self._watched[1] > self._rhythm.silence
        return silent or datetime.fromisoformat(held["_source"]["until"]) <= now

    async def _write(self, how: str, now: datetime, **only_if: str) -> None:
        until = now + LASTS
        body: dict[str, Any] = {"owner": self._owner, "until": until.isoformat(), "beats": True}
        asked = time.monotonic()
        try:
            written = await self._server.raw("PUT", f"/{self._index}/{how}/writer", body, **only_if)
        except TransportError as error:
            if error.status_code == TAKEN:
                raise self._conflict() from error
            raise self._server.told(error) from error
        self._until, self._said, self._word, self._watched = until, asked, _unchanged(written), None

    def _conflict(self) -> Conflict:
        self._until = None
        return Conflict(
            f"{SETTING}: another process is writing into the search index", hint="it ends when that one has ended"
        )


def _unchanged(kept: Any) -> dict[str, str]:
    """That a write counts only if nobody has written since."""
    return {"if_seq_no": str(kept["_seq_no"]), "if_primary_term": str(kept["_primary_term"])}
