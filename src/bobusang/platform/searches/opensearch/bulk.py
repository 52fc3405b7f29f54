"""Many changes in bounded parts: few under way at once, waiting when the server is busy, each answer looked at."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import msgspec
from opensearchpy.exceptions import TransportError

from bobusang.kit.errors import Drifted, Unavailable
from bobusang.kit.redact import scrub
from bobusang.platform.search import SETTING
from bobusang.platform.searches.opensearch.schema import row
from bobusang.platform.searches.opensearch.server import BUSY, FAULT, REBUILD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bobusang.platform.search import Document
    from bobusang.platform.searches.opensearch.lease import Lease
    from bobusang.platform.searches.opensearch.server import Server

AT_ONCE = 2
MOST, LARGEST = 1_000, 5_000_000
"""Changes and bytes of one part."""
PATIENCE = 60.0
"""Seconds that a busy server is waited for."""
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
TOLD = "errors,items.*.status,items.*.error.type,items.*.error.reason"

_encode = msgspec.json.Encoder().encode


def puts(documents: Iterable[Document], targets: Sequence[str]) -> Iterator[bytes]:
    """Documents as changes of each target."""
    for document in documents:
        body = _encode(row(document))
        for target in targets:
            yield b"%b\n%b\n" % (_encode({"index": {"_index": target, "_id": str(document.id)}}), body)


def deletes(ids: Iterable[int], targets: Sequence[str]) -> Iterator[bytes]:
    """Numbers to be taken out of each target."""
    for id in ids:
        for target in targets:
            yield _encode({"delete": {"_index": target, "_id": str(id)}}) + b"\n"


class Bulk:
    """Changes on their way. A target is an alias: a name that is none is never made an index by accident."""

    def __init__(self, server: Server, lease: Lease, *, patience: float = PATIENCE) -> None:
        self._server = server
        self._lease = lease
        self._patience = patience

    async def send(self, changes: Iterator[bytes], *, refreshed: Sequence[str] = ()) -> None:
        """Make all of them; what stands in `refreshed` shows them to the next search."""
        parts = _parts(changes)
        first, second = await asyncio.to_thread(lambda: (next(parts, None), next(parts, None)))
        if first is None:
            return
        if second is None:
            await self._part(first, refresh="true" if refreshed else "false")
            return
        await self._many(first, second, parts)
        if refreshed:
            await self._server.call("POST", f"/{','.join(refreshed)}/_refresh")

    async def _many(self, first: list[bytes], second: list[bytes], parts: Iterator[list[bytes]]) -> None:
        running = {asyncio.create_task(self._part(part)) for part in (first, second)}
        try:
            while part := await asyncio.to_thread(next, parts, None):
                if len(running) >= AT_ONCE:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        task.result()
                running.add(asyncio.create_task(self._part(part)))
            await asyncio.gather(*running)
        finally:  # none of them goes on behind the back of whoever hears of a failure
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _part(self, changes: list[bytes], refresh: str = "false") -> None:
        loop = asyncio.get_running_loop()
        until, wait = loop.time() + self._patience, FIRST_WAIT
        while changes := await self._refused(changes, refresh):
            if loop.time() > until:
                raise Unavailable(
                    f"{SETTING}: the search is too busy to take {len(changes)} changes",
                    hint="give it more to work with",
                )
            await asyncio.sleep(wait * random.uniform(0.5, 1))
            wait = min(2 * wait, LONGEST_WAIT)

    async def _refused(self, changes: list[bytes], refresh: str) -> list[bytes]:
        """Send them, if we still may; those that a busy server would not take."""
        await self._lease.take()
        try:
            answer = await self._server.raw(
                "POST", "/_bulk", b"".join(changes), refresh=refresh, require_alias="true", filter_path=TOLD
            )
        except TransportError as error:
            if error.status_code == BUSY:
                return changes
            raise self._server.told(error) from error
        if not answer["errors"]:
            return []
        answers = [next(iter(item.values())) for item in answer["items"]]
        for one in answers:
            if "error" in one and one["status"] != BUSY:
                raise _wrong(one)
        return [change for change, one in zip(changes, answers, strict=True) if one["status"] == BUSY]


def _parts(changes: Iterator[bytes], *, most: int = MOST, largest: int = LARGEST) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for change in changes:
        if part and (len(part) == most or size + len(change) > largest):
            yield part
            part, size = [], 0
        part.append(change)
        size += len(change)
    if part:
        yield part


def _wrong(answer: dict[str, Any]) -> Drifted | Unavailable:
    error = answer["error"]
    if error["type"] == "index_not_found_exception":
        return Drifted(f"{SETTING}: there is no search index to write into", hint=REBUILD)
    said = scrub(f"{error['type']}: {error.get('reason', '')}")[:300]
    if answer["status"] >= FAULT:
        return Unavailable(f"{SETTING}: the search index takes nothing now: {said}", hint="look at the server's health")
    return Drifted(f"{SETTING}: the search index does not take a document: {said}", hint=REBUILD)
