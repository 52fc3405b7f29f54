"""Questions to the index that serves: whole answers only, never those of the shards that happened to answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from opensearchpy.exceptions import TransportError

from bobusang.platform.searches.opensearch.clauses import one_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence

    from bobusang.platform.searches.opensearch.server import Server

PAGE = 5_000
KEPT = "2m"
"""How long the server keeps a view between two pages of a scan."""
AT_ONCE = 1_000
UNAVAILABLE = 503
UNREAD = {"search_phase_execution_exception", "index_not_found_exception", "no_shard_available_action_exception"}
"""No shard answered, or there is none."""

Answer = TypeVar("Answer")

_encode = msgspec.json.Encoder().encode


class Reading:
    """What can be asked of one alias."""

    def __init__(self, server: Server, alias: str) -> None:
        self._server = server
        self._alias = alias

    async def one(self, body: Mapping[str, Any]) -> Any:
        return (await self.many([body]))[0]

    async def many(self, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Several questions in one call."""
        return await self._answered(lambda: self._asked(bodies)) if bodies else []

    async def call(self, method: str, what: str, body: Mapping[str, Any] | None = None, **options: str) -> Any:
        """Anything else that is asked of the index."""
        return await self._answered(lambda: self._server.raw(method, f"/{self._alias}/{what}", body, **options))

    async def _answered(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """An answer. Whoever was on the way to an index that a rebuild has dropped meanwhile asks once more."""
        try:
            return await ask()
        except TransportError as error:
            if not await self._was_replaced(error):
                raise self._server.told(error) from error
        try:
            return await ask()
        except TransportError as error:
            raise self._server.told(error) from error

    async def _was_replaced(self, error: TransportError) -> bool:
        """Whether another index serves than the one that did not answer."""
        if error.error not in UNREAD:
            return False
        serving = await self._server.call("GET", f"/_alias/{self._alias}", absent=True) or {}
        return bool(serving) and serving.keys().isdisjoint(_indices(error.info))

    async def _asked(self, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        if len(bodies) == 1:
            path = f"/{self._alias}/_search"
            return [await self._server.raw("POST", path, bodies[0], allow_partial_search_results="false")]
        head = _encode({"index": self._alias, "allow_partial_search_results": False})
        lines = b"".join(b"%b\n%b\n" % (head, _encode(body)) for body in bodies)
        answers = (await self._server.raw("POST", "/_msearch", lines))["responses"]
        for answer in answers:
            if "error" in answer:
                raise TransportError(answer["status"], answer["error"].get("type", ""), answer)
        return list(answers)

    async def frequencies(self, found: Collection[str]) -> dict[str, int]:
        """In how many documents each of these words stands."""
        if not found:
            return {}
        filters = {word: {"term": {"tokens": f"={word}"}} for word in found}
        answer = await self.one(
            {
                "query": one_of("tokens", [f"={word}" for word in found]),
                "size": 0,
                "track_total_hits": False,
                "aggs": {"words": {"filters": {"filters": filters}}},
            }
        )
        return {word: bucket["doc_count"] for word, bucket in answer["aggregations"]["words"]["buckets"].items()}

    async def sources(self, ids: Sequence[int]) -> list[Mapping[str, Any]]:
        """What is kept of those that are there."""
        found: list[Mapping[str, Any]] = []
        for start in range(0, len(ids), AT_ONCE):
            wanted = {"ids": [str(id) for id in ids[start : start + AT_ONCE]]}
            found += [one["_source"] for one in await self._answered(partial(self._kept, wanted)) if one["found"]]
        return found

    async def _kept(self, wanted: Mapping[str, Any]) -> list[Any]:
        answers = (await self._server.raw("POST", f"/{self._alias}/_mget", wanted))["docs"]
        for answer in answers:
            if "error" in answer:
                raise TransportError(UNAVAILABLE, answer["error"].get("type", ""), answer)
        return list(answers)

    async def digests(self) -> AsyncIterator[tuple[int, str]]:
        """By number, all as they stood at one moment."""
        opened = await self.call("POST", "_search/point_in_time", keep_alive=KEPT)
        view = opened["pit_id"]
        body: dict[str, Any] = {
            "size": PAGE,
            "_source": False,
            "docvalue_fields": ["digest"],
            "sort": [{"id": "asc"}],
            "track_total_hits": False,
            "pit": {"id": view, "keep_alive": KEPT},
        }
        try:
            while True:
                answer = await self._server.call(
                    "POST",
                    "/_search",
                    body,
                    filter_path="hits.hits.sort,hits.hits.fields",
                    allow_partial_search_results="false",
                )
                hits = answer.get("hits", {}).get("hits", [])
                for hit in hits:
                    yield hit["sort"][0], hit["fields"]["digest"][0]
                if len(hits) < PAGE:
                    return
                body["search_after"] = hits[-1]["sort"]
        finally:
            await self._server.call("DELETE", "/_search/point_in_time", {"pit_id": [view]}, absent=True)


def _indices(said: Any) -> set[str]:
    """The indices that an error names."""
    match said:
        case dict():
            named = {said["index"]} if isinstance(said.get("index"), str) else set()
            return named.union(*map(_indices, said.values()))
        case list():
            return set().union(*map(_indices, said))
        case _:
            return set()
