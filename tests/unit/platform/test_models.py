"""Choosing a model, its price, and the shape of its answers."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.platform.model import Completion, Garbled, Price, Task, Usage, read_answer, schema_of
from bobusang.platform.models import opened
from bobusang.platform.models.rules import Rules


class Word(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    text: str


class Words(msgspec.Struct, forbid_unknown_fields=True):
    words: list[Word]


def spelled(texts: tuple[str, ...]) -> Words:
    return Words([Word(place, text.upper()) for place, text in enumerate(texts)])


TASK = Task("spell", "Spell it.", ("a", "b"), Words, spelled)


async def test_without_a_model_the_rule_answers_and_costs_nothing() -> None:
    model = opened("")

    assert isinstance(model, Rules)
    assert await model.complete(TASK) == Completion(Words([Word(0, "A"), Word(1, "B")]), "rules", Usage(0, 0, 0))


@pytest.mark.parametrize(
    ("choice", "given_", "message", "field"),
    [
        ("opneai:gpt", {}, "no model is called opneai", "model"),
        ("openai", {"key": "k"}, "which model of openai", "model"),
        ("openai:gpt", {}, "there is no key", "model_key"),
        ("openai:gpt", {"key": "sk-1\n"}, "BOBUSANG_MODEL_KEY is no key", "model_key"),
        ("anthropic:claude", {"key": "sk-키"}, "BOBUSANG_MODEL_KEY is no key", "model_key"),
        ("openai:gpt", {"key": "k", "url": "localhost:1"}, "BOBUSANG_MODEL_URL is no address", "model_url"),
        ("anthropic:claude", {"key": "k", "price": "cheap"}, "is no price", "model_price"),
        ("anthropic:claude", {"key": "k", "price": "1"}, "is no price", "model_price"),
        ("anthropic:claude", {"key": "k", "price": "1/-1"}, "is no price", "model_price"),
        ("anthropic:claude", {"key": "k", "price": "1/NaN"}, "is no price", "model_price"),
    ],
)
def test_a_wrong_choice_names_the_setting(choice: str, given_: dict[str, str], message: str, field: str) -> None:
    with pytest.raises(Invalid, match=message) as caught:
        opened(choice, **given_)  # type: ignore[arg-type]

    assert caught.value.field == field


def test_an_own_server_needs_no_key() -> None:
    assert opened("openai:qwen3", url="http://localhost:11434/v1").name == "qwen3"


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_library_that_is_missing_is_named(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, vendor, None)

    with pytest.raises(Invalid) as caught:
        opened(f"{vendor}:m", key="k")

    assert (str(caught.value), caught.value.field) == (
        f"BOBUSANG_MODEL is {vendor}:m, but {vendor} is not installed (pip install 'bobusang[models]')",
        "model",
    )


def test_choosing_a_model_loads_no_library() -> None:
    program = (
        "import sys; from bobusang.platform.models import opened; opened('openai:m', key='k'); "
        "opened('anthropic:m', key='k'); print([n for n in ('openai', 'anthropic', 'httpx2') if n in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert found.stdout == "[]\n"


@pytest.mark.parametrize("url", ["http://", "http:///v1", "http://host:port/v1"])
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
async def test_an_address_without_a_server_is_named(vendor: str, url: str) -> None:
    model = opened(f"{vendor}:m", key="k", url=url)

    with pytest.raises(Invalid, match="BOBUSANG_MODEL_URL cannot be called"):
        await model.complete(TASK)
    await model.close()


def test_a_schema_is_one_piece_and_closed() -> None:
    word = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["id", "text"],
        "additionalProperties": False,
    }
    assert schema_of(Words) == {
        "type": "object",
        "properties": {"words": {"type": "array", "items": word}},
        "required": ["words"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("text", ["", "null", "[]", '{"words": [{"id": 0}]}', '{"words": [], "more": 1}', "[" * 9999])
def test_an_answer_of_another_shape_is_garbled(text: str) -> None:
    with pytest.raises(Garbled):
        read_answer(TASK, text)


def test_a_cost_is_rounded_up() -> None:
    price = Price.read("0.15/0.60")

    assert price == Price(Decimal("0.15"), Decimal("0.60"))
    assert price.micros(1000, 200) == 270
    assert price.micros(1, 0) == 1
    assert price.micros(0, 0) == 0


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.decimals(0, 1000, places=4), st.decimals(0, 1000, places=4))
def test_a_cost_is_never_below_the_exact_one(tokens_in: int, tokens_out: int, one: Decimal, other: Decimal) -> None:
    exact = one * tokens_in + other * tokens_out

    assert 0 <= Price(one, other).micros(tokens_in, tokens_out) - exact < 1
