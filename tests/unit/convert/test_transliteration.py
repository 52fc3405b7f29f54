"""Hangul by its sound: 55 listings were once refused for Korean signs left in a Japanese text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.convert.text import has_hangul
from bobusang.stages.convert.transliteration import transliterate

HANGUL = st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), max_size=12)
ANY = st.text(alphabet="가값닭없앉옷ㅋㅏㄳᄀ\u1161\u11a8ᅟꥠힰﾡ㈜㉠가A1 コ-") | st.text()


@pytest.mark.parametrize(
    ("korean", "kana"),
    [
        ("가나다", "カナダ"),
        ("서울", "ソウル"),
        ("부산", "プサン"),
        ("스트라이프", "ストライプ"),
        ("크롭", "クロプ"),
        ("로켓", "ロケット"),
        ("핏", "ピット"),
        ("셔츠", "ショツ"),
        ("팬츠", "ペンツ"),
        ("즈", "ツ"),
        ("레이즈", "レイズ"),
        ("한글", "ハングル"),
        ("음악", "ウマク"),
        ("옷이", "オシ"),
        ("값이", "カプシ"),
        ("닭이", "タルギ"),
        ("닭", "タク"),
        ("삶", "サム"),
        ("좋아", "チョア"),
        ("않은", "アヌン"),
        ("좋다", "チョタ"),
        ("입학", "イパク"),
        ("국물", "クンムル"),
        ("십만", "シムマン"),
        ("신라", "シルラ"),
        ("셀린느", "セリンヌ"),
        ("종로", "チョンノ"),
        ("학교", "ハクキョ"),
        ("꽃", "コット"),
        ("강아지", "カンアジ"),
        ("왕", "ワン"),
        ("의류", "ウィリュ"),
    ],
)
def test_a_word_is_written_as_it_sounds(korean: str, kana: str) -> None:
    assert transliterate(korean) == kana


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("나이키 DV-3456A (블랙) 100%", "ナイキ DV-3456A (プレク) 100%"),
        ("ㅋㅋ ㅏ ㄳ", "クク ア ク"),
        ("㈜보부상", "(チュ)ポブサン"),
        ("나", "ナ"),
        ("コート", "コート"),
        ("", ""),
    ],
)
def test_what_is_not_korean_stays_as_it_is(text: str, written: str) -> None:
    assert transliterate(text) == written


@given(ANY | HANGUL)
def test_nothing_korean_is_left(text: str) -> None:
    assert not has_hangul(transliterate(text))


@given(HANGUL.filter(bool))
def test_every_word_has_a_sound(word: str) -> None:
    written = transliterate(word)

    assert written
    assert all("ァ" <= sign <= "ヺ" for sign in written)


@given(ANY)
def test_writing_it_twice_is_writing_it_once(text: str) -> None:
    assert transliterate(transliterate(text)) == transliterate(text)
