"""One question to a model's server through its vendor's library: bounded in time, its troubles named, its key in no
message."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import httpx2
import msgspec

from bobusang.kit import log
from bobusang.kit.errors import External, Invalid, Rejected, Throttled, Unavailable
from bobusang.kit.redact import MASK, scrub
from bobusang.platform.model import SETTING, Garbled
from bobusang.platform.models.wire import Wire
from bobusang.platform.retry_after import waited

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    import anthropic
    import openai

    from bobusang.kit.clock import Clock

REST = timedelta(seconds=30)
OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_error"})
RESTING = frozenset({429, 529})
"""529 is how Anthropic says that it is overloaded."""
PASSING = frozenset({408, 409, 425})
UNSAID = "said by the wire"
"""What the libraries get as a key; without one they would look for another in the environment and in files."""


class Answered(Protocol):
    """A raw answer, as both libraries give it."""

    @property
    def http_response(self) -> httpx2.Response: ...


class Caller:
    """What the libraries have in common: `http` to ask with, and what becomes of an answer and of their errors."""

    def __init__(
        self,
        headers: Mapping[str, str],
        *,
        key: str,
        clock: Clock,
        refused: type[openai.APIStatusError | anthropic.APIStatusError],
        unreached: type[openai.APIConnectionError | anthropic.APIConnectionError],
    ) -> None:
        self._key, self._clock = key, clock
        self._refused, self._unreached = refused, unreached
        # The whole call has one limit, below.
        self.http = httpx2.AsyncClient(
            transport=Wire(headers),
            follow_redirects=False,
            trust_env=False,
            timeout=None,
        )
        # OPENAI_LOG and ANTHROPIC_LOG make them write down what is asked, from the moment they are loaded.
        log.quieten()

    def __repr__(self) -> str:
        return f"Caller({MASK})"

    async def answer(self, asking: Awaitable[Answered], timeout: timedelta) -> bytes:
        """What was answered, of whatever shape."""
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                return (await asking).http_response.content
        except TimeoutError:
            raise Unavailable(f"the model did not answer within {timeout.total_seconds():g} s") from None
        except self._refused as error:
            raise self._refusal(error.response) from None
        except self._unreached as error:
            if isinstance(error.__cause__, Garbled):
                raise error.__cause__ from None
            raise Unavailable(f"the model cannot be reached: {type(error.__cause__ or error).__name__}") from None

    def _refusal(self, response: httpx2.Response) -> External:
        status, (kind, said) = response.status_code, _complaint(response.content)
        message = f"the model's server answered {status}: {self._hidden(said)}"
        wait = waited(response.headers.get("Retry-After"), self._clock.now())
        if kind in OUT_OF_MONEY:
            return Rejected(message, hint="the account has no money left, or its limit is reached")
        if status in RESTING or (status >= 500 and wait):
            return Throttled(message, until=self._clock.now() + (wait or REST))
        if status >= 500 or status in PASSING:
            return Unavailable(message)
        if status in {httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN}:
            return Rejected(message, hint=f"check {SETTING}_KEY")
        return Rejected(message, hint=f"check {SETTING} and {SETTING}_URL")

    def _hidden(self, text: str) -> str:
        """Servers like to repeat the key they did not like."""
        return scrub(text.replace(self._key, MASK) if self._key else text)[:200]


def address(url: str) -> httpx2.URL:
    """Where the server is, or Invalid."""
    try:
        found = httpx2.URL(url)
    except httpx2.InvalidURL:
        found = httpx2.URL()
    if not found.host:
        raise Invalid(f"{SETTING}_URL cannot be called", hint="https://host/v1", field="model_url")
    return found


def _complaint(answer: bytes) -> tuple[str, str]:
    """What kind of error the server names, and its words; both vendors put them at the same place."""
    try:
        error = msgspec.json.decode(answer, type=dict[str, Any]).get("error")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        error = None
    if not isinstance(error, dict):
        return "", "no reason given"
    return str(error.get("code") or error.get("type") or ""), str(error.get("message") or "no reason given")
