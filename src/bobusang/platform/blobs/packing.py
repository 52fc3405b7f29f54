"""How bytes lie in a store: text as one zstd frame, all else as it is; the hash decides which of both was read."""

from __future__ import annotations

import threading

import zstandard

from bobusang.kit.errors import Drifted, Invalid
from bobusang.platform.blob import LARGEST, address_of

LEVEL = 1
"""A mall's page in two thirds of the time that level 3 takes, and 8 % larger."""
LEAST = 128
"""Bytes below which a frame saves nothing."""

_OF_THREAD = threading.local()
_MAGIC = zstandard.FRAME_HEADER
_TEXT = ("json", "xml", "javascript", "html", "csv", "yaml")


def is_text(media: str) -> bool:
    """Do bytes of this media type grow smaller when compressed?"""
    kind = media.partition(";")[0].strip().lower()
    return kind.startswith("text/") or any(kind.endswith(word) for word in _TEXT)


def packed(data: bytes, media: str) -> bytes:
    """What is stored for these bytes: a frame that says its size, or the bytes themselves."""
    if len(data) > LARGEST:
        raise Invalid(f"{len(data)} bytes are more than a blob may have ({LARGEST})", field="data")
    if len(data) < LEAST or not is_text(media):
        return data
    frame = _compressor().compress(data)
    return frame if len(frame) < len(data) else data


def _compressor() -> zstandard.ZstdCompressor:
    """This thread's own: making one takes as long as packing a page, and no two threads may use one at once."""
    found: zstandard.ZstdCompressor | None = getattr(_OF_THREAD, "compressor", None)
    if found is None:
        found = _OF_THREAD.compressor = zstandard.ZstdCompressor(level=LEVEL)
    return found


def unpacked(address: str, stored: bytes) -> bytes:
    """The bytes of this address, proved by their hash, or Drifted."""
    if stored.startswith(_MAGIC):
        plain = _opened(stored)
        if plain is not None and address_of(plain) == address:
            return plain
    if address_of(stored) != address:
        raise Drifted(
            f"blob {address} was changed where it is stored",
            hint="delete it and fetch the page again; check the disk or bucket",
        )
    return stored


def _opened(frame: bytes) -> bytes | None:
    """The content of a frame; None for one that is broken, or says no size, or too large a one (a bomb)."""
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= LARGEST:
            return None
        return zstandard.ZstdDecompressor().decompress(frame, max_output_size=LARGEST)
    except zstandard.ZstdError:
        return None
