"""Anthropic's messages; the answer is taken as the input of a tool that the model must call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from bobusang.kit import json
from bobusang.platform.model import Completion, Declined, Garbled, Usage, read_answer, schema_of
from bobusang.platform.models.calling import Caller

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.model import Price, Task

T = TypeVar("T")

HOME = "https://api.anthropic.com/v1"
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
        headers = {"x-api-key": key, "anthropic-version": VERSION}
        self._caller = Caller(url or HOME, headers, key=key, clock=clock)

    async def complete(self, task: Task[T]) -> Completion[T]:
        """Ask once."""
        reply = _reply(await self._caller.post("/messages", self._body(task), task.timeout))
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
        await self._caller.close()

    def _body(self, task: Task[T]) -> dict[str, Any]:
        tool = {"name": task.name, "description": "The answer.", "input_schema": schema_of(task.answer)}
        return {
            "model": self.name,
            "system": task.instructions,
            "messages": [{"role": "user", "content": json.dumps(task.texts)}],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": task.name},
            "max_tokens": task.most_tokens,
        }


def _reply(data: dict[str, Any]) -> Reply:
    try:
        return msgspec.json.decode(json.dumps(data), type=Reply)
    except msgspec.ValidationError as error:
        raise Garbled(f"the model's server does not speak Anthropic's messages: {error}") from error
