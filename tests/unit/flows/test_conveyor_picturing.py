"""What an IMAGE task does after the pictures of its product were fetched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bobusang.catalog.images import ProductImage
from bobusang.catalog.tables.images import ImageState
from bobusang.engine.model import Entry, JobType, NewTask, Plan, QueueType, Run, Step, StepType, Task
from bobusang.engine.outcome import Done, Fail, Outcome, Retry, Skip, Snooze
from bobusang.flows.collect.asks import pools_of
from bobusang.flows.collect.waiting import SOON
from bobusang.flows.conveyor.goods import Known, Told
from bobusang.flows.conveyor.picturing import became
from bobusang.kit.errors import BobusangError, Missing, Throttled, Unavailable
from bobusang.stages.image.model import Pictured

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 11, 18, 3, tzinfo=UTC)
KNOWN = Known(7, "okmall", "500", 4, Told({}), NOW)
PRICE = (NewTask({"key": "500", "version": 4}, key="500:4", step="price", raw=True),)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
POOLS = pools_of("okmall", "pictures")
AWAY, LAST = Unavailable("503"), 2


def picture(name: str, state: ImageState, reason: str | None = None) -> ProductImage:
    return ProductImage(f"https://x/{name}", name, state, name, reason)


READY = picture("b", ImageState.READY)
LATE = picture("a", ImageState.PENDING, "503")
BANNER = picture("c", ImageState.REFUSED, "a banner")


def task(attempt: int) -> Task:
    step = Step(1, 1, "image", StepType.FETCH, "conveyor.image", max_retries=LAST)
    run = Run(1, Plan(1, "conveyor", 1, (step,)), JobType.FULL, 5, QueueType.NORMAL, {}, {})
    return Task(Entry(1, 1, 0, 0, 1, 5, attempt, 0), run, step, "k", None, None)


@pytest.mark.parametrize(
    ("images", "trouble", "cover", "attempt", "outcome"),
    [
        ((READY,), None, "", 0, Done(output={"pictures": 1}, spawn=PRICE)),
        ((READY, LATE), Throttled("too many", until=NOW), "503", LAST, Snooze(NOW, "too many", POOLS)),
        ((READY, LATE), Throttled("a halt", until=NEVER), "", 0, Snooze(NOW + SOON, "a halt", POOLS)),
        ((READY, LATE), AWAY, "503", 0, Retry("503")),
        ((READY, LATE), AWAY, "503", LAST, Fail("its cover cannot be had: 503")),
        ((READY, LATE), AWAY, "", LAST, Done(output={"pictures": 1}, spawn=PRICE)),
        ((LATE,), AWAY, "503", LAST, Fail("its pictures cannot be had: 503")),
        ((BANNER,), Missing("404"), "", LAST, Skip("it has no picture that may be shown: a banner")),
        ((), None, "", 0, Skip("it has no picture that may be shown: the mall shows none")),
    ],
)
def test_it_goes_on_waits_or_fails(
    images: Sequence[ProductImage], trouble: BobusangError | None, cover: str, attempt: int, outcome: Outcome
) -> None:
    found = {7: Pictured(7, tuple(images), changed=True, trouble=trouble, lacks_cover=cover)}

    assert became(task(attempt), KNOWN, found, NOW) == outcome
    assert became(task(attempt), None, found, NOW) == Skip("the product is not known any more")


def test_what_a_market_shows_and_has_no_picture_left_keeps_its_stock_true() -> None:
    found = {7: Pictured(7, (BANNER,), changed=True, published=True)}

    assert became(task(0), KNOWN, found, NOW) == Skip("it has no picture that may be shown: a banner", PRICE)
