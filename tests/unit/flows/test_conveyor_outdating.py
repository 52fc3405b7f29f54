"""When a price that was decided is not sent any more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bobusang.flows.conveyor import outdating
from bobusang.stages.price.model import Decision, Reason
from bobusang.stages.price.quotes import Said

NOW = datetime(2026, 11, 18, 3, tzinfo=UTC)
TOLD = {"price": 21_000, "reason": "undercut", "held": False}
HELD = {"price": 20_000, "reason": "fx_jump", "held": True}
QUOTE = Said(Decision.QUOTE, Reason.UNDERCUT, 21_000)
KEEP = Said(Decision.KEEP, Reason.IN_BAND, 21_000)
HOLD = Said(Decision.HOLD, Reason.FX_JUMP, None)
DEARER = Said(Decision.QUOTE, Reason.COST_ROSE, 23_500)
SIX = timedelta(hours=6)


@pytest.mark.parametrize(
    ("told", "age", "made_of", "said", "hours", "words"),
    [
        (TOLD, timedelta(), ("₩1", "₩1"), QUOTE, 6, ""),
        (TOLD, SIX, ("₩1", "₩1"), QUOTE, 6, ""),
        (
            TOLD,
            SIX + timedelta(seconds=1),
            ("₩1", "₩1"),
            QUOTE,
            6,
            "its price was decided 6 hours ago, and is good for 6",
        ),
        (TOLD, timedelta(days=3), ("₩1", "₩1"), QUOTE, 48, "its price was decided 72 hours ago, and is good for 48"),
        (TOLD, timedelta(days=300), ("₩1", "₩1"), QUOTE, 0, ""),
        # The same price once more, or kept, is no other one; without any word of PRICE only age and cost tell.
        (TOLD, timedelta(), ("₩1", "₩1"), KEEP, 6, ""),
        (TOLD, timedelta(), ("₩1", "₩1"), None, 6, ""),
        (HELD, timedelta(), ("₩1", "₩1"), HOLD, 6, ""),
        (TOLD, timedelta(), ("₩1", "₩1"), DEARER, 0, "its price was 21,000, and 23,500 was decided since"),
        (TOLD, timedelta(), ("₩1", "₩1"), HOLD, 6, "its price was 21,000, and a hold (fx_jump) was decided since"),
        (HELD, timedelta(), ("₩1", "₩1"), DEARER, 6, "its price was 20,000, and 23,500 was decided since"),
        (HELD | {"price": None}, timedelta(), ("", ""), QUOTE, 6, "its price was none, and 21,000 was decided since"),
        (TOLD, timedelta(), ("₩1", "₩2"), QUOTE, 0, "its price was made of ₩1, and the mall asks ₩2 now"),
    ],
)
def test_why_a_price_is_not_sent_any_more(
    told: dict[str, Any], age: timedelta, made_of: tuple[str, str], said: Said | None, hours: int, words: str
) -> None:
    found = outdating.why(told, decided_at=NOW - age, made_of=made_of, said=said, hours=hours, now=NOW)

    assert found == words
