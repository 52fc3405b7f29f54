"""Causes in the visitor's language: whole, nested, several at once; what is not known stays as it was written."""

from __future__ import annotations

import gettext
from datetime import UTC, datetime, timedelta

import pytest

from bobusang.engine.outcome import Retry
from bobusang.engine.rules import decide
from bobusang.entry.web import cause_words, languages
from bobusang.flows.conveyor import outdating
from bobusang.flows.conveyor.converting import COMES_AGAIN
from bobusang.stages.price.model import Decision, Reason
from bobusang.stages.price.quotes import Said

KOREAN = languages.load()["ko"]
NOW = datetime(2026, 11, 18, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timed out", "시간이 초과되었습니다"),
        ("the mall's category '여성 > 가방' is proposed", "카테고리 '여성 > 가방'을(를) 아직 검토하지 않았습니다"),
        ("no page came: HTTP 503: their fault", "페이지를 받지 못했습니다: HTTP 503: 상대 서버의 오류입니다"),
        ("it has no pictures yet; timed out", "아직 이미지가 없습니다; 시간이 초과되었습니다"),
        ("held: somebody wrote this", "보류: somebody wrote this"),
        ("its cover cannot be had: timed out", "대표 이미지를 가져올 수 없습니다: 시간이 초과되었습니다"),
        ("cancelled: nobody said why", "취소됨"),
        (
            "its price was decided 72 hours ago, and is good for 6: priced anew",
            "72시간 전에 정한 가격이라 보내지 않았습니다(유효 시간 6시간). 가격을 다시 계산했습니다",
        ),
        (
            "its price was made of ₩100,000, and the mall asks ₩130,000 now: left to the next run",
            "매입가 ₩100,000 기준의 가격인데 지금 쇼핑몰 가격은 ₩130,000입니다. 다음 실행에서 처리합니다",
        ),
        (
            "its price was 21,000, and a hold (fx_jump) was decided since: priced anew",
            "가격이 21,000이었으나 그 뒤에 a hold (fx_jump)(으)로 정해졌습니다. 가격을 다시 계산했습니다",
        ),
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
    said = Said(Decision.QUOTE, Reason.UNDERCUT, 21_000)
    told = {"price": 21_000, "held": False}
    for price, made_of, age in ((1, ("", ""), 0), (21_000, ("₩1", "₩2"), 0), (21_000, ("", ""), 9)):
        at = {"decided_at": NOW - timedelta(hours=age), "now": NOW}
        why = outdating.why(told | {"price": price}, made_of=made_of, said=said, hours=6, **at)
        written |= {why, f"{why}: priced anew"}

    assert {text for text in written if cause_words.said(text, KOREAN.gettext) == text} == set()
