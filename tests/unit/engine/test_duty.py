"""How long a duty rests between two passes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bobusang.engine.upkeep.duty import Crowd, Duty

HOUR, SECOND, HALF = timedelta(hours=1), timedelta(seconds=1), timedelta(seconds=0.5)


async def nothing() -> int:
    return 0


@pytest.mark.parametrize(
    ("duty", "rests"),
    [
        (Duty("at once", HOUR, nothing), [None, None, None]),
        (Duty("now and then", HOUR, nothing, pause=HALF), [HALF, HALF, HALF]),
        (Duty("with company", HOUR, nothing, pause=HALF, crowd=Crowd(50, SECOND)), [HALF, HALF, SECOND]),
    ],
)
def test_a_pass_over_a_crowd_is_followed_by_the_longer_rest(duty: Duty, rests: list[timedelta | None]) -> None:
    assert [duty.rest_after(done) for done in (0, 49, 50)] == rests
