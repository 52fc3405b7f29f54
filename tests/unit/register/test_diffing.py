"""What goes out: the smallest call that makes a listing right, and none when it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.register.diffing import (
    Idle,
    Kind,
    Step,
    Urgency,
    Way,
    aligned,
    differing,
    frozen_differences,
    offers_more,
    only_less,
    registered_keys,
    steps,
    unraised,
)
from bobusang.stages.register.drafting import grid
from bobusang.stages.register.model import Axis, Draft, Listing, Option, Policy, State, Stock, Variant
from tests.unit.register.making import ABILITIES, COLORS, OPTIONS, SIZES, TODAY, draft, listing, stocks

POLICY = Policy()


def found(wanted: Draft, have: Listing) -> tuple[Step, ...] | Idle:
    return steps(wanted, have, ABILITIES, POLICY, TODAY)


def kinds(wanted: Draft, have: Listing) -> list[tuple[Kind, Urgency, tuple[str, ...]]]:
    answer = found(wanted, have)
    assert not isinstance(answer, Idle), answer
    return [(step.kind, step.urgency, step.changed) for step in answer]


def test_nothing_changed_is_no_call() -> None:
    assert found(draft(), listing()) == Idle("as confirmed")


def test_the_first_time_everything_is_sent() -> None:
    assert found(draft(), Listing(1, 1, 7)) == (Step(Kind.CREATE, draft(), Urgency.NEW),)


def test_what_the_market_never_had_is_neither_closed_nor_listed_sold_out() -> None:
    """A peer sent 940 deletes for products that were never listed."""
    sold_out = draft(variants=stocks(Stock.OUT), order_quantity=0)

    reason = "nothing of it is known to be in stock, and the market does not have it"
    assert found(sold_out, Listing(1, 1, 7)) == Idle(reason)
    assert found(sold_out, Listing(1, 1, 7, reference="REF1", state=State.SENT)) == Idle(reason)
    assert found(draft(variants=stocks(Stock.UNKNOWN), order_quantity=0), Listing(1, 1, 7)) == Idle(reason)


def test_a_sold_out_size_goes_by_the_stock_call_over_the_full_registered_grid() -> None:
    wanted = draft(variants=stocks(c1_s1=Stock.OUT))

    answer = found(wanted, listing())

    assert answer == (Step(Kind.STOCK, draft(variants=stocks(c1_s1=Stock.OUT)), Urgency.STOCK_OUT, ("variants",)),)


def test_stock_that_comes_back_is_not_urgent() -> None:
    have = listing(draft(variants=stocks(c1_s1=Stock.OUT)))
    assert kinds(draft(), have) == [(Kind.STOCK, Urgency.CONTENT, ("variants",))]


def test_sold_out_suspends_by_stock_and_keeps_everything_else() -> None:
    """Price and text of what is being closed are not worth a product call."""
    wanted = draft(variants=stocks(Stock.OUT), order_quantity=0, price=1, comments="new")

    closed = draft(variants=stocks(Stock.OUT), order_quantity=0)
    assert found(wanted, listing()) == (Step(Kind.CLOSE, closed, Urgency.STOCK_OUT, ("variants",)),)


@pytest.mark.parametrize("state", [State.SUSPENDED, State.SOLD_OUT, State.NOT_APPROVED, State.DRAFT])
def test_only_what_is_confirmed_live_is_closed(state: State) -> None:
    wanted = draft(variants=stocks(Stock.OUT), order_quantity=0)
    assert found(wanted, listing(state=state)) == Idle("sold out, and not for sale anyway")


@pytest.mark.parametrize("state", [State.DELETED, State.REMOVED, State.BLOCKED, State.IN_REVIEW])
def test_what_the_market_took_away_is_left_alone(state: State) -> None:
    assert isinstance(found(draft(price=30_000), listing(state=state)), Idle)


def test_a_suspended_listing_is_revived_by_an_edit_under_its_own_id() -> None:
    closed = draft(variants=stocks(Stock.OUT), order_quantity=0)

    answer = found(draft(), listing(closed, State.SUSPENDED))

    changed = ("state", "variants", "order_quantity")
    assert answer == (Step(Kind.REVIVE, draft(), Urgency.CONTENT, changed),)


def test_unknown_stock_neither_closes_nor_revives() -> None:
    """All pages answered 500: nobody knows the stock, so nothing is said about it."""
    unknown = draft(variants=stocks(Stock.UNKNOWN), order_quantity=0)
    closed = draft(variants=stocks(Stock.OUT), order_quantity=0)

    assert found(unknown, listing()) == Idle("as confirmed")
    assert found(unknown, listing(closed, State.SUSPENDED)) == Idle("sold out, and not for sale anyway")


@pytest.mark.parametrize(("price", "urgency"), [(22_000, Urgency.PRICE_DOWN), (23_000, Urgency.PRICE_UP)])
def test_a_price_goes_by_an_edit_with_all_fields(price: int, urgency: Urgency) -> None:
    assert found(draft(price=price), listing()) == (Step(Kind.EDIT, draft(price=price), urgency, ("price",)),)


def test_price_and_stock_are_one_edit_or_the_stock_alone() -> None:
    """A price that a guard holds must not keep a sold-out size for sale."""
    wanted = draft(price=22_000, variants=stocks(c1_s1=Stock.OUT))

    answer = found(wanted, listing())

    assert answer == (
        Step(Kind.EDIT, wanted, Urgency.STOCK_OUT, ("price", "variants")),
        Step(Kind.STOCK, draft(variants=stocks(c1_s1=Stock.OUT)), Urgency.STOCK_OUT, ("variants",)),
    )


def test_frozen_fields_are_sent_as_registered_and_alone_are_no_reason_to_call() -> None:
    """Brand 0 is a value ("not in the list"): it must not be mistaken for none."""
    have = listing(draft(brand_id=0, brand_name="SEOUL", name="古い名前"))
    wanted = draft()

    assert found(wanted, have) == Idle("as confirmed")
    assert frozen_differences(wanted, draft(brand_id=0, name="古い名前"), ABILITIES) == ("brand_id", "name")
    edit = found(draft(price=22_000), have)
    assert not isinstance(edit, Idle)
    assert edit[0].target == draft(price=22_000, brand_id=0, brand_name="SEOUL", name="古い名前")


def test_pictures_that_only_moved_are_no_reason_to_call_and_go_along_with_another() -> None:
    """A shop that gets another address must not send every listing again."""
    content = "0123456789abcdef" * 4
    have = listing(confirmed=draft(images=(f"http://127.0.0.1:8000/media/{content}",)))
    moved = f"https://img.example.com/{content}.jpg"

    assert found(draft(images=(moved,)), have) == Idle("as confirmed")
    assert kinds(draft(images=(moved, moved)), have) == [(Kind.EDIT, Urgency.CONTENT, ("images",))]
    dearer = found(draft(images=(moved,), price=draft().price + 100), have)
    assert not isinstance(dearer, Idle)
    assert [(step.changed, step.target.images) for step in dearer] == [(("price",), (moved,))]


def test_the_end_is_extended_before_it_comes_and_only_then() -> None:
    """Listings that nobody edits lapse after 90 days."""
    far, near = draft(available_until=TODAY + timedelta(15)), draft(available_until=TODAY + timedelta(14))

    assert found(draft(), listing(far)) == Idle("as confirmed")
    assert found(draft(), listing(near)) == (Step(Kind.EXTEND, draft(), Urgency.CONTENT, ("available_until",)),)


@pytest.mark.parametrize(
    ("wish", "ways"),
    [
        ({"price": 21_000}, [Kind.EDIT, Kind.EXTEND]),
        ({"variants": stocks(c1_s1=Stock.IN_HAND)}, [Kind.STOCK, Kind.EXTEND]),
        ({"price": 21_000, "variants": stocks(c1_s1=Stock.IN_HAND)}, [Kind.EDIT, Kind.STOCK, Kind.EXTEND]),
        ({"variants": stocks(c1_s1=Stock.OUT)}, [Kind.STOCK]),
        ({"price": 21_000, "variants": stocks(Stock.OUT)}, [Kind.CLOSE]),
    ],
)
def test_what_cannot_be_changed_is_extended_as_it_is_unless_some_of_it_is_not_to_be_sold(
    wish: dict[str, Any], ways: list[Kind]
) -> None:
    near = draft(available_until=TODAY + timedelta(14))

    answer = found(draft(**wish), listing(near))

    assert not isinstance(answer, Idle)
    assert [step.kind for step in answer] == ways
    if ways[-1] is Kind.EXTEND:
        assert (answer[-1].target, answer[-1].way) == (draft(), Way.WHOLE)


def test_another_translation_of_an_option_is_no_news() -> None:
    """5,320 listings were deleted because options were matched by their translated text."""
    reworded = tuple(msgspec.structs.replace(option, market_text=f"{option.market_text}色") for option in OPTIONS)
    assert found(draft(options=reworded), listing()) == Idle("as confirmed")


def test_an_option_that_vanished_is_out_of_stock_under_its_registered_name() -> None:
    less = COLORS[:1] + SIZES
    variants = tuple(variant for variant in stocks() if variant.color == "c1")

    answer = found(draft(options=less, variants=variants), listing())

    gone = stocks(c2_s1=Stock.OUT, c2_s2=Stock.OUT, c2_L=Stock.OUT)
    assert answer == (Step(Kind.STOCK, draft(variants=gone), Urgency.STOCK_OUT, ("variants",)),)


def test_a_new_option_needs_an_edit_with_the_whole_new_grid() -> None:
    more = (*OPTIONS, Option(Axis.SIZE, "s9", "XL", "XL", 5))
    variants = (*stocks(), Variant("c1", "s9", Stock.TO_ORDER))

    answer = found(draft(options=more, variants=variants), listing())

    assert not isinstance(answer, Idle)
    assert [(step.kind, step.changed) for step in answer] == [(Kind.EDIT, ("options", "variants"))]
    cells = {(v.color, v.size): v.stock for v in answer[0].target.variants}
    assert len(cells) == 8
    assert (cells["c1", "s9"], cells["c2", "s9"]) == (Stock.TO_ORDER, Stock.OUT)


def test_where_only_new_options_can_be_had_the_registered_ones_alone_are_a_closing() -> None:
    """A mall that spells all its colours anew: the stock over the old ones would suspend the listing, uncounted."""
    anew = tuple(Option(Axis.COLOR, f"n{option.code}", f"{option.text}!", f"{option.text}!") for option in COLORS)
    variants = tuple(Variant(color.key, size.key, Stock.TO_ORDER) for color in anew for size in SIZES)

    answer = found(draft(options=anew + SIZES, variants=variants), listing())

    assert not isinstance(answer, Idle)
    assert [(step.kind, step.target.is_sold_out) for step in answer] == [(Kind.EDIT, False), (Kind.CLOSE, True)]


def test_options_match_by_code_then_by_text_and_never_by_wording() -> None:
    registered = (
        Option(Axis.SIZE, "a", "S", "小"),
        Option(Axis.SIZE, "", "M", "中"),
        Option(Axis.SIZE, "c", "L", "大"),
    )
    wanted = (
        Option(Axis.SIZE, "a", "스몰", "大"),
        Option(Axis.SIZE, "b", "M", "中"),
        Option(Axis.SIZE, "d", "L", "大"),
    )
    assert registered_keys(wanted, registered) == {(Axis.SIZE, "a"): "a", (Axis.SIZE, "b"): "M"}


cells = st.sampled_from([Stock.IN_HAND, Stock.TO_ORDER, Stock.OUT, Stock.UNKNOWN])
grids = st.lists(cells, min_size=6, max_size=6).map(
    lambda found: tuple(
        Variant(color.key, size.key, stock)
        for (color, size), stock in zip(((c, s) for c in COLORS for s in SIZES), found, strict=True)
    )
)


@given(before=grids, after=grids, price=st.integers(1, 10**6))
def test_once_confirmed_the_same_wish_is_silent(
    before: tuple[Variant, ...], after: tuple[Variant, ...], price: int
) -> None:
    """Whatever is sent, sending it makes the listing right: there is no second call for the same wish."""
    known = tuple(v if v.stock is not Stock.UNKNOWN else Variant(v.color, v.size, Stock.OUT) for v in before)
    have = listing(draft(variants=known, order_quantity=3 if any(v.stock is not Stock.OUT for v in known) else 0))
    sellable = any(v.stock in (Stock.IN_HAND, Stock.TO_ORDER) for v in after)
    wish = draft(variants=after, order_quantity=3 if sellable else 0, price=price)

    answer = found(wish, have)

    if not isinstance(answer, Idle):
        step = answer[0]
        state = State.SUSPENDED if step.target.is_sold_out else State.LIVE
        assert isinstance(found(wish, listing(step.target, state)), Idle)


@given(after=grids)
def test_every_call_names_the_full_grid(after: tuple[Variant, ...]) -> None:
    target = aligned(draft(variants=after), draft(), ABILITIES)
    assert [(v.color, v.size) for v in target.variants] == [(v.color, v.size) for v in grid(OPTIONS, ())]
    assert all(v.stock is not Stock.UNKNOWN for v in target.variants)
    assert set(differing(target, draft())) <= {"variants", "order_quantity"}


def test_nothing_is_raised_by_a_page_that_is_older_than_the_markets_word() -> None:
    few, many = (Variant("c1", "s1", Stock.IN_HAND, count) for count in (2, 5))
    confirmed = draft(order_quantity=1, variants=(few,))
    wanted = draft(order_quantity=3, variants=(many,))

    assert unraised(wanted, confirmed) == draft(order_quantity=1, variants=(few,))
    assert unraised(confirmed, wanted) == confirmed


def test_what_the_market_sold_out_comes_back_only_by_a_page_that_was_read_since() -> None:
    sold = listing(state=State.SOLD_OUT)

    stale = steps(draft(), sold, ABILITIES, POLICY, TODAY, is_fresh=False)

    assert stale == Idle("the market sold the last one, and the mall was not looked at since")
    assert kinds(draft(), sold) == [(Kind.REVIVE, Urgency.CONTENT, ("state",))]


@given(before=grids, after=grids, counts=st.tuples(st.integers(1, 3), st.integers(1, 3)))
def test_the_less_of_a_stock_call_offers_nothing_more_and_all_that_is_gone_is_gone(
    before: tuple[Variant, ...], after: tuple[Variant, ...], counts: tuple[int, int]
) -> None:
    known = tuple(v if v.stock is not Stock.UNKNOWN else Variant(v.color, v.size, Stock.OUT) for v in before)
    confirmed = draft(variants=known, order_quantity=0 if all(v.stock is Stock.OUT for v in known) else counts[0])
    answer = found(draft(variants=after, order_quantity=counts[1]), listing(confirmed))

    for step in () if isinstance(answer, Idle) else answer:
        less = only_less(step, confirmed) if step.kind is Kind.STOCK else None
        if less is None:
            continue
        assert not offers_more(less.target, confirmed)
        assert not offers_more(less.target, step.target)
        assert (less.urgency, less.offers, step.offers) == (
            Urgency.STOCK_OUT,
            False,
            offers_more(step.target, confirmed),
        )
