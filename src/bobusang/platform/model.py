"""The model contract: typed answers to a list of texts, what they cost, and a rule that answers without any model.

A model's answer is data from outside: it is read by a schema, bounded, and checked by whoever asked. Nothing is tried
again here; whoever asks knows what waiting costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

from bobusang.kit.errors import External, Invalid, Rejected

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

SETTING = "BOBUSANG_MODEL"
MILLION = 1_000_000
SHOWN = 300
"""Signs of a text that an error shows: a product's name is shown whole, for it is what a correction is found by."""


class Garbled(External):
    """The answer is no answer to what was asked: broken off, of another shape, too long."""

    code = "garbled"


class Declined(Rejected):
    """The model will not answer because of what a text says; asked without that text it would."""

    code = "declined"

    def __init__(self, task: str, text: str = "") -> None:
        of = f" of '{text[:SHOWN]}'" if text else ""
        hint = "something in the text offends it: `bobusang translation correct` says it in your words"
        super().__init__(f"the model will not answer '{task}'{of}", hint=hint)


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """Texts, what to do with them, and the shape of the answer."""

    name: str
    instructions: str
    texts: tuple[str, ...]
    answer: type[T]
    rule: Callable[[tuple[str, ...]], T]
    """Answers without a model: the default, and what is fallen back to."""
    most_tokens: int = 4096
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer took; `cost_micros` in millionths of a US dollar, None when nobody told us the price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int | None = 0


@dataclass(frozen=True, slots=True)
class Completion(Generic[T]):
    """An answer of the asked-for shape, from which model, and what it took."""

    answer: T
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, in and out."""

    input: Decimal
    output: Decimal

    @classmethod
    def read(cls, text: str) -> Price:
        """From `0.15/0.60`."""
        try:
            price = cls(*(Decimal(part.strip()) for part in text.split("/")))
        except (InvalidOperation, TypeError) as error:
            raise Invalid(_unpriced(text), hint="for example 0.15/0.60", field="model_price") from error
        if not all(part.is_finite() and 0 <= part < MILLION for part in (price.input, price.output)):
            raise Invalid(_unpriced(text), hint="two amounts of 0 or more", field="model_price")
        return price

    def micros(self, input_tokens: int, output_tokens: int) -> int:
        """Dollars a million tokens are micro-dollars a token; rounded up, for a cost is never too small."""
        exact = self.input * input_tokens + self.output * output_tokens
        return int(exact.to_integral_value(rounding="ROUND_CEILING"))


class Model(Protocol):
    """Completes tasks. Raises Unavailable (no answer), Throttled (later), Rejected (key, name), Declined (content),
    Garbled."""

    name: str

    async def complete(self, task: Task[T]) -> Completion[T]: ...

    async def close(self) -> None: ...


def schema_of(shape: type[Any]) -> dict[str, Any]:
    """The JSON schema of an answer, in one piece: some vendors want no reference at its root."""
    whole = msgspec.json.schema(shape)
    parts = whole.pop("$defs", {})

    def inlined(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return inlined(parts[value["$ref"].rsplit("/", 1)[-1]])
            return {name: inlined(inner) for name, inner in value.items() if name != "title"}
        return [inlined(inner) for inner in value] if isinstance(value, list) else value

    found: dict[str, Any] = inlined(whole)
    return found


def read_answer(task: Task[T], text: str | bytes) -> T:
    """The answer in its shape, or Garbled."""
    try:
        return msgspec.json.decode(text, type=task.answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbled(f"the model's answer to '{task.name}' is not of the asked shape: {error}") from error


def _unpriced(text: str) -> str:
    return f"{SETTING}_PRICE: '{text}' is no price for tokens in and out"
