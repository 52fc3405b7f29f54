"""Compressed bodies unpacked to a bound: however small the parcel, no more than the bound is ever in memory.

Not left to the client: it reads a gzip that ends half-way without a word, and half a page must not pass for a page.
"""

from __future__ import annotations

import zlib

from bobusang.kit.errors import Unavailable
from bobusang.kit.http import Oversized

OFFERED = "gzip, deflate"
MOST_MEMBERS = 64

_GZIP = frozenset({"gzip", "x-gzip"})
_NOT_OFFERED = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
_GZIP_BITS = 16 + zlib.MAX_WBITS


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """The body as it was before packing.

    Oversized when that is more than `most`; Unavailable when it ends half-way, is damaged, or is packed otherwise
    than was offered. A name that is no packing at all, such as `utf-8`, is a mistake of theirs that changes nothing.
    """
    name = encoding.strip().lower()
    if not body or name in {"", "identity"}:
        return body
    if name in _GZIP:
        return _gunzipped(body, most)
    if name == "deflate":
        return _inflated(body, most)
    if "," in name or name in _NOT_OFFERED:
        raise Unavailable(f"the answer is packed by {name[:40]}, which was not offered")
    return body


def _gunzipped(body: bytes, most: int) -> bytes:
    """All members of a gzip; zeros or anything else after the last one is padding."""
    parts: list[bytes] = []
    left = most
    for _ in range(MOST_MEMBERS):
        part, body = _member(body, _GZIP_BITS, left)
        parts.append(part)
        left -= len(part)
        if not body.startswith(b"\x1f\x8b"):
            return b"".join(parts)
    raise Oversized(f"the answer is packed in more than {MOST_MEMBERS} pieces")


def _inflated(body: bytes, most: int) -> bytes:
    # The first byte tells zlib's wrapping (as the standard has it) from bare deflate (as some servers do it).
    wrapped = body[0] & 0x0F == zlib.DEFLATED
    return _member(body, zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS, most)[0]


def _member(body: bytes, bits: int, most: int) -> tuple[bytes, bytes]:
    """One packed piece, and what comes after it."""
    packing = zlib.decompressobj(bits)
    try:
        whole = packing.decompress(body, most + 1)
    except zlib.error as error:
        raise Unavailable(f"the answer cannot be unpacked: {error}") from error
    if len(whole) > most:
        raise Oversized(f"the answer unpacks to more than {most} bytes")
    if not packing.eof:
        raise Unavailable(f"the packed answer broke off after {len(whole)} bytes")
    return whole, packing.unused_data
