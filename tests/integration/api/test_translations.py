"""Translations: what the memory holds, newest first, and a person's word that takes a model's place."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bobusang.stages.convert import memory
from bobusang.stages.convert.translate import Translation, Way
from bobusang.views import translations
from tests.integration.api.test_pages import turned

if TYPE_CHECKING:
    from tests.integration.api.door import Door

PADDING = "나이키 롱패딩"
NAMES = ("text", "translation", "origin", "model", "cost_micros")


async def remembered(door: Door, *pairs: tuple[str, str]) -> None:
    """A model was paid for these, one after the other."""
    for text, translation in pairs:
        one = Translation(text, translation, Way.MODEL, "m-1", 7)
        await door.app.engine.db.transact(lambda tx, one=one: memory.remember(tx, [one]))  # type: ignore[misc]


async def listed(door: Door, **query: Any) -> list[tuple[Any, ...]]:
    return [tuple(one[name] for name in NAMES) for one in (await door.get("/translations", **query))["items"]]


async def correct(door: Door, text: str, translation: str) -> Any:
    answer = await door.operator.put("/translations", json={"text": text, "translation": translation})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_persons_word_takes_the_models_place(door: Door) -> None:
    await remembered(door, (PADDING, "ナイキ 長いパディング"), ("프라다", "プラダ"))

    done = await correct(door, f" {PADDING} ", "ナイキ ロングダウン")
    same = await correct(door, PADDING, "ナイキ ロングダウン")
    new = await correct(door, "보부상", "褓負商")

    assert same == done
    assert done == {
        "id": done["id"],
        "text": PADDING,
        "translation": "ナイキ ロングダウン",
        "origin": "person",
        "model": None,
        "cost_micros": 0,
        "created_at": done["created_at"],
        "used_at": done["created_at"],
    }
    ours = [("보부상", "褓負商", "person", None, 0), (PADDING, "ナイキ ロングダウン", "person", None, 0)]
    paid = [("프라다", "プラダ", "model", "m-1", 7)]
    assert await listed(door) == ours + paid
    assert (await listed(door, origin="person"), await listed(door, origin="model")) == (ours, paid)
    acts = (await door.get("/audit", subject_type="translation"))["items"]
    said = {"origin": "person", "model": None}
    assert [(one["actor"], one["action"], one["subject_id"], one["before"], one["after"]) for one in acts] == [
        (
            *("the operator", "translation.correct", sha256("보부상".encode()).hexdigest(), None),
            said | {"text": "보부상", "translation": "褓負商"},
        ),
        (
            *("the operator", "translation.correct", sha256(PADDING.encode()).hexdigest()),
            {"text": PADDING, "translation": "ナイキ 長いパディング", "origin": "model", "model": "m-1"},
            said | {"text": PADDING, "translation": "ナイキ ロングダウン"},
        ),
    ]
    assert new["id"] > done["id"]


async def test_a_correction_is_taken_back_and_a_models_word_is_not(door: Door) -> None:
    await remembered(door, ("프라다", "プラダ"))
    await correct(door, PADDING, "ナイキ ロングダウン")

    first, again, paid = [
        await door.operator.post("/translations/drop", json={"text": text})
        for text in (f" {PADDING} ", PADDING, "프라다")
    ]

    gone = {"text": PADDING, "translation": "ナイキ ロングダウン"}
    assert (first.status_code, first.json()) == (200, gone)
    assert [(one.status_code, one.json()["detail"]) for one in (again, paid)] == [
        (404, f"nobody has corrected '{PADDING}'"),
        (404, "nobody has corrected '프라다'"),
    ]
    assert await listed(door) == [("프라다", "プラダ", "model", "m-1", 7)]
    [act, _] = (await door.get("/audit", subject_type="translation"))["items"]
    told = gone | {"origin": "person", "model": None}
    assert (act["actor"], act["action"], act["before"], act["after"]) == (
        *("the operator", "translation.drop"),
        *(told, None),
    )


async def test_two_who_correct_at_once_come_one_after_the_other(door: Door) -> None:
    words = {"ナイキ ロングダウン", "ナイキ ダウンコート"}

    done = await asyncio.gather(*(correct(door, PADDING, word) for word in words))

    [(text, last, origin, *_)] = await listed(door)
    assert ({one["translation"] for one in done}, text, origin) == (words, PADDING, "person")
    newest, oldest = (await door.get("/audit", subject_type="translation"))["items"]
    assert (oldest["before"], oldest["after"]["translation"]) == (None, *words - {last})
    assert (newest["before"], newest["after"]["translation"]) == (oldest["after"], last)


async def test_pages_are_turned_by_key(door: Door) -> None:
    texts = [f"낱말 {number}" for number in range(5)]
    await remembered(door, *((text, "語") for text in texts))

    pages = await turned(door, "/translations", limit=2)
    asked = await turned(door, "/translations", limit=1, q="3")
    nothing = await listed(door, q="語%")

    assert [[one["text"] for one in page] for page in pages] == [texts[:2:-1], texts[2:0:-1], texts[:1]]
    assert ([[one["text"] for one in page] for page in asked], nothing) == ([["낱말 3"]], [])


async def test_a_search_looks_through_so_many_at_once_and_says_where_to_go_on(door: Door) -> None:
    many = [Translation(f"낱말 {number}", "語", Way.MODEL, "m-1", 7) for number in range(translations.WINDOW)]
    await remembered(door, ("나이키", "ナイキ"))
    await door.app.engine.db.transact(lambda tx: memory.remember(tx, many))

    pages = await turned(door, "/translations", q="ナイキ")

    assert [[one["text"] for one in page] for page in pages] == [[], ["나이키"]]


async def test_what_would_never_be_used_is_refused(small: Door) -> None:
    wrong = [
        await small.operator.put("/translations", json={"text": text, "translation": translation})
        for text, translation in (
            ("NIKE", "ナイキ"),
            ("나이키", "나이키"),
            ("나이키", "\u200b"),
            ("", "x"),
            ("가", "가" * 20_001),
        )
    ]
    other = await small.viewer.get("/translations", params={"origin": "glossary"})

    assert [(one.status_code, one.json()["field"]) for one in (*wrong, other)] == [
        *((422, "text"), (422, "translation"), (422, "translation"), (422, "text"), (422, "translation")),
        (422, "origin"),
    ]
    assert await listed(small) == []
