"""Causes in the visitor's language: whole, nested, several at once; what is not known stays as it was written."""

from __future__ import annotations

import gettext
from datetime import UTC, datetime

import pytest

from bobusang.engine.outcome import Retry
from bobusang.engine.rules import decide
from bobusang.entry.web import cause_words, languages
from bobusang.flows.conveyor.converting import COMES_AGAIN

KOREAN = languages.load()["ko"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timed out", "시간이 초과되었습니다"),
        ("the mall's category '여성 > 가방' is proposed", "카테고리 '여성 > 가방'을(를) 아직 검토하지 않았습니다"),
        ("no page came: HTTP 503: their fault", "페이지를 받지 못했습니다: HTTP 503: 상대 서버의 오류입니다"),
        ("it has no pictures yet; timed out", "아직 이미지가 없습니다; 시간이 초과되었습니다"),
        ("held: somebody wrote this", "보류: somebody wrote this"),
        ("cancelled: nobody said why", "취소됨"),
        ("100% of it was <b>strange</b> %(name)s", "100% of it was <b>strange</b> %(name)s"),
    ],
)
def test_a_cause_in_korean(text: str, expected: str) -> None:
    assert cause_words.said(text, KOREAN.gettext) == expected


def test_english_is_what_was_written() -> None:
    text = "no page came: HTTP 503: their fault; timed out"

    assert cause_words.said(text, gettext.NullTranslations().gettext) == text


def test_what_stages_write_is_known_word_by_word() -> None:
    """A text that is worded anew must be worded anew here too."""
    late = decide(TimeoutError(), datetime.now(UTC))
    assert isinstance(late, Retry)
    written = {*COMES_AGAIN, late.error}

    assert {text for text in written if cause_words.said(text, KOREAN.gettext) == text} == set()
