"""Anthropic's messages; the answer is taken as the input of a tool that the model must call."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import anthropic
import msgspec

from bobusang.kit import json
from bobusang.platform.model import Completion, Declined, Garbled, Usage, read_answer, schema_of
from bobusang.platform.models.calling import UNSAID, Caller, address

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bobusang.kit.clock import Clock
    from bobusang.platform.model import Price, Task
    from bobusang.platform.models.calling import Answered

T = TypeVar("T")

HOME = "https://api.anthropic.com"
VERSION = "2023-06-01"


class Block(msgspec.Struct):
    """A piece of the answer; the input of a tool call is what we asked for."""

    type: str
    input: msgspec.Raw = msgspec.Raw(b"")


class Counted(msgspec.Struct):
    """Tokens."""

    input_tokens: int = 0
    output_tokens: int = 0


class Reply(msgspec.Struct):
    """The part of a message that we read."""

    content: list[Block]
    stop_reason: str | None = None
    usage: Counted = msgspec.field(default_factory=Counted)


class Anthropic:
    """A model of Anthropic, or the same behind a gateway at `url`."""

    def __init__(self, name: str, key: str, *, url: str | None, price: Price | None, clock: Clock) -> None:
        self.name = name
        self._price = price
        self._caller = Caller(
            {"x-api-key": key, "anthropic-version": VERSION},
            key=key,
            clock=clock,
            refused=anthropic.APIStatusError,
            unreached=anthropic.APIConnectionError,
        )
        self._vendor = anthropic.AsyncAnthropic(
            api_key=UNSAID,
            # The library says /v1 itself; we let it be said as in other addresses.
            base_url=str(address((url or HOME).rstrip("/").removesuffix("/v1"))),
            max_retries=0,
            timeout=None,
            open_telemetry=False,
            http_client=self._caller.http,
        )

    async def complete(self, task: Task[T]) -> Completion[T]:
        """Ask once."""
        reply = _reply(await self._caller.answer(self._asked(task), task.timeout))
        if reply.stop_reason == "refusal":
            raise Declined(task.name)
        if reply.stop_reason == "max_tokens":
            raise Garbled(f"the model's answer to '{task.name}' broke off at {task.most_tokens} tokens")
        given = next((block.input for block in reply.content if block.type == "tool_use"), msgspec.Raw(b""))
        used = reply.usage.input_tokens, reply.usage.output_tokens
        cost = None if self._price is None else self._price.micros(*used)
        return Completion(read_answer(task, bytes(given)), self.name, Usage(*used, cost))

    async def close(self) -> None:
        """Close the connections."""
        await self._vendor.close()

    def _asked(self, task: Task[T]) -> Awaitable[Answered]:
        return self._vendor.messages.with_raw_response.create(
            model=self.name,
            system=task.instructions,
            messages=[{"role": "user", "content": json.dumps(task.texts)}],
            tools=[{"name": task.name, "description": "The answer.", "input_schema": schema_of(task.answer)}],
            tool_choice={"type": "tool", "name": task.name},
            max_tokens=task.most_tokens,
        )


def _reply(answer: bytes) -> Reply:
    """Read by our schema: the library takes whatever comes for what it should be."""
    try:
        return msgspec.json.decode(answer, type=Reply)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbled(f"the model's server does not speak Anthropic's messages: {error}") from error
