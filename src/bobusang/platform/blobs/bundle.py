"""Small blobs that came together as one file, which then has a name for each of them.

To make, sync and name a file takes ten times as long as to pack a mall's page. A bundle begins with a frame that zstd
skips (so `zstd -dc` shows all its pages): which addresses it holds, and where in the file each of them lies.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 64
"""Blobs in one file."""
LARGEST = 64 << 10
"""Bytes, as they are stored, up to which one goes into a bundle: what is larger is worth a file."""

_FRAME = struct.Struct("<4sI")
_ENTRY = struct.Struct("<32sII")
_SKIPPED = b"\x5b\x2a\x4d\x18"
HEAD = _FRAME.size + MOST * _ENTRY.size
"""Bytes from a file's begin in which all its entries are."""


@dataclass(frozen=True, slots=True)
class Part:
    """Where in a bundle a blob lies."""

    begin: int
    size: int


def bundled(stored: Mapping[str, bytes]) -> bytes:
    """The file that holds these blobs, by address."""
    entries, begin = [], _FRAME.size + len(stored) * _ENTRY.size
    for address, data in stored.items():
        entries.append(_ENTRY.pack(bytes.fromhex(address), begin, len(data)))
        begin += len(data)
    return b"".join([_FRAME.pack(_SKIPPED, len(stored) * _ENTRY.size), *entries, *stored.values()])


def parts(head: bytes) -> dict[str, Part]:
    """What a file that begins like this holds, by address; nothing if it is no bundle. Hashes prove what is read."""
    if len(head) < _FRAME.size:
        return {}
    mark, size = _FRAME.unpack_from(head)
    count, rest = divmod(size, _ENTRY.size)
    if mark != _SKIPPED or rest or count > MOST or len(head) < _FRAME.size + size:
        return {}
    entries = _ENTRY.iter_unpack(head[_FRAME.size : _FRAME.size + size])
    return {digest.hex(): Part(begin, length) for digest, begin, length in entries}
