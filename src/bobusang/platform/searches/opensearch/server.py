"""An OpenSearch as we use it: few connections, bounded waits, and errors that name the setting, never a password."""

from __future__ import annotations

import logging
import ssl
from typing import TYPE_CHECKING, Any

import msgspec
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import OpenSearchException, SSLError, TransportError
from opensearchpy.serializer import Serializer

from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.kit.redact import scrub
from bobusang.platform.search import SETTING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.errors import BobusangError
    from bobusang.platform.searches.opensearch.place import Place

CONNECTIONS = 16
SECONDS = 30.0
REBUILD = "bobusang search rebuild"
BUSY, FAULT = 429, 500
EXISTS = "resource_already_exists_exception"

# Their client logs every failed call with its body; ours are told once, by whoever asked.
logging.getLogger("opensearch").setLevel(logging.CRITICAL)


class Json(Serializer):
    """Bodies and answers, several times as quick as the client's own."""

    mimetype = "application/json"

    def loads(self, s: str) -> Any:
        return msgspec.json.decode(s)

    def dumps(self, data: Any) -> Any:
        return data if isinstance(data, (bytes, str)) else msgspec.json.encode(data)


class Server:
    """One OpenSearch, reached lazily."""

    def __init__(self, place: Place, *, seconds: float = SECONDS) -> None:
        self._place = place
        self._client = AsyncOpenSearch(
            hosts=[{"host": place.host, "port": place.port}],
            http_auth=(place.user, place.password) if place.user else None,
            use_ssl=place.secure,
            ssl_context=_context(place),
            serializer=Json(),
            maxsize=CONNECTIONS,
            timeout=seconds,
            max_retries=0,  # who repeats what is decided above
        )

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None = None,
        *,
        absent: bool = False,
        known: bool = False,
        **options: str,
    ) -> Any:
        """An answer to one request; with `absent` what is not there is None, with `known` what is there already."""
        try:
            return await self.raw(method, path, body, **options)
        except TransportError as error:
            if (absent and error.status_code == 404) or (known and error.error == EXISTS):
                return None
            raise self.told(error) from error

    async def raw(self, method: str, path: str, body: Mapping[str, Any] | bytes | None = None, **options: str) -> Any:
        """As `call`, but a refusal is their error; nothing to talk to is ours."""
        headers = {"content-type": "application/x-ndjson"} if isinstance(body, bytes) else None
        try:
            return await self._client.transport.perform_request(
                method, path, params=dict(options), body=body, headers=headers
            )
        except TransportError as error:
            if isinstance(error.status_code, int):
                raise
            raise self.told(error) from error
        except (OpenSearchException, OSError) as error:
            raise self._away(str(error)) from error

    def told(self, error: TransportError) -> BobusangError:
        """Their refusal in our words."""
        reason = scrub(_reason(error))[:300]
        match error.status_code:
            case 401 | 403:
                return Unavailable(
                    f"{SETTING}: {self._place} refuses us: {reason}",
                    hint="check user and password in the address, and that the user may manage indices of this prefix",
                )
            case 404:
                return Drifted(f"{SETTING}: {self._place} has no index of ours: {reason}", hint=REBUILD)
            case 400 | 409 | 413:
                return Drifted(f"{SETTING}: the index at {self._place} is not as we made it: {reason}", hint=REBUILD)
            case int(status):
                return self._away(f"{status} {reason}")
            case _:
                return self._away("its certificate is not to be trusted" if isinstance(error, SSLError) else reason)

    def _away(self, reason: str) -> Unavailable:
        return Unavailable(
            f"{SETTING}: the search at {self._place} is away: {scrub(reason)[:300]}",
            hint=f"start it or mend {SETTING}",
        )

    async def delete_indices(self, names: str) -> None:
        """Those of this name or pattern. A pattern is looked up first: many servers forbid to delete by one."""
        found = await self.call("GET", f"/{names}", absent=True, expand_wildcards="all", filter_path="*.aliases")
        for name in found or ():
            await self.call("DELETE", f"/{name}", absent=True)

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.close()


def _context(place: Place) -> ssl.SSLContext | None:
    if not place.secure:
        return None
    try:
        return ssl.create_default_context(cafile=place.ca or None)
    except OSError as error:
        raise Invalid(
            f"{SETTING}: the certificate {place.ca} cannot be read", hint=str(error), field="search_url"
        ) from error


def _reason(error: TransportError) -> str:
    """What happened, in their words, of the innermost cause."""
    info = error.info
    if isinstance(info, dict) and isinstance(info.get("error"), dict):
        cause = (info["error"].get("root_cause") or [info["error"]])[0]
        return f"{cause.get('type', '')}: {cause.get('reason', '')}"
    return str(info or error.error)
