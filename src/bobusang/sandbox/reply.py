"""An answer as bytes, before anything is done to it, and a bounded shelf of those that were rendered."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

HTML = "text/html; charset=utf-8"
JSON = "application/json"
KEPT_BYTES = 96 << 20
SMALL = 512
"""Bytes below which packing is not worth it."""
LEVEL = 3
"""Of packing: a page by the fourth takes two thirds longer, and is a fiftieth smaller."""


@dataclass(slots=True)
class Reply:
    """What is sent back."""

    body: bytes
    type: str = HTML
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    cookie_seconds: float | None = None
    tagged: bool = False
    """Whether it has an ETag, and is not sent again to who has it."""
    _packed: bytes | None = None
    _tag: str = ""

    @property
    def packed(self) -> bytes:
        """The body as gzip, made once."""
        if self._packed is None:
            packer = zlib.compressobj(level=LEVEL, wbits=31)
            self._packed = packer.compress(self.body) + packer.flush()
        return self._packed

    @property
    def tag(self) -> str:
        """The ETag: nobody forges a page here, so a checksum will do, at a quarter of a hash's price."""
        if not self._tag:
            self._tag = f'"{len(self.body):x}-{zlib.crc32(self.body):08x}"'
        return self._tag

    @property
    def weight(self) -> int:
        """Bytes that keeping it costs, with its packed form."""
        return len(self.body) * 5 // 4


def html(text: str, status: int = 200) -> Reply:
    """A page."""
    return Reply(text.encode(), status=status)


def data(value: object, status: int = 200) -> Reply:
    """A JSON answer."""
    return Reply(json.dumps(value).encode(), JSON, status)


class Shelf:
    """Rendered answers, the least used thrown away first, so that memory stays bounded."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._kept: OrderedDict[Hashable, Reply] = OrderedDict()
        self._most = most
        self.weight = 0

    def get(self, key: Hashable, render: Callable[[], Reply]) -> Reply:
        """The answer of this key, rendered if it is not here."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        found = render()
        self._kept[key] = found
        self.weight += found.weight
        while self.weight > self._most and len(self._kept) > 1:
            self.weight -= self._kept.popitem(last=False)[1].weight
        return found
