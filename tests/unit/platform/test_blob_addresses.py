"""Where blobs are kept, and in what form."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Drifted, Invalid
from bobusang.platform import blobs
from bobusang.platform.blob import LARGEST, address_of, is_address
from bobusang.platform.blobs.files import FileBlobs
from bobusang.platform.blobs.packing import is_text, packed, unpacked
from bobusang.platform.blobs.place import Place, place
from bobusang.platform.blobs.s3 import S3Blobs

HOME = Path("/home/blobs")


@given(st.binary(max_size=400) | st.binary(max_size=20).map(zstandard.compress), st.integers(1, 40), st.booleans())
def test_packing_loses_nothing_and_never_grows(data: bytes, times: int, text: bool) -> None:
    plain = data * times

    stored = packed(plain, "text/html" if text else "image/png")

    assert unpacked(address_of(plain), stored) == plain
    assert len(stored) <= len(plain)
    assert text or stored == plain


@pytest.mark.parametrize(
    ("media", "text"),
    [
        ("text/html; charset=euc-kr", True),
        ("application/json", True),
        ("Application/LD+JSON", True),
        ("application/xhtml+xml", True),
        ("image/svg+xml", True),
        ("application/javascript;v=1", True),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", False),
        ("image/jpeg", False),
        ("application/octet-stream", False),
        ("", False),
    ],
)
def test_text_is_known_by_its_media_type(media: str, text: bool) -> None:
    assert is_text(media) is text


def test_a_bomb_is_not_opened() -> None:
    bomb = zstandard.ZstdCompressor().compressobj(size=LARGEST + 1).compress(b"0" * 1_000_000)

    assert zstandard.frame_content_size(bomb) == LARGEST + 1
    with pytest.raises(Drifted):
        unpacked(address_of(b"0" * (1 << 20)), bomb)


def test_an_address_is_64_digits_and_nothing_else() -> None:
    address = address_of("안녕".encode())

    assert address == "e8f817f346d1d411cc59d5bdda64fab3763890e1f0f8f4c15805cf78874d68bf"
    assert [is_address(text) for text in (address, address.upper(), f"{address}\n", f"{address}0", "..")] == [
        True,
        *[False] * 4,
    ]


def test_a_place_is_read_from_its_address() -> None:
    found = place("s3://AK%2FID:s%2Fe+c%40ret@Pages/raw/2026/?endpoint=https://x.r2.example.com/&region=auto")

    assert found == Place("Pages", "raw/2026", "https://x.r2.example.com", "auto", "AK/ID", "s/e+c@ret")
    assert place("s3://pages") == Place("pages")
    assert f"{found} {found!r}" == (
        "s3://Pages/raw/2026 at https://x.r2.example.com "
        "Place(bucket='Pages', prefix='raw/2026', endpoint='https://x.r2.example.com', region='auto')"
    )


@pytest.mark.parametrize(
    ("url", "folder"),
    [("", HOME), ("file:///data/pages", Path("/data/pages")), ("file:///a%20b", Path("/a b"))],
)
def test_files_are_the_default_and_may_be_anywhere(url: str, folder: Path) -> None:
    found = blobs.opened(url, folder=HOME)

    assert isinstance(found, FileBlobs)
    assert found.folder == folder


async def test_a_bucket_is_chosen_by_its_address() -> None:
    assert isinstance(blobs.opened("s3://key:secret@bucket?region=auto", folder=HOME), S3Blobs)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("fil:///x", "BOBUSANG_BLOB_URL: no store is called fil (did you mean file?)"),
        ("gcs://bucket", "BOBUSANG_BLOB_URL: no store is called gcs (known: file, s3)"),
        ("/data/blobs", "BOBUSANG_BLOB_URL is no address (file:///folder or s3://bucket/prefix)"),
        ("file://data", "BOBUSANG_BLOB_URL: 'file://data' names no folder (file:///folder, three slashes)"),
        ("s3:///prefix", "BOBUSANG_BLOB_URL names no bucket (s3://bucket/prefix?endpoint=https://…)"),
        (
            "s3://key@bucket",
            (
                "BOBUSANG_BLOB_URL has a key or a secret, but not both (s3://key:secret@bucket with '/' in the secret "
                "written as %2F, or neither and AWS_ACCESS_KEY_ID)"
            ),
        ),
        ("s3://k:s@b?endpont=http://x", "BOBUSANG_BLOB_URL: 'endpont' is unknown (did you mean endpoint?)"),
        (
            "s3://k:s@b?endpoint=localhost",
            "BOBUSANG_BLOB_URL: the endpoint is no address (such as https://account.example.com)",
        ),
    ],
)
def test_a_wrong_address_is_refused_by_the_name_of_the_setting(url: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        blobs.opened(url, folder=HOME)

    assert str(refused.value) == message
