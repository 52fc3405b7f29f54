from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Unavailable
from bobusang.kit.http import Oversized
from bobusang.kit.unpacking import MOST_MEMBERS, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable


def bare(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(data) + packing.flush()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
    " Deflate ": bare,
    "": bytes,
}


@given(st.binary(max_size=500), st.sampled_from(sorted(PACKINGS)))
def test_what_was_packed_comes_back_up_to_the_bound(data: bytes, encoding: str) -> None:
    packed = PACKINGS[encoding](data)

    assert unpacked(packed, encoding, len(data)) == data


@given(st.binary(min_size=1, max_size=500), st.sampled_from(["gzip", "deflate"]))
def test_one_byte_beyond_the_bound_is_too_much(data: bytes, encoding: str) -> None:
    with pytest.raises(Oversized):
        unpacked(PACKINGS[encoding](data), encoding, len(data) - 1)


@given(st.binary(max_size=500), st.sampled_from(["gzip", "deflate"]), st.integers(1, 600))
def test_a_parcel_that_is_cut_is_never_taken_for_whole(data: bytes, encoding: str, cut: int) -> None:
    packed = PACKINGS[encoding](data)
    half = packed[: max(len(packed) - cut, 1)]

    with pytest.raises(Unavailable):
        unpacked(half, encoding, 1000)


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br", "utf-8", "gzip, gzip"]))
def test_any_bytes_are_unpacked_or_refused(data: bytes, encoding: str) -> None:
    with suppress(Unavailable, Oversized):
        assert len(unpacked(data, encoding, 1000)) <= 1000


def test_a_damaged_parcel_is_refused() -> None:
    packed = bytearray(gzip.compress(b"price 129000" * 100))
    packed[-6] ^= 1  # its checksum

    with pytest.raises(Unavailable):
        unpacked(bytes(packed), "gzip", 10_000)


def test_members_follow_each_other_and_padding_is_ignored() -> None:
    assert unpacked(gzip.compress(b"a") + gzip.compress(b"b") + bytes(10), "gzip", 2) == b"ab"


def test_the_bound_holds_for_all_members_together() -> None:
    with pytest.raises(Oversized):
        unpacked(gzip.compress(b"abc") * 4, "gzip", 10)


def test_a_parcel_of_endless_members_is_refused() -> None:
    with pytest.raises(Oversized):
        unpacked(gzip.compress(b"") * (MOST_MEMBERS + 1), "gzip", 10)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br"])
def test_what_was_not_offered_is_refused(encoding: str) -> None:
    with pytest.raises(Unavailable, match="was not offered"):
        unpacked(b"x", encoding, 10)


def test_nothing_is_nothing_and_a_name_that_is_no_packing_changes_nothing() -> None:
    assert (unpacked(b"", "gzip", 10), unpacked(b"x", "utf-8", 10)) == (b"", b"x")
