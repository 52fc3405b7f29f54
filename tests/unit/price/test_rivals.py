"""Like is compared with like: used goods, other models, mistakes and our own shops are nobody's rivals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.money import won, yen
from bobusang.stages.price.interval import DEFAULT_PACE, Place, adapted, due_at
from bobusang.stages.price.model import Offer
from bobusang.stages.price.rivals import Excluded, Own, Selection, is_model, model_key, select
from tests.unit.price.stall import NOW

OURS = Own(("Bobusang Tokyo", "bobusang osaka"), frozenset({"4711"}))
OFFER = Offer(yen(50_000), yen(0), "other", model="AB-123")


def lowest(*offers: Offer) -> Selection:
    return select(offers, "ab 123", "JPY", OURS)


def test_the_lowest_total_wins() -> None:
    cheap, delivered = replace(OFFER, price=yen(49_000), shipping=yen(2_000)), replace(OFFER, shipping=None)

    assert lowest(cheap, delivered) == Selection(delivered, yen(50_000), 2, 2, {})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seller": "ＢＯＢＵＳＡＮＧ  tokyo "}, Excluded.OWN),
        ({"id": "4711"}, Excluded.OWN),  # whatever name it is sold under
        ({"model": "AB-1234"}, Excluded.OTHER_MODEL),
        ({"model": "", "title": "coat XAB-123"}, Excluded.OTHER_MODEL),
        ({"model": "", "title": "coat"}, Excluded.OTHER_MODEL),
        ({"is_used": True}, Excluded.USED),
        ({"condition": "中古"}, Excluded.USED),
        ({"title": "【used】coat"}, Excluded.USED),
        ({"condition": "未使用に近い"}, Excluded.USED),
        ({"price": won(40_000), "shipping": None}, Excluded.CURRENCY),
        ({"shipping": won(1)}, Excluded.CURRENCY),
        ({"price": yen(0)}, Excluded.NO_PRICE),
        ({"price": yen(1)}, Excluded.OUTLIER),
    ],
)
def test_what_is_not_comparable_does_not_count(change: dict[str, object], why: Excluded) -> None:
    other = replace(OFFER, **{"price": yen(30_000), **change})  # type: ignore[arg-type]

    assert lowest(OFFER, other) == Selection(OFFER, yen(50_000), 2, 1, {why: 1})


@pytest.mark.parametrize("title", ["新品・未使用 UNUSED coat", "confused coat", "新品"])
def test_new_goods_are_new(title: str) -> None:
    offer = replace(OFFER, title=title)

    assert lowest(offer).lowest == offer


def test_only_ourselves_is_a_market_without_rivals() -> None:
    assert lowest(replace(OFFER, seller="Bobusang Osaka")) == Selection(None, None, 1, 0, {Excluded.OWN: 1})


@pytest.mark.parametrize("title", ["GUCCI coat AB-123", "【ab 123】", "ＡＢ１２３ 正規品", "coat (AB/123)"])
def test_a_model_is_found_in_a_title(title: str) -> None:
    assert is_model(replace(OFFER, model="", title=title), "AB123")


def test_nothing_is_of_a_model_without_a_number() -> None:
    assert not is_model(replace(OFFER, model="", title="-"), "")


OFFERS = st.builds(
    Offer,
    st.integers(1, 100_000).map(yen),
    st.none() | st.integers(0, 2_000).map(yen),
    st.sampled_from(["a", "b", "c"]),
    model=st.sampled_from(["AB-123", "ab123", "AB 123"]),
)


@given(
    st.lists(OFFERS, max_size=8),
    st.lists(st.tuples(st.integers(1, 100_000), st.sampled_from(OURS.sellers)), max_size=4),
)
def test_two_shops_of_ours_never_undercut_each_other(others: list[Offer], own: list[tuple[int, str]]) -> None:
    ours = [replace(OFFER, price=yen(price), seller=seller) for price, seller in own]
    without, with_us = lowest(*others), lowest(*ours, *others)

    assert (with_us.lowest, with_us.total, with_us.comparable) == (without.lowest, without.total, without.comparable)


@given(st.lists(OFFERS, min_size=1, max_size=8))
def test_where_someone_sells_there_is_a_rival(others: list[Offer]) -> None:
    assert lowest(*others).lowest in others


@given(st.text())
def test_a_model_key_is_a_fixed_point(text: str) -> None:
    assert model_key(model_key(text)) == model_key(text)


# --- how often -------------------------------------------------------------------------------------------------------

HOUR = timedelta(hours=1)


def test_a_place_that_is_kept_is_looked_at_less_often() -> None:
    assert adapted(HOUR, Place.KEPT) == 2 * HOUR
    assert adapted(HOUR, Place.LOST) == HOUR / 2
    assert adapted(HOUR, Place.UNKNOWN) == HOUR
    assert adapted(6 * HOUR, Place.KEPT) == DEFAULT_PACE.most
    assert adapted(timedelta(minutes=2), Place.LOST) == DEFAULT_PACE.least


@given(st.text(), st.integers(2, 360).map(lambda minutes: timedelta(minutes=minutes)))
def test_jitter_stays_within_its_share(key: str, interval: timedelta) -> None:
    wait = due_at(key, NOW, interval) - NOW

    assert interval * 0.85 <= wait <= interval * 1.15
    assert due_at(key, NOW, interval) - NOW == wait


def test_models_of_one_moment_drift_apart() -> None:
    assert len({due_at(str(number), NOW, HOUR) for number in range(100)}) > 20
