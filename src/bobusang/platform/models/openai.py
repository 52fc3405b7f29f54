"""OpenAI, and every server that speaks its chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
import openai

from bobusang.kit import json
from bobusang.platform.model import Completion, Declined, Garbled, Usage, read_answer, schema_of
from bobusang.platform.models.calling import UNSAID, Caller, address

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bobusang.kit.clock import Clock
    from bobusang.platform.model import Price, Task
    from bobusang.platform.models.calling import Answered

T = TypeVar("T")

HOME = "https://api.openai.com/v1"


class Message(msgspec.Struct):
    """What it says; `refusal` instead of content when it will not."""

    content: str | None = None
    refusal: str | None = None


class Choice(msgspec.Struct):
    """One answer; it ends with `stop` when it is whole."""

    message: Message
    finish_reason: str | None = None


class Counted(msgspec.Struct):
    """Tokens."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Reply(msgspec.Struct):
    """The part of a chat completion that we read."""

    choices: list[Choice]
    usage: Counted = msgspec.field(default_factory=Counted)


class OpenAI:
    """A model of OpenAI, or a compatible one at `url`."""

    def __init__(self, name: str, key: str, *, url: str | None, price: Price | None, clock: Clock) -> None:
        self.name = name
        self._price = price
        # Compatible servers know only the older word; OpenAI's newer models only the newer one.
        self._newest = url is None
        self._caller = Caller(
            {"Authorization": f"Bearer {key}"} if key else {},
            key=key,
            clock=clock,
            refused=openai.APIStatusError,
            unreached=openai.APIConnectionError,
        )
        self._vendor = openai.AsyncOpenAI(
            api_key=UNSAID, base_url=address(url or HOME), max_retries=0, timeout=None, http_client=self._caller.http
        )

    async def complete(self, task: Task[T]) -> Completion[T]:
        """Ask once."""
        reply = _reply(await self._caller.answer(self._asked(task), task.timeout))
        choice = reply.choices[0] if reply.choices else Choice(Message())
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise Declined(task.name)
        if choice.finish_reason == "length":
            raise Garbled(f"the model's answer to '{task.name}' broke off at {task.most_tokens} tokens")
        used = reply.usage.prompt_tokens, reply.usage.completion_tokens
        cost = None if self._price is None else self._price.micros(*used)
        return Completion(read_answer(task, choice.message.content or ""), self.name, Usage(*used, cost))

    async def close(self) -> None:
        """Close the connections."""
        await self._vendor.close()

    def _asked(self, task: Task[T]) -> Awaitable[Answered]:
        return self._vendor.chat.completions.with_raw_response.create(
            model=self.name,
            messages=[
                {"role": "system", "content": task.instructions},
                {"role": "user", "content": json.dumps(task.texts)},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": task.name, "strict": True, "schema": schema_of(task.answer)},
            },
            max_completion_tokens=task.most_tokens if self._newest else openai.omit,
            max_tokens=openai.omit if self._newest else task.most_tokens,
        )


def _reply(answer: bytes) -> Reply:
    """Read by our schema: the library takes whatever comes for what it should be."""
    try:
        return msgspec.json.decode(answer, type=Reply)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbled(f"the model's server does not speak OpenAI's chat completions: {error}") from error
