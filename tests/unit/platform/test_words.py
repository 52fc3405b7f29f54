"""How people type: one form of letters, words, jamo, initials, keyboards, and the tokens of documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.platform.search import Document
from bobusang.platform.searches.marking import distance, marked
from bobusang.platform.searches.readings import corrected, instead, known_only, split_up, turned
from bobusang.platform.searches.synonyms import known_as, standing_for, synonyms, wider
from bobusang.platform.searches.tokens import asked, codes, is_filed_alike, shared, tokens
from bobusang.platform.searches.words import (
    as_hangul,
    as_latin,
    compact,
    compounds,
    folded,
    initials,
    is_initials,
    jamo,
    words,
)

SYLLABLES = st.text(st.characters(min_codepoint=ord("가"), max_codepoint=ord("힣")), min_size=1, max_size=8)
TYPED = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("가나다힣ㄱㅏㅣＮｉabzé12-._ァぁ漢é")), max_size=20
)


@pytest.mark.parametrize(
    ("text", "one_form"),
    [
        ("NIKE 패딩", "nike 패딩"),
        ("ＮＩＫＥ１２", "nike12"),
        ("Maison Kitsuné", "maison kitsune"),
        ("ﾅｲｷ ないき", "ナイキ ナイキ"),
        ("ﾀﾞｳﾝ", "ダウン"),
        ("나이키", "나이키"),
        ("ㄴㅏ ㄴㅇㅋ", "ㄴㅏ ㄴㅇㅋ"),
        ("ﾤﾷﾻ", "ㄴㅇㅋ"),
        ("Ω ﬁt ㎏", "ω fit kg"),
    ],
)
def test_letters_have_one_form(text: str, one_form: str) -> None:
    assert folded(text) == one_form


@given(TYPED)
def test_what_is_folded_stays(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("나이키 padding", ["나이키", "padding"]),
        ("cp컴퍼니", ["cp", "컴퍼니"]),
        ("cw2288-111", ["cw2288", "111"]),
        ("a.p.c. arc'teryx d&g", ["apc", "arcteryx", "dg"]),
        ("ナイキ・エア 黒コート", ["ナイキ", "エア", "黒コート"]),
        ("ㄴㅇㅋ_ㅍㄷ", ["ㄴㅇㅋ", "ㅍㄷ"]),
        ("!! ·", []),
    ],
)
def test_words_end_where_spaces_signs_and_scripts_do(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_what_is_joined_by_signs_is_also_one_word() -> None:
    assert compounds("남성 t-shirt (cw2288-111) 9a_b/c") == ["tshirt", "cw2288111", "9abc"]
    assert compact("999999 aaaaa-9_9!") == "999999aaaaa99"


def test_syllables_are_taken_apart_as_they_are_typed() -> None:
    assert jamo("과닭 나잌a") == "ㄱㅗㅏㄷㅏㄹㄱ ㄴㅏㅇㅣㅋa"
    assert jamo("나이키").startswith(jamo("나잌"))
    assert initials("스톤 아일랜드 x") == "ㅅㅌ ㅇㅇㄹㄷ x"
    assert [is_initials(word) for word in ("ㄴㅇㅋ", "ㄴㅏ", "ㄳ", "나", "")] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("skdlzl", "나이키"),
        ("SKDLZL", "나이키"),
        ("vodel", "팽디"),
        ("Rhc", "꽃"),
        ("rkrtk", "각사"),
        ("qkfqdk", "밟아"),
        ("nike", ""),
        ("padding", ""),
        ("rk1", ""),
        ("", ""),
    ],
)
def test_a_keyboard_left_at_english(typed: str, meant: str) -> None:
    assert as_hangul(typed) == meant


def test_a_keyboard_left_at_korean() -> None:
    assert [as_latin(typed) for typed in ("ㅜㅑㅏㄷ", "ㅔㅁㅇ야ㅜㅎ", "ㅊㅈ2288")] == ["nike", "padding", "cw2288"]


@given(SYLLABLES)
def test_what_is_typed_on_the_other_keyboard_comes_back(text: str) -> None:
    keys = "".join(as_latin(letter) for letter in text)
    shifted = {"ㅃ", "ㅉ", "ㄸ", "ㄲ", "ㅆ", "ㅒ", "ㅖ"} & set(jamo(text))

    assert shifted or as_hangul(keys) == text


DOCUMENT = Document(
    7,
    "okmall",
    "A-1",
    name="남성 T-shirt (CW2288-111)",
    translated="パデッド",
    brand="NIKE",
    brand_ko="나이키",
    model="CW2288-111",
)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("나이키", ("나이", "이키")),
        ("나", ("^나",)),
        ("nike", ("nik", "ike")),
        ("cw", ("^cw",)),
        ("ㄴㅇㅋ", ("ㄴㅇㅋ",)),
        ("ナイ", ("ナイ",)),
    ],
)
def test_a_typed_word_asks_for_tokens_that_its_document_has(typed: str, wanted: tuple[str, ...]) -> None:
    assert asked(typed) == wanted
    assert set(wanted) <= tokens(DOCUMENT) | {"ナイ"}


def test_the_tokens_of_a_document() -> None:
    assert tokens(Document(7, "okmall", "", name="수제화 X-1", brand="ACME", brand_ko="나이스")) == {
        *("=수제화", "^수", "수제", "제화", "=ㅅㅈㅎ", "ㅅ", "ㅅㅈ", "ㅅㅈㅎ"),
        *("=x", "^x", "=1", "^1", "=x1", "^x1"),
        *("=acme", "@acme", "^a", "^ac", "acm", "cme"),
        *("=나이스", "@나이스", "@ㄴㅇㅅ", "^나", "나이", "이스", "=ㄴㅇㅅ", "ㄴ", "ㄴㅇ", "ㄴㅇㅅ"),
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("니트 014230654 L0056", ["014230654l0056"]),
        ("니트 (014230654 L0056)", ["014230654l0056"]),
        ("니트 (XL) [625456 UABCD 1000] 정품", ["625456uabcd1000"]),
        ("니트 (CW2288-111)", []),
        ("니트 (2 COLOR)", []),
        ("니트(95 100)", []),
        ("니트 x(014230654 L0056", ["014230654l0056"]),
    ],
)
def test_a_model_number_with_spaces_is_one_word_in_brackets_too(name: str, found: list[str]) -> None:
    assert codes(name) == found
    assert {f"={one}" for one in found} <= tokens(Document(7, "mustit", "", name=name))


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("bifold", ("반지갑",)),
        ("구스다운", ("거위털", "goosedown", "goose", "다운", "down", "ダウン")),
        ("다운", ("down", "ダウン")),
        ("여성반지갑", ("반지갑", "bifold")),
        ("티셔츠", ("티", "tshirt", "t-shirt", "tee", "tシャツ")),
        ("nike", ()),
        ("겨울", ()),
        ("경진", ()),
    ],
)
def test_words_of_the_trade_have_others(word: str, others: tuple[str, ...]) -> None:
    assert synonyms(word) == others


def test_a_word_of_the_trade_with_a_typo_is_put_right_where_no_product_has_it() -> None:
    known = {"nike": 9, "jaket": 1}

    assert corrected(("nike", "sneekers", "jaket", "페딩", "abc"), lambda one: known.get(one, 0)) == (
        *("nike", "sneakers", "jaket", "페딩", "abc"),
    )
    assert corrected(("wallets", "windbraekr", "スニーカ"), lambda _: 0) == ("wallet", "windbreaker", "スニーカー")


def test_goods_that_there_are_none_of_are_replaced_by_what_they_are_a_kind_of() -> None:
    known = {"니트": 4, "상의": 1, "톰브라운": 2}

    assert instead(("톰브라운", "가디건", "텐트"), lambda one: known.get(one, 0)) == ("톰브라운", "니트", "텐트")


def test_words_written_as_one_are_not_replaced_by_what_the_last_is_a_kind_of() -> None:
    known = {"나이키": 9, "패딩": 9, "jacket": 9}

    assert instead(("나이키패딩",), lambda one: known.get(one, 0)) == ("나이키패딩",)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (("겨울", "패딩"), ("패딩",)),
        (("나이키", "텐트"), ("나이키",)),
        (("루이비통", "가방"), ()),
        (("겨울", "텐트"), ()),
    ],
)
def test_words_that_no_product_has_are_left_out_but_for_brands(found: tuple[str, ...], kept: tuple[str, ...]) -> None:
    assert known_only(found, lambda one: {"나이키": 9}.get(one, 0)) == kept


def test_a_category_marks_what_goods_are_and_finds_nothing_by_itself() -> None:
    goods = Document(7, "okmall", "", name="bifold", category="SHOES & BAG > 지갑 > 반지갑")

    assert tokens(goods) - tokens(replace(goods, category="")) == {"%반지갑", "%bifold"}


@pytest.mark.parametrize(
    ("name", "filed"),
    [
        ("조거 팬츠(카키) 014230654 L0056", "=014230654l0056"),
        ("테크 크로스백 9C00007 40852 477", "=9c0000740852477"),
        ("테크 맨투맨 795324 JKDCW 1683", "=795324jkdcw1683"),
    ],
)
def test_a_model_number_with_spaces_in_a_name_is_also_one_word(name: str, filed: str) -> None:
    assert filed in tokens(Document(7, "mustit", "", name=name))


def test_words_and_years_are_no_model_number() -> None:
    found = tokens(Document(7, "mustit", "", name="NIKE AIR MAX 90 2024 SPRING COLLECTION 95 100"))

    assert not {one for one in found if one.startswith("=") and len(one) > len("=collection")}


def test_what_goods_are_a_kind_of_is_found_after_what_is_called_so() -> None:
    assert wider("여성반지갑") == ("지갑", "wallet", "財布")
    assert wider("wallet") == ()

    filed = tokens(Document(7, "okmall", "", name="bifold"))

    assert filed == {
        *("=bifold", "^b", "^bi", "bif", "ifo", "fol", "old"),
        *("=반지갑", "반지", "지갑", "wal", "all", "lle", "let", "財布"),
    }


def test_a_brand_is_known_by_what_people_call_it() -> None:
    assert known_as(("the north face", "노스페이스")) == ("ザ ノースフェイス", "ノースフェイス", "노페", "TNF")
    assert known_as(("수제공방", "")) == ()
    assert standing_for("ナイキ") == ("nike", "나이키")


def test_no_name_of_a_brand_is_that_of_another() -> None:
    text = files("bobusang.platform.searches").joinpath("brands.csv").read_text(encoding="utf-8")
    names = [name for line in text.splitlines() for name in {compact(folded(name)) for name in line.split(",")}]

    assert [name for name, count in Counter(names).items() if count > 1 or not name] == []


@pytest.mark.parametrize(
    ("typed", "others"),
    [
        ("skdlzl vodel", ["나이키 팽디"]),
        ("ㅜㅑㅏㄷ", ["nike"]),
        ("혗챠", ["gucci"]),
        ("나이키 skdlzl", ["나이키 나이키", "skdlzl skdlzl"]),
        ("nike 123", []),
    ],
)
def test_the_same_keys_on_the_other_keyboard(typed: str, others: list[str]) -> None:
    assert turned(typed) == others


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("나이키패딩", ("나이키", "패딩")),
        ("롱패딩", ("롱패딩",)),
        ("nikeair", ("nike", "air")),
        ("나이키롱패딩", ("나이키", "롱패딩")),
        ("나이키롱코트", ("나이키", "롱", "코트")),
        ("롱코트", ("롱코트",)),
        ("드라이핏", ("드라이", "핏")),
        ("롱롱코트", ("롱롱코트",)),
        ("모름", ("모름",)),
        ("나" * 100, ("나" * 100,)),
    ],
)
def test_a_word_is_split_into_the_fewest_that_are_known(word: str, pieces: tuple[str, ...]) -> None:
    known = {
        "나이키": 9,
        "패딩": 5,
        "나이": 99,
        "키패": 1,
        "롱패딩": 2,
        "nike": 1,
        "air": 3,
        "롱": 1,
        "코트": 1,
        "나": 1,
        "드라이": 1,
        "핏": 1,
    }

    assert split_up(word, lambda one: known.get(one, 0)) == pieces


@pytest.mark.parametrize(
    ("name", "words", "loose", "text"),
    [
        ("남성 경량 패딩", ["패딩"], False, "남성 경량 «패딩»"),
        ("패딩 롱패딩", ["패딩"], False, "«패딩» 롱«패딩»"),
        ("(CW2288-111)", ["cw2288111"], False, "(«CW2288-111»)"),
        ("ＮＩＫＥ ㎏", ["nike"], False, "«ＮＩＫＥ» ㎏"),
        ("나이키 니트", ["ㄴㅇㅋ"], False, "«나이키» 니트"),
        ("니트 나 이키", ["ㄴㅇㅋ"], False, None),
        ("padding a", ["a"], False, "padding «a»"),
        ("ab-bc abc", ["abb", "abc"], False, "«ab-b»c «abc»"),
        ("나이키 패딩", ["나이끼", "패딩"], True, "«나이키» «패딩»"),
        ("나이키 패딩", ["나이끼"], False, None),
        ("abcdef", ["abcd", "cdef"], False, "«abcd»ef"),
    ],
)
def test_marks_stand_around_what_was_found(name: str, words: list[str], loose: bool, text: str | None) -> None:
    assert marked(Document(1, "okmall", "A", name=name), words, loose=loose).get("name") == text


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distances_are_distances(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0) == (one == other)
    assert abs(len(one) - len(other)) <= distance(one, other) <= max(len(one), len(other))


@given(
    st.text(st.sampled_from("가나이키패딩ab12- ㄴㅇ"), max_size=12),
    st.text(st.sampled_from("가나이키패딩ab12- "), max_size=30),
)
def test_what_finds_a_document_shares_its_tokens_with_it(keyword: str, name: str) -> None:
    document = tokens(Document(1, "okmall", "", name=name))
    found = all(set(asked(word)) <= document for word in words(folded(keyword)))

    assert not found or set(shared(keyword)) <= document
    assert all(set(asked(word)) <= document for word in words(folded(name)))


OTHER = Document(
    id=2,
    mall="mustit",
    product_id="B77",
    name="Parka",
    translated="コート",
    brand="Acne",
    brand_ko="아크네",
    aliases=("アクネ",),
    model="FN-77",
    colours="검정",
    category="남성>신발",
    seller="shop",
    price=5,
    currency="JPY",
    in_stock=True,
    image="b.jpg",
    url="b",
    changed=9,
)


@pytest.mark.parametrize("name", [field.name for field in fields(Document)])
def test_whatever_a_document_is_found_by_tells_it_from_another(name: str) -> None:
    one = Document(1, "okmall", "A1", name="Wool coat", brand="Nike", brand_ko="나이키", model="X-1", category="코트")
    other = replace(one, **{name: getattr(OTHER, name)})

    assert is_filed_alike(one, other) == (tokens(one) == tokens(other))
