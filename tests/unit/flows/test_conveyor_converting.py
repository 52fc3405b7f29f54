"""What a CONVERT task does whose product the model left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bobusang.engine.model import NewTask, ReasonClass
from bobusang.engine.outcome import Outcome, Park, Retry, Skip, Snooze
from bobusang.flows.conveyor.converting import untranslated
from bobusang.kit.errors import External, Rejected, Throttled, Unavailable

NOW = datetime(2026, 11, 18, 3, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
PRICE = (NewTask({"key": "500"}, key="500:4", step="price", raw=True),)


@pytest.mark.parametrize(
    ("trouble", "instead", "outcome"),
    [
        (Unavailable("no answer"), (), Retry("the translation failed: no answer")),
        (Unavailable("no answer"), PRICE, Retry("the translation failed: no answer")),
        (Throttled("too many", until=LATER), (), Snooze(LATER, "the translation failed: too many")),
        (Throttled("too many", until=NOW - timedelta(hours=1)), (), Snooze(NOW, "the translation failed: too many")),
        (Rejected("no money"), (), Park(ReasonClass.REJECTED, "the translation failed: no money")),
        (Rejected("no money"), PRICE, Skip("the translation failed: no money", PRICE)),
    ],
)
def test_it_waits_tries_again_or_lies_where_it_can_be_mended(
    trouble: External, instead: tuple[NewTask, ...], outcome: Outcome
) -> None:
    assert untranslated(trouble, NOW, instead=instead) == outcome
