"""What makes a job the only one of its target for a caller's key."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine.making import KEY_LIMIT
from bobusang.flows.collect.starting import key_of
from bobusang.stages.collect.source import Target

WORDS = st.text('ab:나\\"', min_size=1, max_size=4) | st.text(min_size=1, max_size=200)
PARTS = st.tuples(WORDS, WORDS, WORDS, WORDS)


@given(PARTS, PARTS)
def test_two_starts_share_a_key_only_when_all_of_them_is_the_same(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    keys = [key_of(source, Target(kind, key), given) for source, kind, key, given in (one, other)]

    assert (keys[0] == keys[1]) == (one == other)
    assert all(key is not None and len(key) <= KEY_LIMIT for key in keys)


def test_without_a_key_every_start_is_a_new_one() -> None:
    assert key_of("okmall", Target("brand", "나이키"), "") is None
