"""Translating: the glossary's longest word, the memory, and a model that is believed nothing it cannot prove."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Throttled, Unavailable
from bobusang.platform.model import Completion, Declined, Garbled, Task, Usage
from bobusang.platform.models.rules import Rules
from bobusang.stages.convert.faithful import fault
from bobusang.stages.convert.glossary import Glossary, Rendering, Term, shipped
from bobusang.stages.convert.text import clean_lines, has_hangul, width
from bobusang.stages.convert.translate import (
    MOST_DECLINED,
    MOST_SIGNS,
    MOST_TEXTS,
    Line,
    Lines,
    Recalled,
    Translated,
    Translation,
    Translator,
    Way,
    batches,
)

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

GLOSSARY = Glossary(shipped())
KOREAN = st.text(alphabet="나이키블랙셔츠코튼의를는 4A-%\n가각ㅋ", max_size=30)


class Scripted:
    """A model that answers as the test says."""

    name = "m-1"

    def __init__(self, *answers: Callable[[tuple[str, ...]], Lines] | Exception, cost: int | None = 100) -> None:
        self.answers = list(answers)
        self.cost = cost
        self.asked: list[Task[Any]] = []

    async def complete(self, task: Task[T]) -> Completion[T]:
        self.asked.append(task)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer(task.texts), self.name, Usage(10, 10, self.cost))  # type: ignore[arg-type]

    async def close(self) -> None: ...


def saying(*texts: str) -> Callable[[tuple[str, ...]], Lines]:
    return lambda given: Lines([Line(place, text) for place, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("korean", "rendering"),
    [
        ("블랙", Rendering("ブラック", True, ("블랙",))),
        ("반팔티셔츠", Rendering("半袖Tシャツ", True, ("반팔티셔츠",))),
        ("코튼오버핏셔츠", Rendering("コットンオーバーフィットシャツ", True, ("코튼", "오버핏", "셔츠"))),
        ("캐시미어의 코트를", Rendering("カシミヤの コートを", True, ("캐시미어", "코트"))),
        ("블랙및화이트", Rendering("ブラック及びホワイト", True, ("블랙", "화이트"))),
        ("겉감: 면 60%, 마 40%", Rendering("表地: 綿 60%, 麻 40%", True, ("겉감",))),
        ("나이키 니트", Rendering("ナイキ ニット", False, ("니트",))),
        ("여울", Rendering("ヨウル", False)),
        ("모자이크", Rendering("モジャイク", False)),
        ("라면", Rendering("ラミョン", False)),
        ("DV-3456A XL", Rendering("DV-3456A XL", True)),
    ],
)
def test_the_glossary_takes_words_apart(korean: str, rendering: Rendering) -> None:
    assert GLOSSARY.render(korean) == rendering


@pytest.mark.parametrize(
    ("korean", "text", "known"),
    [
        *(("숄더백", "ショルダーバッグ", True), ("가죽백", "レザーバッグ", True), ("블랙진", "ブラックジーンズ", True)),
        *(("니트숄", "ニットショール", True), ("백", "バッグ", True), ("힐", "ヒール", True)),
        *(("진회색", "ダークグレー", True), ("진네이비", "ダークネイビー", True), ("연베이지", "ライトベージュ", True)),
        *(("백멜란지", "ホワイトメランジ", True), ("백로고", "バックロゴ", True), ("백바지", "ホワイトパンツ", True)),
        *(("가죽백로고", "レザーバックロゴ", True), ("진니트", "チンニット", False), ("백코트", "ペクコート", False)),
        *(("숄코트티셔츠", "ショルコートTシャツ", False), ("니트백로퍼", "ニットペクローファー", False)),
    ],
)
def test_a_thing_of_one_syllable_is_only_the_end_of_a_compound(korean: str, text: str, known: bool) -> None:
    """진회색, dark grey, was grey jeans, and as every part was known no model was asked."""
    found = GLOSSARY.render(korean)

    assert (found.text, found.known) == (text, known)


def test_phrases_and_latin_words_are_terms_too_and_codes_are_not_touched() -> None:
    glossary = Glossary(
        [Term("브이넥 니트", "Vネックニット"), Term("cotton", "コットン"), Term("Air", "エア", "", True)]
    )

    assert (
        glossary.render("브이넥 니트의 Cotton air Air COTTON-12").text == "Vネックニットの コットン air エア COTTON-12"
    )
    assert glossary.translation("COTTON") == "コットン"


def test_the_later_term_counts() -> None:
    assert Glossary([Term("블랙", "黒"), Term("블랙", "ブラック")]).render("블랙").text == "ブラック"


def test_the_shipped_glossary_is_clean() -> None:
    terms = shipped()

    assert len(terms) > 900
    assert len({term.term for term in terms}) == len(terms)
    for term in terms:
        assert term.translation == clean_lines(term.translation)
        assert not has_hangul(term.translation)
        assert re.search(r"\d", term.translation) is None
        assert width(term.translation) <= 26, "a colour or size must fit into an option"


def test_a_page_without_blanks_is_no_word() -> None:
    rendering = GLOSSARY.render("코트" * 3000)

    assert rendering == Rendering("コト" + "コト" * 2999, False)


@given(KOREAN)
def test_nothing_korean_is_left_and_numbers_stay(text: str) -> None:
    rendered = GLOSSARY.render(text).text

    assert not has_hangul(rendered)
    assert re.findall(r"[0-9A-Z]", rendered.replace("Tシ", "")) == re.findall(r"[0-9A-Z]", text)


@pytest.mark.parametrize(
    ("source", "answer", "why"),
    [
        ("나이키 DV-3456A 블랙", "ナイキ DV-3456A ブラック", None),
        ("나이키 DV-3456A 블랙", "ナイキ DV-3465A ブラック", "the model lost or changed 'DV-3456A'"),
        ("나이키 DV-3456A", "ナイキ", "the model lost or changed 'DV-3456A'"),
        ("나이키 반팔티", "ナイキ 半袖Tシャツ", None),
        ("나이키 브이넥 UV", "ナイキ Vネック UV", None),
        ("나이키 코트", "ナイキ コート 12,900円", "the model made up '12,900'"),
        ("나이키 코트", "ナイキ コート XL", "the model made up 'XL'"),
        ("나이키 스몰", "ナイキ S", None),
        ("나이키 S/M", "ナイキ S・M", None),
        ("나이키 자외선", "ナイキ UV", None),
        ("어깨 45 가슴 52 나", "肩幅 52 胸囲 45", "the model put the numbers in another order"),
        ("나이키 90", "ナイキ ９０", None),
        ("나이키", "나이키", "the model left Korean in the text"),
        ("나이키", " ", "the model gave an empty text"),
        ("나이키", "ナイキ" * 20, "the model's text is 60 signs long for 3"),
        ("나이키", "<b>ナイキ</b>", "the model added markup"),
        ("나이키", "ナイキ\n送料無料", "the model added lines"),
        ("GUCCI 코트 나", "グッチ コート", "the model lost or changed 'GUCCI'"),
    ],
)
def test_a_model_says_nothing_of_its_own(source: str, answer: str, why: str | None) -> None:
    assert fault(source, answer, GLOSSARY.render(source).text) == why


@given(KOREAN.filter(lambda text: text.strip() != ""))
def test_the_default_is_always_faithful(text: str) -> None:
    source = clean_lines(text)
    default = GLOSSARY.render(source).text
    if default.strip():
        assert fault(source, default, default) in {
            None,
            f"the model's text is {len(default):,} signs long for {len(source):,}",
        }


async def test_without_a_model_the_rest_is_written_by_its_sound() -> None:
    done = await Translator(GLOSSARY, Rules()).translate(["나이키 블랙 ", "블랙", "XL", "나이키\u00a0블랙"])

    assert done == Translated(
        {
            "나이키 블랙": Translation("나이키 블랙", "ナイキ ブラック", Way.RULES),
            "블랙": Translation("블랙", "ブラック", Way.GLOSSARY),
            "XL": Translation("XL", "XL", Way.SAME),
        }
    )


async def test_only_what_nobody_knows_is_asked_once_and_its_cost_is_shared() -> None:
    model = Scripted(saying("ナイキの靴", "アディダスです"))
    recalled = {"프라다": Recalled("プラダ"), "블랙": Recalled("黒", by_person=True), "화이트": Recalled("白")}

    done = await Translator(GLOSSARY, model).translate(
        ["나이키 신발", "블랙", "화이트", "프라다", "나이키 신발", "아디다스"], recalled
    )

    assert done == Translated(
        {
            "블랙": Translation("블랙", "黒", Way.PERSON),
            "화이트": Translation("화이트", "ホワイト", Way.GLOSSARY),
            "프라다": Translation("프라다", "プラダ", Way.MEMORY),
            "나이키 신발": Translation("나이키 신발", "ナイキの靴", Way.MODEL, "m-1", 60),
            "아디다스": Translation("아디다스", "アディダスです", Way.MODEL, "m-1", 40),
        },
        calls=1,
        spent_micros=100,
    )
    assert model.asked[0].texts == ("나이키 신발", "아디다스")
    assert model.asked[0].instructions.endswith("Use these words: 신발=シューズ.")


async def test_an_answer_that_changes_a_code_is_not_taken_and_it_is_said() -> None:
    done = await Translator(GLOSSARY, Scripted(saying("ナイキ DV-1"))).translate(["나이키 DV-2"])

    note = "the model lost or changed 'DV-2'"
    assert list(done.found.values()) == [Translation("나이키 DV-2", "ナイキ DV-2", Way.RULES, "m-1", 100, note)]


@pytest.mark.parametrize(
    "lines",
    [
        [Line(0, "ナイキ")],
        [Line(0, "ナイキ"), Line(0, "プラダ")],
        [Line(1, "ナイキ"), Line(2, "プラダ")],
        [Line(0, "ナイキ"), Line(1, "プラダ"), Line(2, "送料無料")],
    ],
)
async def test_a_wrong_number_of_lines_is_asked_again_in_halves_then_done_by_rules(lines: list[Line]) -> None:
    model = Scripted(lambda _: Lines(lines), saying("ナイキです"), lambda _: Lines([]))

    done = await Translator(GLOSSARY, model).translate(["나이키", "프라다"])

    note = "the model gave 0 lines for 1 texts, or other ids"
    assert done.found == {
        "나이키": Translation("나이키", "ナイキです", Way.MODEL, "m-1", 100),
        "프라다": Translation("프라다", "プラダ", Way.RULES, note=note),
    }
    assert (done.calls, done.trouble) == (3, None)


async def test_garbage_falls_back_to_the_default() -> None:
    done = await Translator(GLOSSARY, Scripted(Garbled("broken off"))).translate(["나이키"])

    assert done.found == {"나이키": Translation("나이키", "ナイキ", Way.RULES, note="broken off")}


@pytest.mark.parametrize("error", [Unavailable("away"), Throttled("later", until=datetime(2026, 1, 27, tzinfo=UTC))])
async def test_an_outage_is_no_reason_to_sound_a_name_for_ever(error: Unavailable | Throttled) -> None:
    many = [f"나이키 {number}" for number in range(MOST_TEXTS + 1)]
    first = saying(*(f"ナイキ {number}" for number in range(MOST_TEXTS)))

    done = await Translator(GLOSSARY, Scripted(first, error)).translate(many)

    assert done.trouble is error
    assert len(done.found) == MOST_TEXTS


class Squeamish:
    """A model that answers nothing in which one of these stands."""

    name = "m-1"

    def __init__(self, *words: str) -> None:
        self.words = words
        self.asked = 0

    async def complete(self, task: Task[T]) -> Completion[T]:
        self.asked += 1
        if any(word in text for word in self.words for text in task.texts):
            raise Declined(task.name)
        lines = Lines([Line(place, f"ナイキ {text.split()[1]}") for place, text in enumerate(task.texts)])
        return Completion(lines, self.name, Usage(10, 10, 100))  # type: ignore[arg-type]

    async def close(self) -> None: ...


async def test_a_text_that_is_declined_takes_no_other_along_and_is_not_asked_for_again() -> None:
    many = [f"나이키 {number}" for number in range(MOST_TEXTS)]
    translator = Translator(GLOSSARY, model := Squeamish("나이키 17"))

    done = await translator.translate(many)
    calls = model.asked
    again = await translator.translate(["나이키 17", "나이키 90"])

    assert (set(many) - done.found.keys(), done.trouble) == ({"나이키 17"}, None)
    assert (done.missing(many[:17]), str(done.missing(many))) == (None, str(Declined("translate", "나이키 17")))
    assert calls <= 1 + 2 * MOST_TEXTS.bit_length()
    assert (set(again.found), set(again.declined), model.asked) == ({"나이키 90"}, {"나이키 17"}, calls + 1)


async def test_a_model_that_declines_everything_is_not_asked_about_each_text() -> None:
    many = [f"나이키 {number}" for number in range(10 * MOST_TEXTS)]

    done = await Translator(GLOSSARY, model := Squeamish("나이키")).translate(many)

    assert isinstance(done.trouble, Declined)
    assert done.found == {}
    assert len(done.declined) <= model.asked <= 3 * MOST_DECLINED


async def test_a_cost_that_nobody_knows_is_not_counted() -> None:
    done = await Translator(GLOSSARY, Scripted(saying("ナイキです"), cost=None)).translate(["나이키"])

    assert done.spent_micros == 0


@given(st.lists(st.text(min_size=1, max_size=MOST_SIGNS), max_size=60))
def test_batches_are_bounded_and_lose_nothing(texts: list[str]) -> None:
    made = list(batches(texts))

    assert [text for batch in made for text in batch] == texts
    assert all(0 < len(batch) <= MOST_TEXTS and sum(map(len, batch)) <= MOST_SIGNS for batch in made)
