"""The live channel: what is on a page is loaded once a second for everybody, rendered once a language and zone, and
only what changed is sent.

Nothing is kept for one visitor but what he has not been sent yet: whoever reads too slowly misses states in between and
gets the newest.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from starlette.websockets import WebSocketDisconnect, WebSocketState

from bobusang.entry.web.rendering import Eyes
from bobusang.kit import json, log
from bobusang.kit.errors import BobusangError, Invalid

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from bobusang.entry.web.site import Site

Parts: TypeAlias = Mapping[str, str]
"""Rendered elements by their id."""
Draw: TypeAlias = Callable[[Eyes], Parts]
"""Renders what was loaded."""
Loader: TypeAlias = "Callable[[Site, Mapping[str, str]], Awaitable[Draw]]"
"""Loads a topic once for all who look; it is given the parts of the topic's name."""

EVERY = 1.0
MOST_TOPICS = 10
LONGEST_TOPIC = 200
CHECKED_EVERY = 15.0
"""Seconds after which it is looked whether a visitor is still signed in."""
GONE = 4401
"""The code by which we close on who is not signed in any more."""

_log = log.get("live")


@dataclass(slots=True, eq=False)
class Client:
    """A page that is open somewhere."""

    socket: WebSocket
    eyes: Eyes
    topics: frozenset[str] = frozenset()
    pending: dict[str, str | None] = field(default_factory=dict)
    """Messages by topic that wait to be sent; None: all of the topic, because something between was missed."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    checked: float = 0.0
    """When it was last looked whether he is still signed in."""


@dataclass(slots=True)
class Shown:
    """A topic as some have been sent it."""

    parts: dict[str, str] = field(default_factory=dict)
    whole: str = ""


class Hub:
    """The topics of this process and who looks at them."""

    def __init__(self, site: Site, topics: Mapping[str, Loader]) -> None:
        self._site = site
        self._topics = [(_pattern(name), loader) for name, loader in topics.items()]
        self._clients: dict[str, set[Client]] = {}
        self._all: set[Client] = set()
        self._shown: dict[tuple[str, str, str], Shown] = {}
        self._turning: asyncio.Task[None] | None = None

    @property
    def count(self) -> int:
        """How many pages are open."""
        return len(self._all)

    async def serve(self, socket: WebSocket, eyes: Eyes, is_welcome: Callable[[], Awaitable[bool]]) -> None:
        """One connection, until it ends."""
        client = Client(socket, Eyes(eyes.language, eyes.zone), checked=asyncio.get_running_loop().time())
        self._all.add(client)
        sending = asyncio.create_task(self._send(client, is_welcome))
        try:
            while True:
                self._follow(client, _topics(await socket.receive_text()))
        except WebSocketDisconnect:
            pass
        except (Invalid, KeyError):  # a text was expected, and that it names topics
            with suppress(RuntimeError):
                await socket.close(1003)
        finally:
            self._all.discard(client)
            self._follow(client, frozenset())
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending

    def check(self) -> None:
        """Somebody went, or was changed: look at once who may still look."""
        for client in self._all:
            client.checked = float("-inf")
            client.wake.set()

    async def close(self) -> None:
        """End turning; connections are closed by the server."""
        if self._turning is not None:
            self._turning.cancel()
            with suppress(asyncio.CancelledError):
                await self._turning

    def _follow(self, client: Client, topics: frozenset[str]) -> None:
        for topic in client.topics - topics:
            found = self._clients[topic]
            found.discard(client)
            if not found:
                del self._clients[topic]
                for key in [key for key in self._shown if key[0] == topic]:
                    del self._shown[key]
        for topic in topics:
            self._clients.setdefault(topic, set()).add(client)
            client.pending[topic] = None
        client.topics = topics
        client.wake.set()
        if self._clients and (self._turning is None or self._turning.done()):
            self._turning = asyncio.create_task(self._turn())

    async def _turn(self) -> None:
        """Once a second, for as long as anybody looks."""
        loop = asyncio.get_running_loop()
        while self._clients:
            began = loop.time()
            for topic in list(self._clients):
                try:
                    await self._renew(topic)
                except BobusangError as error:
                    _log.info("a live topic could not be loaded", topic=topic, error=str(error))
                except Exception:  # a page that fails must not stop the others
                    _log.exception("a live topic failed", topic=topic)
            await asyncio.sleep(max(0.1, EVERY - (loop.time() - began)))

    async def _renew(self, topic: str) -> None:
        draw = await self._load(topic)
        if draw is None:
            return
        by_eyes: dict[Eyes, list[Client]] = {}
        for client in self._clients.get(topic, ()):
            by_eyes.setdefault(client.eyes, []).append(client)
        for eyes, clients in by_eyes.items():
            parts = dict(draw(eyes))
            shown = self._shown.setdefault((topic, eyes.language, eyes.zone), Shown())
            changed = {id: html for id, html in parts.items() if shown.parts.get(id) != html}
            gone = [id for id in shown.parts if id not in parts]
            if changed or gone:
                shown.parts = parts
                shown.whole = ""
                message = json.dumps({"topic": topic, "parts": changed, "gone": gone})
            else:
                message = ""
            for client in clients:
                if message and topic not in client.pending:
                    client.pending[topic] = message
                elif message:
                    client.pending[topic] = None
                if client.pending:
                    client.wake.set()

    async def _load(self, topic: str) -> Draw | None:
        for pattern, loader in self._topics:
            if (found := pattern.fullmatch(topic)) is not None:
                return await loader(self._site, found.groupdict())
        return None

    async def _send(self, client: Client, is_welcome: Callable[[], Awaitable[bool]]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECKED_EVERY):
                    await client.wake.wait()
            client.wake.clear()
            if loop.time() - client.checked >= CHECKED_EVERY:
                client.checked = loop.time()
                if not await is_welcome():
                    await client.socket.close(GONE)
                    return
            for topic in list(client.pending):
                message = client.pending[topic] if client.pending[topic] is not None else self._whole(topic, client)
                if message is None:
                    continue  # nothing was loaded yet; the next turn wakes us
                del client.pending[topic]
                if client.socket.application_state is not WebSocketState.CONNECTED:
                    return
                await client.socket.send_text(message)

    def _whole(self, topic: str, client: Client) -> str | None:
        """All of a topic, for who has just come or has missed something; made once for all of them."""
        shown = self._shown.get((topic, client.eyes.language, client.eyes.zone))
        if shown is None:
            return None
        if not shown.whole:
            shown.whole = json.dumps({"topic": topic, "parts": shown.parts, "gone": []})
        return shown.whole


def _pattern(name: str) -> re.Pattern[str]:
    """`run:{batch_id}` as what matches it."""
    parts = re.split(r"\{(\w+)\}", name)
    return re.compile("".join(f"(?P<{part}>[^:]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


def _topics(text: str) -> frozenset[str]:
    found = json.loads(text) if len(text) <= MOST_TOPICS * LONGEST_TOPIC else None
    if not isinstance(found, list) or len(found) > MOST_TOPICS:
        raise Invalid("a list of topics was expected")
    if not all(isinstance(one, str) and len(one) <= LONGEST_TOPIC for one in found):
        raise Invalid("topics are texts")
    return frozenset(found)
