"""What is held: exactly beyond its limit, with the numbers; and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.model import Change, ChangeKind, FieldChange, Reading, Snapshot
from bobusang.stages.collect.guards import Guard, Held, RunFacts, believable, judge, overturns, trip, without
from bobusang.stages.collect.policy import Guards

GUARDS = Guards()
QUIET = RunFacts(known=1000)

PRICES = st.integers(min_value=1, max_value=10**9)
KINDS = st.sampled_from([ChangeKind.NEW, ChangeKind.CHANGED])


def changed(fields: dict[str, Any], *moved: FieldChange, kind: ChangeKind = ChangeKind.CHANGED) -> Change:
    before = {change.field: change.old for change in moved}
    return Change(
        kind,
        Reading(Snapshot("okmall", "1", fields), "list", "1"),
        record_id=7,
        version=3,
        before=before,
        after={**before, **fields},
        fields=tuple(moved),
    )


def priced(old: int | None, new: int | None, kind: ChangeKind = ChangeKind.CHANGED) -> Change:
    return changed({"price": new}, FieldChange("price", "price", old, new), kind=kind)


def optioned(before: int, left: int, *, sold_out: bool | None = None, shown: bool = False) -> Change:
    """A product of whose options some are left; the others have vanished, or are shown as sold out."""
    options = [{"code": str(code), "available": True} for code in range(before)]
    lost = {"available": False} if shown else {"available": False, "gone": True}
    after = [option if at < left else {**option, **lost} for at, option in enumerate(options)]
    fields: dict[str, Any] = {"options": options[:left], **({} if sold_out is None else {"sold_out": sold_out})}
    return Change(
        ChangeKind.CHANGED,
        Reading(Snapshot("okmall", "1", fields), "detail", "1"),
        7,
        3,
        {"options": options},
        {"options": after},
        tuple(FieldChange(f"options.{option['code']}.available", "stock", True, False) for option in options[left:]),
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (100_000, 140_001, "price 100,000 → 140,001 (+40%, more than 40% is held)"),
        (100_000, 59_999, "price 100,000 → 59,999 (-40%, more than 40% is held)"),
        (129_000, 12_900, "price 129,000 → 12,900 (-90%, more than 40% is held)"),
        (129_000, 0, "price 129,000 → 0"),
        (129_000, None, "price 129,000 → none"),
        (0, 129_000, "price 0 → 129,000 (more than 40% is held)"),
    ],
)
def test_a_price_that_jumps_is_held_with_its_numbers(old: int, new: int | None, reason: str) -> None:
    assert judge(GUARDS, priced(old, new), QUIET) == Held(Guard.PRICE_JUMP, reason, ("price",))


@pytest.mark.parametrize(("old", "new"), [(100_000, 140_000), (100_000, 60_000), (None, 129_000), (10, 14), (5, 3)])
def test_a_price_at_the_limit_or_newly_known_is_believed(old: int | None, new: int) -> None:
    assert judge(GUARDS, priced(old, new), QUIET) is None


def test_a_new_item_has_no_price_to_jump_from() -> None:
    assert judge(GUARDS, priced(100, 1, kind=ChangeKind.NEW), QUIET) is None


@given(old=PRICES, new=PRICES, jump=st.integers(1, 300))
def test_the_limit_of_a_jump_is_met_exactly(old: int, new: int, jump: int) -> None:
    held = judge(Guards(price_jump=jump / 100), priced(old, new), QUIET)
    assert (held is not None) == (abs(new - old) * 100 > jump * old)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (optioned(3, 1), "2 of 3 options vanish at once (more than 50% is held)"),
        (optioned(1, 0), "1 of 1 options vanish at once (more than 50% is held)"),
        (optioned(8, 3, sold_out=False), "5 of 8 options vanish at once (more than 50% is held)"),
    ],
)
def test_options_that_vanish_together_are_held(change: Change, reason: str) -> None:
    assert judge(GUARDS, change, QUIET) == Held(Guard.OPTION_FALL, reason, ("options",))


@pytest.mark.parametrize(
    "change",
    [optioned(2, 1), optioned(8, 4), optioned(3, 0, sold_out=True), optioned(3, 0, shown=True)],
    ids=["half of two", "half of eight", "the page says that all is sold out", "all shown as sold out"],
)
def test_options_with_evidence_of_their_end_are_believed(change: Change) -> None:
    assert judge(GUARDS, change, QUIET) is None


@given(before=st.integers(1, 60), left=st.integers(0, 60), fall=st.integers(1, 100))
def test_the_limit_of_a_fall_is_met_exactly(before: int, left: int, fall: int) -> None:
    left = min(before, left)
    held = judge(Guards(option_fall=fall / 100), optioned(before, left), QUIET)
    assert (held is not None) == ((before - left) * 100 > fall * before)


@pytest.mark.parametrize(
    ("run", "tripped"),
    [
        (
            RunFacts(known=100, changed=21),
            (Guard.MASS_CHANGE, "21 of 100 known items change in one run (more than 20%)"),
        ),
        (RunFacts(known=100, changed=20), None),
        (RunFacts(known=50, changed=19), None),  # fewer than mass_least
        (RunFacts(known=50, changed=20), (Guard.MASS_CHANGE, "20 of 50 known items change in one run (more than 20%)")),
        (RunFacts(known=0, changed=500), None),  # a list that is read for the first time
        (
            RunFacts(known=100, seen={"price": 80}, unknown={"price": 3}),
            (Guard.NULL_RATE, "price could not be read in 3 of 80 readings (limit 1.0%)"),
        ),
        (RunFacts(known=300, seen={"price": 80}, unknown={"price": 3}), None),
        (RunFacts(known=10, seen={"price": 10}, unknown={"price": 2}), None),  # too few to speak of a rate
        (RunFacts(known=10, seen={"name": 10}, unknown={"name": 10}), None),  # nobody asked for names
        (RunFacts(tripped="mass_change", reason="as before"), (Guard.MASS_CHANGE, "as before")),
    ],
)
def test_a_run_is_stopped_beyond_its_limits(run: RunFacts, tripped: tuple[Guard, str] | None) -> None:
    assert trip(GUARDS, run) == tripped


def test_a_stopped_run_holds_everything_that_would_change_and_nothing_that_would_not() -> None:
    mass = RunFacts(tripped=Guard.MASS_CHANGE, reason="many")
    nulls = RunFacts(tripped=Guard.NULL_RATE, reason="unreadable")
    name = FieldChange("name", "content", "A", "B")
    size = FieldChange("options.M.stock", "stock", 1, 2)
    judged = [
        judge(GUARDS, changed({"name": "B"}, name, size, kind=kind), run)
        for run in (mass, nulls)
        for kind in (ChangeKind.NEW, ChangeKind.CHANGED, ChangeKind.SAME)
    ]
    fields = ("name", "options")
    assert judged == [
        Held(Guard.MASS_CHANGE, "many", fields),
        Held(Guard.MASS_CHANGE, "many", fields),
        None,
        None,
        Held(Guard.NULL_RATE, "unreadable", fields),
        None,
    ]


@given(kind=KINDS, old=st.none() | PRICES, new=PRICES, known=st.integers(0, 500), so_far=st.integers(0, 500))
def test_what_a_record_does_itself_comes_before_what_its_run_does(
    kind: ChangeKind, old: int | None, new: int, known: int, so_far: int
) -> None:
    change, run = priced(old, new, kind), RunFacts(known=known, changed=so_far)
    held, stopped = judge(GUARDS, change, run), trip(GUARDS, run)
    if kind is ChangeKind.CHANGED and old is not None and abs(new - old) * 10 > 4 * old:
        assert held is not None
        assert held.guard is Guard.PRICE_JUMP
    else:
        assert held == (None if stopped is None else Held(*stopped, ("price",)))


def test_only_what_was_known_can_be_overturned() -> None:
    learned = FieldChange("materials", "content", None, "wool")
    moved = FieldChange("name", "content", "A", "B")
    assert [
        overturns(changed({}, learned)),
        overturns(changed({}, learned, moved)),
        overturns(changed({}, moved, kind=ChangeKind.NEW)),
    ] == [False, True, False]


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"sold_out": True, "price": None}, {"sold_out": True}),
        ({"sold_out": True, "price": 0}, {"sold_out": True}),
        ({"sold_out": True, "price": 5}, {"sold_out": True, "price": 5}),
        ({"sold_out": None, "price": 0}, {"sold_out": None, "price": 0}),
        ({"price": None}, {"price": None}),
    ],
)
def test_a_sold_out_page_without_a_price_says_nothing_of_the_price(fields: Any, kept: Any) -> None:
    assert believable(Snapshot("okmall", "1", fields)) == Snapshot("okmall", "1", kept)


def test_what_is_left_of_a_snapshot() -> None:
    snapshot = Snapshot("okmall", "1", {"price": 1, "name": "A"}, unknown=("brand",), options_complete=False)
    assert without(snapshot, ("price", "options")) == Snapshot(
        "okmall", "1", {"name": "A"}, unknown=("brand",), options_complete=False
    )
