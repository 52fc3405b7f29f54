"""What may not be sold is held before it costs a call, an account or a parcel (docs/incidents.md)."""

from __future__ import annotations

from datetime import date

import pytest

from bobusang.stages.convert import converting, gates
from bobusang.stages.convert.forbidden import Forbidden, List
from bobusang.stages.convert.model import Converted, Held, Reason, Why
from tests.unit.convert.test_converting import DAY, FIELDS, MAPPED, MASTERS, WORDS

SINCE = date(2026, 1, 1)
SEIZED = "'{}' may not be sold: seized at customs: leave it out, or lift the entry"
SHUT = "nothing may be bought from 'OKMALL': stopped by the office: buy it elsewhere, or lift the entry"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Forbidden(List.BRAND, "Acme", SINCE, evidence="seized at customs"), (Why.BRAND_BLOCKED, "Acme", "brand")),
        (Forbidden(List.BRAND, "아크메", SINCE, evidence="seized at customs"), (Why.BRAND_BLOCKED, "아크메", "brand")),
        (Forbidden(List.SOURCE, "OKMALL", SINCE, evidence="stopped by the office"), (Why.SOURCE_BLOCKED, "", "source")),
    ],
)
def test_a_brand_or_a_source_on_the_lists_is_held_whatever_a_mapping_says(
    entry: Forbidden, reason: tuple[Why, str, str]
) -> None:
    """A trade was stopped for an unapproved shop, and goods with copied logos were seized."""
    why, name, field = reason

    found = converting.convert(converting.read(FIELDS), MAPPED, MASTERS, WORDS.get, gate=gates.buyma([entry]), on=DAY)

    assert found == Held((Reason(why, SEIZED.format(name) if name else SHUT, field),))


def test_a_line_of_a_brand_on_the_list_is_another_brand() -> None:
    entry = Forbidden(List.BRAND, "ACME KIDS", SINCE)

    found = converting.convert(converting.read(FIELDS), MAPPED, MASTERS, WORDS.get, gate=gates.buyma([entry]), on=DAY)

    assert not isinstance(found, Held)


def words(*pairs: tuple[str, str | None]) -> gates.Gate:
    return gates.buyma([Forbidden(List.WORD, word, SINCE, replacement=instead) for word, instead in pairs])


def convert(gate: gates.Gate, **changed: object) -> Converted | Held:
    return converting.convert(converting.read(FIELDS | changed), MAPPED, MASTERS, WORDS.get, gate=gate, on=DAY)


def test_a_word_with_a_replacement_is_replaced_in_all_that_is_told() -> None:
    """Products were held for ever with the advice to write what the list itself says."""
    found = convert(words(("コート", "アウター"), ("ブラック", "黒"), ("アメリカ", "USA")))

    assert isinstance(found, Converted)
    assert found.name == "ACME メンズ ウールコート"  # one word of its own: nothing of it is forbidden
    assert found.comments.endswith("■原産国：USA")
    assert [one.market_text for one in found.goods.options] == ["黒", "S", "M"]

    found = convert(words(("ウールコート", "アウター"), ("メンズ", "")))

    assert isinstance(found, Converted)
    assert (found.name, found.comments.split("\n")[0]) == ("ACME アウター", "ACME アウター")


def test_options_that_become_the_same_by_a_replacement_are_told_apart() -> None:
    rows = [
        {"code": code, "color": color, "size": "S", "available": True}
        for code, color in (("7001", "블랙"), ("7002", "BLACK"))
    ]
    found = convert(words(("BLACK", "ブラック")), options=rows)

    assert isinstance(found, Converted)
    assert [one.market_text for one in found.goods.options] == ["ブラック", "ブラック 2", "S"]


def test_a_name_that_grows_by_a_replacement_keeps_its_end() -> None:
    found = convert(words(("メンズ", "メンズ・ユニセックス・オールシーズン着用可能")))

    assert isinstance(found, Converted)
    assert found.name == "ACME ウールコート"


def test_a_word_without_a_replacement_waits_for_a_person() -> None:
    found = convert(words(("ウールコート", None)))

    assert isinstance(found, Held)
    assert {(one.why, one.field) for one in found.reasons} == {
        (Why.TEXT_REFUSED, "name"),
        (Why.TEXT_REFUSED, "comments"),
    }
