"""A policy is data: what would price wrongly is refused before it does."""

from __future__ import annotations

import msgspec
import pytest

from bobusang.kit.errors import Invalid
from bobusang.stages.price.policy import CAREFUL, Policy, checked
from bobusang.stages.price.rates import Fee, FeeKind
from bobusang.stages.price.rates import checked as checked_row


def test_the_defaults_are_sound_and_survive_being_stored() -> None:
    assert checked(CAREFUL) == msgspec.json.decode(msgspec.json.encode(CAREFUL), type=Policy)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"target_margin": "NaN"}', "target_margin"),
        ('{"step_down": "1"}', "step_down"),
        ('{"cancel_rate": "-0.1"}', "cancel_rate"),
        ('{"price_step": 0}', "price_step"),
        ('{"price_step": 10}', "undercut"),
        ('{"undercut": 20}', "band_nearest"),
        ('{"vat_refund": "1/0"}', "vat_refund"),
        ('{"currency": "YEN"}', "currency"),
    ],
)
def test_a_policy_that_prices_wrongly_is_refused(text: str, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(msgspec.json.decode(text, type=Policy))

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rate": "7.7"}, "rate"),
        ({"rate": "NaN"}, "rate"),
        ({"amount": -1}, "amount"),
        ({"currency": "YEN"}, "currency"),
        ({"source": ""}, "source"),
        ({"valid_from": "2026-1-1"}, "valid_from"),
        ({"valid_from": "20260101"}, "valid_from"),
    ],
)
def test_a_row_that_prices_wrongly_is_refused(change: dict[str, object], field: str) -> None:
    """7.7 is not 7.7 %."""
    row = {"market": "buyma", "kind": FeeKind.SALE, "valid_from": "2026-01-01", "source": "x", **change}

    with pytest.raises(Invalid) as refused:
        checked_row(msgspec.convert(row, Fee))

    assert refused.value.field == field
