"""The role of the one that writes: taken when there is something to write, given back when nothing comes.

It stands in an index of its own. Whoever dies with it keeps others waiting until it has run out.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from opensearchpy.exceptions import TransportError

from bobusang.kit.errors import BobusangError, Conflict
from bobusang.platform.search import SETTING

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.searches.opensearch.server import Server

LASTS = timedelta(seconds=60)
IDLE = 2.0
"""Seconds without a write after which another process may write."""
MADE = {"settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}, "mappings": {"enabled": False}}
TAKEN = 409


class Lease:
    """Ours while `take` has returned, until nothing was written for a while."""

    def __init__(self, server: Server, index: str, clock: Clock) -> None:
        self._server = server
        self._index = index
        self._clock = clock
        self._owner = secrets.token_hex(8)
        self._until: datetime | None = None
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._resting: asyncio.Task[None] | None = None

    async def take(self) -> None:
        """Become the writer, or stay it; Conflict when another process is."""
        async with self._lock:
            self._awake()
            if self._until is None or self._until - self._clock.now() < LASTS / 2:
                await self._take()

    def rest(self) -> None:
        """Nothing to write now: give it back unless something comes soon."""
        self._awake()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE, self._rested)

    async def give_back(self) -> None:
        """Let another process write. One that cannot be given back runs out."""
        async with self._lock:
            self._awake()
            if self._until is not None:
                self._until = None
                with suppress(BobusangError):
                    await self._server.call("DELETE", f"/{self._index}/_doc/writer", absent=True)

    def _awake(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rested(self) -> None:
        self._resting = asyncio.create_task(self.give_back())

    async def _take(self) -> None:
        now = self._clock.now()
        held = await self._server.call("GET", f"/{self._index}/_doc/writer", absent=True)
        ours = held is not None and held["_source"]["owner"] == self._owner
        if self._until is not None and not ours:  # somebody has written since, perhaps past a rebuild of ours
            raise self._conflict()
        if held is None:
            await self._server.call("PUT", f"/{self._index}", MADE, known=True)
            await self._write("_create", now)
            return
        if not ours and datetime.fromisoformat(held["_source"]["until"]) > now:
            raise self._conflict()
        await self._write("_doc", now, if_seq_no=str(held["_seq_no"]), if_primary_term=str(held["_primary_term"]))

    async def _write(self, how: str, now: datetime, **only_if: str) -> None:
        until = now + LASTS
        body: dict[str, Any] = {"owner": self._owner, "until": until.isoformat()}
        try:
            await self._server.raw("PUT", f"/{self._index}/{how}/writer", body, **only_if)
        except TransportError as error:
            self._until = None
            if error.status_code == TAKEN:
                raise self._conflict() from error
            raise self._server.told(error) from error
        self._until = until

    def _conflict(self) -> Conflict:
        self._until = None
        return Conflict(
            f"{SETTING}: another process is writing into the search index", hint="it ends when that one has ended"
        )
