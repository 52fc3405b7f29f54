"""How a source is, in one word: the gravest that is true."""

from __future__ import annotations

from typing import Any

import pytest

from bobusang.stages.collect.tables import AnswerWord, BreakerState
from bobusang.views.gate import GateLine
from bobusang.views.source_health import Answers, Health, health_of


def waits(cause: str, *, needs_person: bool = False) -> GateLine:
    return GateLine(
        source="mall",
        endpoint=None,
        answer=AnswerWord.WAIT,
        cause=cause,
        until=None,
        needs_person=needs_person,
        reason="",
        breaker=BreakerState.CLOSED,
        times_opened=0,
        tasks=None,
        updated_at=None,
    )


@pytest.mark.parametrize(
    ("gates", "answered", "how", "expected"),
    [
        ([], Answers(None, 10, 0), {}, Health.HEALTHY),
        ([], Answers(None, 10, 1), {}, Health.HEALTHY),
        ([], Answers(None, 8, 2), {}, Health.UNSTEADY),
        ([], Answers(None, 0, 1), {}, Health.FAILING),
        ([], Answers(), {}, Health.UNTRIED),
        ([waits("rate")], Answers(None, 10, 0), {}, Health.HEALTHY),
        ([waits("breaker")], Answers(None, 10, 0), {}, Health.WAITING),
        ([waits("breaker"), waits("halted", needs_person=True)], Answers(None, 10, 0), {}, Health.STOPPED),
        ([waits("off", needs_person=True)], Answers(None, 10, 0), {"enabled": False}, Health.OFF),
        ([], Answers(), {"broken": True, "enabled": False}, Health.BROKEN),
    ],
)
def test_the_gravest_counts(gates: list[GateLine], answered: Answers, how: dict[str, Any], expected: Health) -> None:
    assert health_of(gates, answered, **{"broken": False, "enabled": True, **how}) is expected
