"""Many blobs in one file: what was put in is found, and what is no bundle holds nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.platform.blob import address_of
from bobusang.platform.blobs.bundle import HEAD, MOST, Part, bundled, parts

CONTENTS = st.lists(st.binary(max_size=300), min_size=2, max_size=MOST, unique=True)
BUNDLE = bundled({address_of(data): data for data in (b"one", b"two")})


@given(CONTENTS)
def test_each_lies_where_the_head_says(contents: list[bytes]) -> None:
    file = bundled({address_of(data): data for data in contents})

    found = parts(file[:HEAD])

    assert {address: file[part.begin : part.begin + part.size] for address, part in found.items()} == {
        address_of(data): data for data in contents
    }


def test_parts_follow_the_entries_without_gaps() -> None:
    assert list(parts(BUNDLE).values()) == [Part(88, 3), Part(91, 3)]


@given(st.binary(max_size=200))
def test_other_bytes_hold_nothing(data: bytes) -> None:
    assert parts(b"\xff\xd8" + data) == {}


@pytest.mark.parametrize(
    "head",
    [b"", BUNDLE[:7], BUNDLE[:87], BUNDLE[:4] + b"\x51\0\0\0" + BUNDLE[8:], BUNDLE[:4] + b"\xff" * 4 + BUNDLE[8:]],
    ids=["nothing", "half a frame's head", "half its entries", "entries and a bit", "more than any has"],
)
def test_a_damaged_head_holds_nothing(head: bytes) -> None:
    assert parts(head) == {}
