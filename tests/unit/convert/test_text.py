"""Width, cutting and cleaning: one trailing blank once made 4,217 mismatches, unseen blanks 31 refusals."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bobusang.stages.convert.text import (
    clean,
    clean_lines,
    cut,
    ending,
    graphemes,
    has_hangul,
    unseen,
    width,
    without_word,
)

FAMILY = "👨‍👩‍👧"
TEXTS = st.text() | st.text(
    alphabet="aé 　\u00a0\u200b\u3099\u0301ﾊﾟか゚\t\n\r½②㎝Ａ코ㅋ👨👩\u200d\ufe0f🇰🇯🏽ᄀ\u1161\u11a8\u1160"
)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", 0),
        ("coat 100", 8),
        ("ウールコート", 12),
        ("ｳｰﾙｺｰﾄ", 6),
        ("ﾊﾞｯｸﾞ", 5),
        ("バッグ BAG", 10),
        ("e\u0301", 2),
        ("が", 2),
        ("か\u3099", 2),
        ("カ\u309a", 2),
        ("👜", 2),
        (FAMILY, 2),
        ("👍🏽", 2),
        ("🇰🇷🇯🇵", 4),
        ("1️⃣", 2),
        ("❤️", 2),
        ("코트", 4),
        ("ゼ\u200bロ", 4),
    ],
)
def test_width_is_counted_in_half_width_units(text: str, units: int) -> None:
    assert width(text) == units


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("ウールコート", 12, "ウールコート"),
        ("ウールコート", 11, "ウールコー"),
        ("wool coat", 5, "wool"),
        ("wool coat ", 60, "wool coat"),
        (f"A{FAMILY}B", 2, "A"),
        (f"A{FAMILY}B", 3, f"A{FAMILY}"),
        ("ﾊﾞｯｸﾞ", 4, "ﾊﾞｯ"),
        ("🇰🇷🇯🇵", 3, "🇰🇷"),
        ("コート", 0, ""),
        ("コート", 1, ""),
    ],
)
def test_cutting_splits_no_sign_and_leaves_no_blank(text: str, limit: int, kept: str) -> None:
    assert cut(text, limit) == kept


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  Wool   coat \t", "Wool coat"),
        ("ウール\u00a0コート\u3000", "ウール コート"),
        ("ウ\u200bー\ufeffル\u00ad", "ウール"),
        ("ｳｰﾙ ｺｰﾄ ﾊﾟﾝﾂ", "ウール コート パンツ"),
        ("ＸＬ ／ １００％", "XL / 100%"),
        ("총장 ７０㎝", "총장 70cm"),
        ("㈜보부상", "(주)보부상"),
        ("10² 1½ ①", "10² 1½ ①"),
        ("a\r\nb\x00c\x07", "a bc"),
        ("코\u3164트", "코트"),
        ("ㅋㅋ", "ㅋㅋ"),
        ("ﾠ", ""),
        ("👨\u200d👩", "👨👩"),
        ("카\u11ab", "칸"),
    ],
)
def test_cleaning_leaves_one_line_of_visible_signs(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_lines_are_kept_where_a_text_has_lines() -> None:
    assert clean_lines("\n 素材 : 綿 \r\n\r\n\r\n\u00a0\nサイズ\u2028M ") == "素材 : 綿\n\nサイズ\nM"


@given(TEXTS)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean_lines(clean_lines(text)) == clean_lines(text)


@given(TEXTS)
def test_what_is_cleaned_holds_nothing_unseen(text: str) -> None:
    assert unseen(clean(text)) == ()
    assert clean(text) == clean(text).strip()
    assert "  " not in clean(text)


@example("\x08", 0)  # a sign that nobody sees takes no room, in a plain text too
@given(TEXTS, st.integers(min_value=0, max_value=70))
def test_a_cut_fits_and_cutting_twice_is_cutting_once(text: str, limit: int) -> None:
    kept = cut(text, limit)

    assert width(kept) <= limit
    assert cut(kept, limit) == kept
    assert kept == kept.strip()


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("レディース ジョガー パンツ", 27, "レディース ジョガー パンツ"),
        ("レディース ジョガー パンツ", 25, "ジョガー パンツ"),
        ("レディース ジョガー パンツ", 5, "パン"),
        ("  Wool   coat ", 9, "Wool coat"),
        ("", 5, ""),
    ],
)
def test_what_is_too_long_loses_its_first_words_for_the_last_says_what_it_is(text: str, limit: int, kept: str) -> None:
    assert ending(text, limit) == kept


@given(TEXTS, st.integers(1, 80))
def test_an_ending_fits_and_is_one(text: str, limit: int) -> None:
    kept = ending(text, limit)

    assert width(kept) <= limit
    assert ending(kept, limit) == kept


@given(TEXTS)
def test_graphemes_put_together_are_the_text(text: str) -> None:
    assert "".join(graphemes(text)) == text


@given(st.text(), st.text())
def test_width_knows_no_normal_form(one: str, other: str) -> None:
    text = one + other
    assert width(unicodedata.normalize("NFC", text)) == width(unicodedata.normalize("NFD", text))


@pytest.mark.parametrize("sign", ["가", "ㅋ", "ᄀ", "\u11a8", "㈜", "㉠", "ﾡ", "ꥠ", "ힰ"])
def test_hangul_is_found_in_every_form(sign: str) -> None:
    assert has_hangul(f"コート{sign}")


def test_what_nobody_sees_is_named() -> None:
    assert unseen("a\u00a0b\u200bc\nd e") == ("\u200b", "\u00a0")
    assert not has_hangul("コート coat 100")


@given(st.text("aab_- 1가é.(", max_size=12), st.text("aab_- 1가é.(", min_size=1, max_size=3))
@example("aaa aa", "aa")
def test_a_word_is_taken_out_where_it_stands_by_itself(text: str, word: str) -> None:
    assert without_word(text, word) == re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", " ", text)
