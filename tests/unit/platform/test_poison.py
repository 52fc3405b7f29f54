from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Blocked
from bobusang.platform.bus import Delivered, Event, Pause, Retry, Untried
from bobusang.platform.poison import divided

if TYPE_CHECKING:
    from collections.abc import Sequence


async def test_only_the_poison_fails_and_only_its_key_waits() -> None:
    events = [Event("t", key, n, id=n) for n, key in enumerate("abcabcabc")]

    async def consume(batch: Sequence[Event]) -> None:
        if any(event.payload == 4 for event in batch):
            raise ValueError("poison")

    outcomes = await divided(consume, events)
    assert outcomes == [Delivered()] * 4 + [Retry("ValueError: poison")] + [Delivered()] * 2 + [Untried(), Delivered()]


async def test_nothing_more_is_tried_once_a_person_is_needed() -> None:
    async def consume(batch: Sequence[Event]) -> None:
        raise Blocked("403")

    assert await divided(consume, [Event("t", str(n), n, id=n) for n in range(3)]) == [
        Pause("Blocked: 403"),
        Untried(),
        Untried(),
    ]


@given(st.lists(st.sampled_from("abcd"), max_size=40), st.sets(st.integers(0, 39)))
async def test_each_key_is_consumed_in_order_up_to_its_first_poison(keys: list[str], poison: set[int]) -> None:
    events = [Event("t", key, n, id=n) for n, key in enumerate(keys)]
    taken: list[int] = []

    async def consume(batch: Sequence[Event]) -> None:
        if any(event.id in poison for event in batch):
            raise ValueError
        taken.extend(event.id for event in batch)

    await divided(consume, events)
    for key in set(keys):
        ids = [n for n, each in enumerate(keys) if each == key]
        good = ids[: next((at for at, n in enumerate(ids) if n in poison), len(ids))]
        assert [n for n in taken if keys[n] == key] == good
