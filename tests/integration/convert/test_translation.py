"""Translation memory and glossary on all databases, and a model over real HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from bobusang.kit import json
from bobusang.kit.errors import Invalid, Throttled
from bobusang.platform.models import opened
from bobusang.stages.convert.glossary import Term
from bobusang.stages.convert.memory import (
    Changed,
    Corrected,
    Told,
    correct,
    digest,
    drop_terms,
    glossary,
    put_terms,
    recall,
    remember,
    translate,
)
from bobusang.stages.convert.tables import Origin, translation_memory
from bobusang.stages.convert.translate import MOST_TEXTS, Recalled, Translated, Translation, Translator, Way
from tests.integration.platform.receiver import Answer, Receiver, Request, receiving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

WORDS = {"나이키": "ナイキ", "아디다스": "アディダス", "프라다": "プラダ"}


def paid(source: str, text: str, cost: int = 7) -> Translation:
    return Translation(source, text, Way.MODEL, "m-1", cost)


async def kept(db: Database) -> list[tuple[Any, ...]]:
    columns = ("source_text", "target_text", "origin", "model", "cost_micros")
    async with db.read() as tx:
        rows = await tx.fetch(select(*(translation_memory.c[name] for name in columns)).order_by("source_text"))
    return [tuple(row[name] for name in columns) for row in rows]


async def recalled(db: Database, *texts: str) -> dict[str, Recalled]:
    async with db.read() as tx:
        return await recall(tx, texts)


async def test_what_was_paid_for_is_remembered_once(db: Database) -> None:
    async with db.begin() as tx:
        ruled = Translation("구찌", "グッチ", Way.RULES)
        assert await remember(tx, [paid("나이키 신발", "ナイキの靴"), paid("나이키", "ナイキ"), ruled]) == 2
    async with db.begin() as tx:
        assert await remember(tx, [paid("나이키", "ナイキー"), paid("프라다", "プラダ", 0)]) == 1

    assert await kept(db) == [
        ("나이키", "ナイキ", "model", "m-1", 7),
        ("나이키 신발", "ナイキの靴", "model", "m-1", 7),
        ("프라다", "プラダ", "model", "m-1", 0),
    ]
    assert await recalled(db, "나이키 ", "나이키\u00a0신발", "구찌") == {
        "나이키": Recalled("ナイキ"),
        "나이키 신발": Recalled("ナイキの靴"),
    }


async def test_a_person_is_right_before_and_after_the_model(db: Database) -> None:
    async with db.begin() as tx:
        await remember(tx, [paid("나이키", "ナイキー")])
        nike = await correct(tx, "나이키", " ナイキ ")
        await correct(tx, "프라다", "プラーダ")
        await correct(tx, "프라다", "プラダ")
        same = await correct(tx, " 프라다", "プラダ")
        await remember(tx, [paid("나이키", "ナイキー"), paid("프라다", "プラーダ")])

    assert await kept(db) == [("나이키", "ナイキ", "person", None, 0), ("프라다", "プラダ", "person", None, 0)]
    assert await recalled(db, "나이키") == {"나이키": Recalled("ナイキ", by_person=True)}
    assert nike == Corrected(
        digest("나이키"), Told("나이키", "ナイキー", Origin.MODEL, "m-1"), Told("나이키", "ナイキ")
    )
    assert same.before == same.after == Told("프라다", "プラダ")


async def test_a_correction_is_a_new_row_unless_it_says_what_is_there(db: Database) -> None:
    async def ids() -> list[int]:
        async with db.read() as tx:
            return [row["id"] for row in await tx.fetch(select(translation_memory.c.id).order_by("id"))]

    async with db.begin() as tx:
        await remember(tx, [paid("나이키", "ナイキー"), paid("프라다", "プラダ")])
    [nike, prada] = await ids()
    for word in ("ナイキ", "ナイキ", "ナイキ★"):
        await db.transact(lambda tx, word=word: correct(tx, "나이키", word))  # type: ignore[misc]
    found = await ids()

    assert (found[0], len(found), found[1] > prada + 1) == (prada, 2, True)
    assert nike not in found


@pytest.mark.parametrize(
    ("source", "text"), [("나이키", "나이키"), ("나이키", "\u200b"), ("", "ナイキ"), ("NIKE", "ナイキ")]
)
async def test_a_correction_that_a_market_would_refuse_is_refused(db: Database, source: str, text: str) -> None:
    async with db.begin() as tx:
        with pytest.raises(Invalid):
            await correct(tx, source, text)


async def test_more_texts_than_one_statement_takes(db: Database) -> None:
    many = {f"나이키 {number}": f"ナイキ {number}" for number in range(1201)}
    async with db.begin() as tx:
        await remember(tx, [paid(source, text) for source, text in many.items()])

    assert await recalled(db, *many) == {source: Recalled(text) for source, text in many.items()}


async def test_the_operators_terms_come_before_the_shipped(db: Database) -> None:
    async with db.begin() as tx:
        await put_terms(
            tx, [Term("블랙", "黒", "colour"), Term("나이키", "ナイキ", "brand"), Term("Air", "エア", "", True)]
        )
        again = [Term("블랙", "漆黒", "colour"), Term("나이키", "ナイキ", "brand")]
        assert await put_terms(tx, again) == [Changed(Term("블랙", "黒", "colour"), again[0])]
    async with db.read() as tx:
        assert (await glossary(tx)).render("나이키 Air air 블랙코트").text == "ナイキ エア air 漆黒コート"
    async with db.begin() as tx:
        assert await drop_terms(tx, ["블랙", "화이트"]) == [Term("블랙", "漆黒", "colour")]
        assert (await glossary(tx)).render("블랙").text == "ブラック"
        with pytest.raises(Invalid, match="the term '블랙' cannot be kept"):
            await put_terms(tx, [Term("블랙", "블랙")])


@pytest.fixture
async def server() -> AsyncIterator[Receiver]:
    """Speaks OpenAI's chat completions and knows a few words."""
    async with receiving() as receiver:

        async def respond(request: Request) -> Answer:
            texts = json.loads(request.json["messages"][1]["content"])
            lines = []
            for place, text in enumerate(texts):
                for korean, japanese in WORDS.items():
                    text = text.replace(korean, japanese)  # noqa: PLW2901
                lines.append({"id": place, "text": text})
            message = {"content": json.dumps({"lines": lines})}
            usage = {"prompt_tokens": 100, "completion_tokens": 10 * len(texts)}
            body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
            return Answer(body=json.dumps(body).encode())

        receiver.respond = respond
        yield receiver


@pytest.fixture
async def ours(db: Database, server: Receiver, clock: ManualClock) -> AsyncIterator[Translator]:
    model = opened("openai:m-1", url=f"http://127.0.0.1:{server.port}/v1", price="1/1", clock=clock)
    async with db.read() as tx:
        terms = await glossary(tx)
    yield Translator(terms, model)
    await model.close()


async def test_a_text_is_paid_for_once(db: Database, server: Receiver, ours: Translator) -> None:
    texts = ["나이키 DV-3456A", "블랙", "나이키 DV-3456A ", "보부상"]

    first = await translate(db, ours, texts)
    second = await translate(db, ours, texts)

    assert first == Translated(
        {
            "블랙": Translation("블랙", "ブラック", Way.GLOSSARY),
            "나이키 DV-3456A": Translation("나이키 DV-3456A", "ナイキ DV-3456A", Way.MODEL, "m-1", 96),
            "보부상": Translation("보부상", "ポブサン", Way.RULES, "m-1", 24, "the model left Korean in the text"),
        },
        calls=1,
        spent_micros=120,
    )
    assert second == Translated(
        {
            "블랙": Translation("블랙", "ブラック", Way.GLOSSARY),
            "나이키 DV-3456A": Translation("나이키 DV-3456A", "ナイキ DV-3456A", Way.MEMORY),
            "보부상": Translation("보부상", "ポブサン", Way.RULES, "m-1", 0, "the model left Korean in the text"),
        }
    )
    assert len(server.requests) == 1


async def test_what_came_before_a_rest_is_kept_and_not_paid_for_again(
    db: Database, server: Receiver, ours: Translator, clock: ManualClock
) -> None:
    texts = [f"나이키 {number}" for number in range(MOST_TEXTS + 5)]
    speak = server.respond

    async def tired(request: Request) -> Answer:
        if len(server.requests) == 2:
            return Answer(429, {"Retry-After": "9"}, b"{}")
        return await speak(request)

    server.respond = tired
    first = await translate(db, ours, texts)
    done = await translate(db, ours, texts)

    assert isinstance(first.trouble, Throttled)
    assert (len(first.found), first.trouble.until) == (MOST_TEXTS, clock.now() + timedelta(seconds=9))
    assert done.trouble is None
    assert [one.text for one in sorted(done.found.values(), key=lambda one: int(one.source.split()[1]))] == [
        f"ナイキ {number}" for number in range(MOST_TEXTS + 5)
    ]
    asked = [len(json.loads(request.json["messages"][1]["content"])) for request in server.requests]
    assert asked == [MOST_TEXTS, 5, 5]


async def test_use_is_noted_once_a_day(db: Database, ours: Translator, clock: ManualClock) -> None:
    await translate(db, ours, ["나이키"])
    clock.advance(hours=25)

    assert (await recalled(db, "나이키"))["나이키"].stale
    await translate(db, ours, ["나이키"])
    assert not (await recalled(db, "나이키"))["나이키"].stale
