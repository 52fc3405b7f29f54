"""A new index beside the one that serves, put in its place by one change of aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opensearchpy.exceptions import TransportError

from bobusang.kit.errors import Conflict
from bobusang.platform.searches.opensearch.bulk import puts
from bobusang.platform.searches.opensearch.schema import template

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bobusang.platform.search import Document
    from bobusang.platform.searches.opensearch.bulk import Bulk
    from bobusang.platform.searches.opensearch.names import Names
    from bobusang.platform.searches.opensearch.server import Server

UNKNOWN = 400


class Indices:
    """The indices of one prefix, of which at most one serves."""

    def __init__(self, server: Server, names: Names) -> None:
        self._server = server
        self._names = names

    async def begin(self) -> str:
        """Make a new one; what was left behind by a crash is dropped."""
        for name, aliases in (await self._all()).items():
            if not any(map(self._names.is_serving, aliases)):
                await self._server.delete_indices(name)
        await self._server.call(
            "PUT",
            f"/_index_template/{self._names.template}",
            template(self._names.indices, nori=await self._has_nori()),
        )
        index = self._names.fresh()
        await self._server.call("PUT", f"/{index}", {"aliases": {self._names.building: {}}})
        return index

    async def switch(self, index: str) -> None:
        """Serve from another one from now on, then drop all others.

        Not in one step: a server closes what is dropped before it looks at its aliases anew, and whoever asks in
        between finds nothing. What a crash leaves is dropped by the next rebuild.
        """
        await self._server.call("POST", f"/{index}/_refresh")
        others = {name: aliases for name, aliases in (await self._all()).items() if name != index}
        actions: list[dict[str, Any]] = [
            {"add": {"index": index, "alias": self._names.serving}},
            {"remove": {"index": index, "alias": self._names.building}},
            *(
                {"remove": {"index": name, "alias": alias}}
                for name, aliases in others.items()
                for alias in aliases
                if self._names.is_serving(alias)
            ),
        ]
        await self._server.call("POST", "/_aliases", {"actions": actions})
        for name in others:
            await self._server.delete_indices(name)

    async def drop(self, index: str) -> None:
        await self._server.delete_indices(index)

    async def _all(self) -> dict[str, list[str]]:
        found = await self._server.call(
            "GET", f"/{self._names.indices}", absent=True, expand_wildcards="all", filter_path="*.aliases"
        )
        return {name: list(kept["aliases"]) for name, kept in (found or {}).items()}

    async def _has_nori(self) -> bool:
        """Tried, for what a managed server lists as its plugins is its own business."""
        try:
            await self._server.raw("POST", "/_analyze", {"tokenizer": "nori_tokenizer", "text": "나이키 패딩"})
        except TransportError as error:
            if error.status_code == UNKNOWN:
                return False
            raise self._server.told(error) from error
        return True


class OpenSearchRebuild:
    """A rebuild as the contract has it; `end` takes whether it is to serve."""

    def __init__(self, bulk: Bulk, target: str, end: Callable[[bool], Awaitable[None]]) -> None:
        self._bulk = bulk
        self._target = target
        self._end: Callable[[bool], Awaitable[None]] | None = end

    async def put(self, documents: Sequence[Document]) -> None:
        if self._end is None:
            raise self._ended()
        await self._bulk.send(puts(documents, [self._target]))

    async def finish(self) -> None:
        await self._ending(serve=True)

    async def abandon(self) -> None:
        await self._ending(serve=False)

    async def _ending(self, *, serve: bool) -> None:
        if self._end is None:
            raise self._ended()
        await self._end(serve)
        self._end = None

    def _ended(self) -> Conflict:
        return Conflict("this rebuild of the search index has ended", hint="begin another")
