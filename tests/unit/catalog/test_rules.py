"""What the truth becomes when a page speaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog import rules
from bobusang.catalog.model import FieldChange, Snapshot
from bobusang.catalog.products import TAKEN, project
from bobusang.kit.errors import Invalid
from bobusang.testing.catalog import snapshot

BLACK = {"code": "B1", "color": "black", "available": True}
WHITE = {"code": "W1", "color": "white", "available": True}


def test_a_page_says_only_what_it_says() -> None:
    before = {"name": "패딩", "price": 129_000, "list_price": 159_000, "brand": "NIKE"}

    after = rules.merge(before, snapshot(price=119_000, list_price=None, name="?", unknown=["name"]))

    assert after == {"name": "패딩", "price": 119_000, "list_price": None, "brand": "NIKE"}


def test_an_option_that_vanishes_is_gone_and_one_that_comes_back_revives() -> None:
    first = rules.merge({}, snapshot(options=[BLACK, WHITE]))
    without = rules.merge(first, snapshot(options=[BLACK]))
    back = rules.merge(without, snapshot(options=[{"code": "W1"}, BLACK]))

    assert without == {"options": [BLACK, WHITE | {"available": False, "gone": True}]}
    assert back == {"options": [BLACK, WHITE | {"available": None, "gone": False}]}
    assert rules.diff(first, without, {}) == (
        FieldChange("options.W1.available", "stock", True, False),
        FieldChange("options.W1.gone", "stock", None, True),
    )


@pytest.mark.parametrize("said", [{"options": [BLACK], "complete": False}, {"options": [], "unknown": ["options"]}, {}])
def test_an_option_is_not_gone_because_a_page_does_not_show_all(said: dict[str, Any]) -> None:
    before = {"options": [BLACK, WHITE]}

    assert rules.merge(before, snapshot(**said)) == before


def test_a_page_without_any_option_says_that_all_are_gone() -> None:
    gone = {"options": [BLACK | {"available": False, "gone": True}]}

    assert rules.merge({"options": [BLACK]}, snapshot(options=None)) == gone
    assert rules.merge({"options": [BLACK]}, snapshot(options=[])) == gone


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, ""),
        ({"color": "블랙"}, "블랙"),
        ({"color": ["블랙", "화이트 "], "options": [{"code": "1", "color": "블랙"}]}, "블랙, 화이트"),
        ({"options": [{"color": "Sky Blue"}, {"color": ""}, {"color": "Navy", "gone": True}]}, "Sky Blue"),
        ({"color": "블랙", "options": [{"groups": {"컬러": "Black", "사이즈": "M"}}]}, "블랙, Black"),
        ({"color": 7, "options": [{"color": None, "groups": "?"}]}, ""),
        ({"color": "x" * 600}, "x" * 500),
    ],
)
def test_a_product_comes_in_the_colours_that_it_and_its_options_name(fields: dict[str, Any], told: str) -> None:
    assert dict(zip(TAKEN, project(fields), strict=True))["colours"] == told


def test_options_with_one_code_are_numbered_and_without_one_named_by_their_text() -> None:
    free = {"size": "FREE", "color": "red"}

    assert rules.merge({}, snapshot(options=[free, free, {"code": 7}])) == {
        "options": [free | {"code": "red/FREE"}, free | {"code": "red/FREE#2"}, {"code": "7"}]
    }


def test_ten_thousand_options_of_one_code_are_merged_quickly() -> None:
    many = [{"code": "X", "stock": n} for n in range(10_000)]

    merged = rules.merge({}, snapshot(options=many))["options"]

    assert (len(merged), merged[-1]) == (10_000, {"code": "X#10000", "stock": 9_999})


def test_what_was_proved_absent_is_listed_again_when_a_page_describes_it() -> None:
    absent = rules.merge({"price": 1}, snapshot(listed=False))

    assert absent == {"price": 1, "listed": False}
    assert rules.merge(absent, snapshot()) == absent
    assert rules.merge(absent, snapshot(price=1)) == {"price": 1, "listed": True}


def test_first_options_are_one_change_and_a_further_one_another() -> None:
    new = BLACK | {"code": "a.b"}
    first = rules.diff({"name": "x"}, {"name": "x", "options": [BLACK]}, {})
    further = rules.diff({"options": [BLACK]}, {"options": [BLACK, new]}, {})

    assert first == (FieldChange("options", "stock", None, [BLACK]),)
    assert further == (FieldChange("options.a.b", "stock", None, new),)
    assert rules.replay({"options": [BLACK]}, further) == {"options": [BLACK, new]}


@pytest.mark.parametrize(
    ("field", "groups", "group"),
    [
        ("price", {}, "price"),
        ("sold_out", {}, "stock"),
        ("images", {}, "images"),
        ("materials", {}, "content"),
        ("materials", {"materials": "care"}, "care"),
        ("options.B1.price", {}, "price"),
        ("options.B1.price", {"price": "money"}, "money"),
        ("options.B1.size", {}, "stock"),
        ("options.B1.size", {"options": "sizes"}, "sizes"),
    ],
)
def test_a_field_has_a_group(field: str, groups: dict[str, str], group: str) -> None:
    assert rules.group_of(field, groups) == group


COAT: dict[str, Any] = {"name": "롱패딩", "price": 129_000, "gender": None, "images": ["https://x/1.jpg"]}
NAMED = {"content": "aab9d3e43f43dcf31339004c94a14152"}
PICTURED = {"images": "b6b4c43fb3d0615ebdb0137df40b67c3"}
PRICED = {"price": "17d88dbe3ecfc588ea6fd293a761451e"}


@pytest.mark.parametrize(
    ("fields", "groups", "hashes"),
    [
        (COAT, {}, NAMED | PICTURED | PRICED),
        (
            COAT | {"options": [BLACK | {"price": 5}, {"available": False, "code": "W1", "color": None, "price": 6}]},
            {},
            NAMED
            | PICTURED
            | {"price": "7d15d2093d88e765412c0df27bb48df1", "stock": "4c562ca3924102bc7022f789d8daa099"},
        ),
        (COAT | {"options": []}, {}, NAMED | PICTURED | PRICED | {"stock": "2afb9b83f9314e5d029766197f539792"}),
        (
            {"options": [BLACK | {"price": 5}], "name": "롱패딩"},
            {},
            NAMED | {"price": "1bb772c62a0a9616476576d3071e7231", "stock": "769c10a67f66cb50315300e3e4321441"},
        ),
        (
            COAT | {"options": [BLACK, {"code": "W1"}]},
            {"options": "sizes", "name": "price"},
            PICTURED | {"price": "16c777dac2bcedb1c2c2c13d373da6ed", "sizes": "c0330eff61b4a6e6bd9d93801ae873a8"},
        ),
    ],
)
def test_hashes_are_those_that_were_stored_before(
    fields: dict[str, Any], groups: dict[str, str], hashes: dict[str, str]
) -> None:
    """One that comes out otherwise makes a new version of everything that was ever collected."""
    assert list(rules.hashes(fields, groups).items()) == list(hashes.items())


def test_what_a_page_said_has_the_digest_that_was_stored_before() -> None:
    said = rules.saying(snapshot("A1", unknown=("model",), **COAT))

    assert (said, rules.digest(COAT)) == ("3fee91c7703b3f5476a32a354c1f6ed8", "9cf557f0dc6406368041c72bb8ed4d2d")


def test_a_group_has_a_hash_that_only_its_own_fields_move() -> None:
    fields: dict[str, Any] = {"price": 1, "name": "x", "options": [BLACK | {"price": 5}], "images": ["a"]}
    dearer = fields | {"options": [BLACK | {"price": 6}]}
    fewer = fields | {"options": [BLACK | {"price": 5, "available": False}]}

    def moved(other: dict[str, Any]) -> set[str]:
        one, two = rules.hashes(fields, {}), rules.hashes(other, {})
        return {group for group in one | two if one.get(group) != two.get(group)}

    assert sorted(rules.hashes(fields, {})) == ["content", "images", "price", "stock"]
    assert [moved(dearer), moved(fewer), moved(fields | {"name": "y"}), moved(fields | {"gender": None})] == [
        {"price"},
        {"stock"},
        {"content"},
        set(),
    ]


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(Invalid, match="mend the reader"):
        rules.digest({"name": object()})


# --- properties ------------------------------------------------------------------------------------------------------

names = st.sampled_from(["name", "price", "list_price", "sold_out", "images", "brand"])
leaves = st.none() | st.booleans() | st.integers(-5, 5) | st.text("가a", max_size=2)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab"), inner), max_leaves=4
)
plain = st.dictionaries(names, values, max_size=4)
codes = st.sampled_from(["A", "B", "C", "A.B", "A#2"])
some_options = st.lists(
    st.fixed_dictionaries(
        {"code": codes}, optional={"available": st.none() | st.booleans(), "stock": st.integers(0, 3), "price": leaves}
    ),
    max_size=4,
)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    fields: dict[str, Any] = draw(plain)
    if draw(st.booleans()):
        fields["options"] = draw(st.none() | some_options)
    if draw(st.booleans()):
        fields["listed"] = draw(st.booleans())
    unknown = draw(st.lists(st.sampled_from([*fields, "price", "options"]), max_size=2))
    return snapshot(unknown=unknown, complete=draw(st.booleans()), **fields)


truths = st.lists(snapshots(), max_size=3)


def told(pages: list[Snapshot]) -> rules.Fields:
    """The truth after these pages have spoken."""
    fields: rules.Fields = {}
    for page in pages:
        fields = rules.merge(fields, page)
    return fields


def present(fields: rules.Fields) -> rules.Fields:
    """Without what is absent; an option without an attribute is one whose attribute is None."""
    shown = {name: value for name, value in fields.items() if value is not None}
    if "options" in shown:
        shown["options"] = [{n: v for n, v in option.items() if v is not None} for option in shown["options"]]
    return {name: value for name, value in shown.items() if value or name != "options"}


@given(truths, snapshots())
def test_hearing_a_page_twice_is_hearing_it_once(before: list[Snapshot], page: Snapshot) -> None:
    once = rules.merge(told(before), page)

    assert rules.merge(once, page) == once


@given(truths, snapshots())
def test_what_a_page_does_not_know_never_changes(before: list[Snapshot], page: Snapshot) -> None:
    truth = told(before)
    after = rules.merge(truth, page)
    silent = (set(truth) - set(page.fields) - {"listed"}) | set(page.unknown)

    assert {name: after.get(name) for name in silent} == {name: truth.get(name) for name in silent}


@given(truths, snapshots())
def test_no_option_is_ever_lost(before: list[Snapshot], page: Snapshot) -> None:
    truth = told(before)
    kept = [option["code"] for option in truth.get("options") or []]

    after = [option["code"] for option in rules.merge(truth, page).get("options") or []]

    assert (after[: len(kept)], len(set(after))) == (kept, len(after))


@given(truths, snapshots())
def test_replaying_the_changes_makes_the_version(before: list[Snapshot], page: Snapshot) -> None:
    truth = told(before)
    after = rules.merge(truth, page)
    changes = rules.diff(truth, after, {})

    assert present(rules.replay(truth, changes)) == present(after)
    assert (changes == ()) == (present(truth) == present(after))


@given(truths, truths)
def test_any_two_versions_can_be_made_of_each_other(one: list[Snapshot], other: list[Snapshot]) -> None:
    old, new = told(one), told(other)
    made = present(rules.replay(old, rules.diff(old, new, {})))

    assert made | {"options": in_order(made)} == present(new) | {"options": in_order(present(new))}


def in_order(fields: rules.Fields) -> list[Any]:
    return sorted(fields.get("options", ()), key=lambda option: str(option["code"]))


@given(truths)
def test_nothing_differs_from_itself(pages: list[Snapshot]) -> None:
    assert rules.diff(told(pages), told(pages), {}) == ()


@given(plain, st.randoms())
def test_a_digest_does_not_see_the_order_of_keys(fields: dict[str, Any], random: Any) -> None:
    shuffled = list(fields.items())
    random.shuffle(shuffled)

    assert rules.digest(dict(shuffled)) == rules.digest(fields)
