"""What may not be sold is held before it costs a call, an account or a parcel (docs/incidents.md)."""

from __future__ import annotations

from datetime import date

import pytest

from bobusang.stages.convert import converting, gates
from bobusang.stages.convert.forbidden import Forbidden, List
from bobusang.stages.convert.model import Held, Reason, Why
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
