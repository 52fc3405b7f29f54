from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.platform.buses.signature import Forged, sign, verify

NOW = datetime(2026, 1, 27, 9, 0, tzinfo=UTC)
SECRET = "whsec_정말-비밀"


def test_the_signature_is_the_documented_one() -> None:
    # echo -n '1769504400.{"a":1}' | openssl dgst -sha256 -hmac key
    assert sign("key", b'{"a":1}', NOW) == (
        "t=1769504400,v1=151e5a36aa3d8fef81ab2ed5bbc5e874e3a11c0263c1b0d43958911c12b88a0f"
    )


@given(st.binary(max_size=2000), st.text(min_size=1), st.integers(-300, 300))
def test_what_was_signed_is_accepted_within_the_window(body: bytes, secret: str, late: int) -> None:
    verify(
        secret.encode(errors="replace").decode(),
        sign(secret.encode(errors="replace").decode(), body, NOW),
        body,
        NOW + timedelta(seconds=late),
    )


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_another_body_is_forged(body: bytes, other: bytes) -> None:
    if body != other:
        with pytest.raises(Forged):
            verify(SECRET, sign(SECRET, body, NOW), other, NOW)


@pytest.mark.parametrize("late", [-301, 301, 86_400])
def test_an_old_request_sent_again_is_refused(late: int) -> None:
    with pytest.raises(Forged, match="too old"):
        verify(SECRET, sign(SECRET, b"{}", NOW), b"{}", NOW + timedelta(seconds=late))


def test_the_time_is_part_of_what_is_signed() -> None:
    header = sign(SECRET, b"{}", NOW)
    later = NOW + timedelta(hours=1)
    moved = header.replace(str(int(NOW.timestamp())), str(int(later.timestamp())))
    with pytest.raises(Forged, match="does not match"):
        verify(SECRET, moved, b"{}", later)


def test_while_a_secret_is_changed_both_are_good() -> None:
    verify(["new", "old"], sign("old", b"{}", NOW), b"{}", NOW)
    verify("old", sign("new", b"{}", NOW) + "," + sign("old", b"{}", NOW).split(",")[1], b"{}", NOW)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "v1=abc",
        "t=1769504400",
        "t=x,v1=abc",
        "t=²,v1=abc",
        "t=1769504400,v1=서명",
        "t=" + "9" * 400 + ",v1=a",
        "," * 50,
    ],
)
def test_an_unreadable_header_is_refused(header: str) -> None:
    with pytest.raises(Forged):
        verify(SECRET, header, b"{}", NOW)


def test_an_empty_secret_verifies_nothing() -> None:
    with pytest.raises(Forged):
        verify("", sign("", b"{}", NOW), b"{}", NOW)
