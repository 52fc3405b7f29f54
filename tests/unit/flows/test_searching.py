"""What a search page of a market comes to: nobody who stands on it is overlooked."""

from __future__ import annotations

from typing import Any

from bobusang.catalog.model import Snapshot
from bobusang.flows.market.searching import offered
from bobusang.kit.money import yen
from bobusang.stages.price.model import Offer
from bobusang.stages.price.rivals import Excluded, Own, Selection, select

OURS = {"title": "coat AB-123", "seller": "bobusang", "price": 50_000, "currency": "JPY"}
THEIRS = {"title": "coat AB-123", "seller": "other"}


def shown(*fields: dict[str, Any]) -> list[Snapshot]:
    return [Snapshot("buyma", str(number), one) for number, one in enumerate(fields, start=1)]


def test_who_sells_at_a_price_that_cannot_be_read_is_somebody_all_the_same() -> None:
    """Left out, ours was the only one on the page, and its price crept up to the target."""
    offers = offered(shown(OURS, THEIRS))

    assert offers == (
        Offer(yen(50_000), None, "bobusang", False, title="coat AB-123", id="1"),
        Offer(yen(0), None, "other", False, title="coat AB-123", id="2"),
    )
    found = select(offers, "AB-123", "JPY", Own(("bobusang",)))
    assert found == Selection(None, None, 2, 0, {Excluded.OWN: 1, Excluded.NO_PRICE: 1})


def test_a_page_of_which_no_price_can_be_read_is_not_an_empty_one() -> None:
    assert offered(shown(THEIRS, THEIRS)) is None
    assert offered([]) == ()
