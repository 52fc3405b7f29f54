"""One call to a model's server: bounded in time and size, its troubles named, its key in no message."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import msgspec

from bobusang import __version__
from bobusang.kit import json
from bobusang.kit.errors import External, Invalid, Rejected, Throttled, Unavailable
from bobusang.kit.redact import MASK, scrub
from bobusang.platform.model import SETTING, Garbled
from bobusang.platform.retry_after import waited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.clock import Clock

LONGEST_ANSWER = 4 << 20
REST = timedelta(seconds=30)
OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_error"})
RESTING = frozenset({429, 529})
"""529 is how Anthropic says that it is overloaded."""
PASSING = frozenset({408, 409, 425})


class Caller:
    """Posts JSON to one server."""

    def __init__(self, url: str, headers: Mapping[str, str], *, key: str, clock: Clock) -> None:
        self._url, self._key, self._clock = url.rstrip("/"), key, clock
        self._client = httpx.AsyncClient(
            headers={"User-Agent": f"bobusang/{__version__}", **headers},
            follow_redirects=False,
            trust_env=False,
            timeout=None,  # noqa: S113 the whole call has one limit, below
        )

    def __repr__(self) -> str:
        return f"Caller({self._url}, {MASK})"

    async def post(self, path: str, body: Mapping[str, Any], timeout: timedelta) -> dict[str, Any]:
        """The answer's object."""
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                status, headers, answer = await self._sent(path, json.dumps(body).encode())
        except TimeoutError:
            raise Unavailable(f"the model did not answer within {timeout.total_seconds():g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise Invalid(f"{SETTING}_URL cannot be called", hint="https://host/v1", field="model_url") from None
        except httpx.HTTPError as error:
            # `from None`: the chain would show the request, and with it the key.
            raise Unavailable(f"the model cannot be reached: {type(error).__name__}") from None
        if not httpx.codes.is_success(status):
            raise self._refusal(status, headers, answer)
        return _object(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _sent(self, path: str, body: bytes) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Content-Type": "application/json"}
        async with self._client.stream("POST", self._url + path, content=body, headers=headers) as response:
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > LONGEST_ANSWER:
                    raise Garbled(f"the model's answer does not end within {LONGEST_ANSWER:,} bytes")
                chunks.append(chunk)
            return response.status_code, response.headers, b"".join(chunks)

    def _refusal(self, status: int, headers: httpx.Headers, answer: bytes) -> External:
        kind, said = _complaint(answer)
        message = f"the model's server answered {status}: {self._hidden(said)}"
        wait = waited(headers.get("Retry-After"), self._clock.now())
        if kind in OUT_OF_MONEY:
            return Rejected(message, hint="the account has no money left, or its limit is reached")
        if status in RESTING or (status >= 500 and wait):
            return Throttled(message, until=self._clock.now() + (wait or REST))
        if status >= 500 or status in PASSING:
            return Unavailable(message)
        if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
            return Rejected(message, hint=f"check {SETTING}_KEY")
        return Rejected(message, hint=f"check {SETTING} and {SETTING}_URL")

    def _hidden(self, text: str) -> str:
        """Servers like to repeat the key they did not like."""
        return scrub(text.replace(self._key, MASK) if self._key else text)[:200]


def _object(answer: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(answer, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Garbled("the model's server did not answer with a JSON object") from None


def _complaint(answer: bytes) -> tuple[str, str]:
    """What kind of error the server names, and its words; both vendors put them at the same place."""
    try:
        error = _object(answer).get("error")
    except Garbled:
        error = None
    if not isinstance(error, dict):
        return "", "no reason given"
    return str(error.get("code") or error.get("type") or ""), str(error.get("message") or "no reason given")
