"""The sort key of a runnable entry: urgent first, and nothing starves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine import queue
from bobusang.engine.model import PRIORITIES, Entry, QueueType, due, ready_ms

NOW = datetime(2026, 1, 27, 12, tzinfo=UTC)
LONGEST = timedelta(minutes=12)

instants = st.integers(0, 2**32).map(lambda second: datetime.fromtimestamp(second, UTC))
queues = st.sampled_from(QueueType)
priorities = st.sampled_from(PRIORITIES)
entries = st.builds(Entry, *[st.integers(0, 2**53)] * 8)


@given(instants, queues, priorities)
def test_the_sort_key_tells_when_an_entry_became_runnable(at: datetime, queue: QueueType, priority: int) -> None:
    assert ready_ms(due(at, queue, priority), queue, priority) == int(at.timestamp() * 1000)


def test_queue_counts_more_than_priority() -> None:
    pairs = [(queue, priority) for queue in QueueType for priority in reversed(PRIORITIES)]

    assert sorted(pairs, key=lambda pair: due(NOW, *pair)) == pairs


@given(instants, queues, priorities, queues, priorities)
def test_nothing_is_overtaken_by_what_comes_much_later(
    at: datetime, queue: QueueType, priority: int, other: QueueType, urgent: int
) -> None:
    assert due(at, queue, priority) < due(at + LONGEST, other, urgent)


@given(st.lists(entries, max_size=50))
def test_entries_survive_being_kept_in_a_claim(some: list[Entry]) -> None:
    assert queue.decode(queue.encode(some)) == some
