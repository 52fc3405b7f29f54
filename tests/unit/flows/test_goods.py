"""A product as the stages are told it: one document is understood once, and an edit of it is nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bobusang.flows.conveyor import goods
from bobusang.kit import json

NOW = datetime(2026, 1, 27, tzinfo=UTC)
FIELDS = {"name": "울 코트", "price": 129_000, "sold_out": False, "options": [{"code": "1", "size": "M"}]}


def row(*, locked: tuple[str, ...] = (), name: str = "울 코트") -> dict[str, Any]:
    found = {"id": 1, "mall": "okmall", "product_id": "7", "version": 2, "normalized_data": json.dumps(FIELDS)}
    named = {"name": name, "brand": "THE NORTH FACE", "brand_ko": None, "category": None}
    return {**found, **named, "locked": json.dumps(locked) if locked else None, "updated_at": NOW}


def test_what_a_person_has_edited_stands_in_place_of_what_the_mall_says() -> None:
    assert goods.known(row(locked=("name",), name="Wool coat")).fields == {**FIELDS, "name": "Wool coat"}


def test_an_edit_does_not_reach_who_was_told_the_same_before_or_is_after() -> None:
    before, edited, after = goods.known(row()), goods.known(row(locked=("name",), name="Wool coat")), goods.known(row())

    assert (before.fields, edited.fields["name"], after.fields) == (FIELDS, "Wool coat", FIELDS)


def test_its_options_are_those_of_its_own_document() -> None:
    other = {**row(), "normalized_data": json.dumps({**FIELDS, "options": [{"code": "2", "size": "L"}]})}

    assert [[one.code for one in goods.known(told).options.sources] for told in (row(), other, row())] == [
        ["1"],
        ["2"],
        ["1"],
    ]
