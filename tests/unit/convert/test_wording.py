"""What a listing is called."""

from __future__ import annotations

import pytest

from bobusang.stages.convert import wording
from bobusang.stages.convert.text import width

KNOWN = {
    "디몬트 여성 스트라이프 조거 팬츠": "ティモント レディース ストライプ ジョガー パンツ",
    "여성 스톤 아일랜드 조거 팬츠": "レディース Stone Island コンパクト ロゴ ストライプ ジョガー パンツ",
    "조거 팬츠": "ジョガー パンツ",
}


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("조거 팬츠", "STONE ISLAND ジョガー パンツ"),
        ("디몬트 여성 스트라이프 조거 팬츠", "STONE ISLAND レディース ストライプ ジョガー パンツ"),
        ("여성 스톤 아일랜드 조거 팬츠", "STONE ISLAND コンパクト ロゴ ストライプ ジョガー パンツ"),
    ],
)
def test_a_name_that_is_too_long_keeps_its_brand_and_what_it_is_in_whole_words(said: str, called: str) -> None:
    found = wording.name({"name": said}, "STONE ISLAND", KNOWN.get)

    assert found == called
    assert width(called) <= wording.NAME_WIDTH
