"""Answering goes before reading: large pages rest while we are called, and only then."""

from __future__ import annotations

from bobusang.stages.collect.manners import LONG_SECONDS, MANY, REST, REST_APART, Manners


def called(times: int) -> Manners:
    manners = Manners()
    for _ in range(times):
        manners.called()
    return manners


def test_a_long_read_rests_while_many_call() -> None:
    assert called(MANY).rest_after(0.1) == 0.1 * REST


def test_a_page_that_another_process_reads_rests_less() -> None:
    assert called(MANY).rest_after(0.1, REST_APART) == 0.1 * REST_APART < 0.1 * REST


def test_nobody_rests_while_hardly_anybody_calls() -> None:
    assert called(MANY - 1).rest_after(0.1) == 0.0
    assert called(0).rest_after(10.0) == 0.0


def test_a_short_read_needs_no_rest() -> None:
    assert called(MANY).rest_after(LONG_SECONDS / 2) == 0.0
