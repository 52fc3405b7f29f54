"""Tokens as the embedded index keeps them find exactly what all tokens would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.platform.search import Document
from bobusang.platform.searches.embedded.shorthand import brief, brief_names, called_so, standing_for
from bobusang.platform.searches.synonyms import brands, known_as, trade
from bobusang.platform.searches.tokens import names, tokens
from bobusang.platform.searches.words import compact, folded

if TYPE_CHECKING:
    from collections.abc import Set

NAMES = sorted(name for line in brands().values() for name in line)
NUMBERS = st.one_of(
    st.from_regex(r"[A-Z]{2}[0-9]{4}([-. /][0-9A-Z]{1,4}){0,3}", fullmatch=True),
    st.sampled_from(["", "1", "A1", "모델-7", "ＣＷ2288", "-", "A" * 41, "AB-" * 20, "a.b.c-1"]),
)
PIECES = st.one_of(
    st.sampled_from(trade()),
    st.sampled_from(trade()).map(lambda word: f"롱{word}"),
    st.sampled_from(NAMES),
    st.text(st.sampled_from("가나다힣ㄱㅏab12-._ァぁ漢é울"), min_size=1, max_size=6),
)
DOCUMENTS = st.builds(
    Document,
    id=st.integers(1, 9),
    mall=st.just("okmall"),
    product_id=NUMBERS,
    name=st.lists(PIECES, max_size=5).map(" ".join),
    translated=st.lists(PIECES, max_size=2).map(" ".join),
    brand=PIECES,
    brand_ko=st.one_of(st.just(""), st.sampled_from(NAMES)),
    aliases=st.lists(PIECES, max_size=2).map(tuple),
    model=NUMBERS,
    category=st.lists(PIECES, max_size=2).map(">".join),
)


def found_by(document: Document, asked: Set[str]) -> Set[str]:
    """Those of the tokens for which something stands in the document."""
    kept = set(brief(document).split())
    return {token for token in asked if kept.intersection(standing_for(token))}


@settings(deadline=None)  # the first one reads the tables
@given(DOCUMENTS, DOCUMENTS)
def test_a_document_is_found_by_its_tokens_and_by_no_other(document: Document, other: Document) -> None:
    assert found_by(document, tokens(document) | tokens(other)) == tokens(document)


def test_few_tokens_stand_for_many() -> None:
    document = Document(
        1, "okmall", "500001", "남성 니트 Gray (CW2288-111)", brand="NIKE", model="CW2288-111", category="상의>니트"
    )

    assert (
        brief(document).split()
        == (
            "#남성 +남성 #니트 +니트 #gray +그레이 $NIKE !cw2288111 ^c ^cw cw2 w22 228 288 881 811 111 "
            f"{' '.join(sorted(['&cw2288 ^c ^cw', '&111 ^1 ^11'], key=brief(document).index))} "
            "!500001 ^5 ^50 500 000 000 001 %+니트"
        ).split()
    )
    assert len(tokens(document)) > 100


@pytest.mark.parametrize("typed", ["NIKE", "나이키", "ナイキ", "STONE ISLAND", "스톤아일랜드", "Nobody", "노바디"])
def test_a_brand_is_named_by_any_of_its_names_and_by_no_other(typed: str) -> None:
    for called in [("NIKE",), ("STONE ISLAND", "스톤 아일랜드"), ("Nobody", "노바디"), ("",)]:
        document = Document(1, "okmall", "1", brand=called[0], brand_ko=called[-1])
        usual = {compact(folded(name)) for name in (*called, *known_as(called))}

        named = not set(brief_names(names(document))).isdisjoint(called_so(compact(folded(typed))))

        assert named == (compact(folded(typed)) in usual)
