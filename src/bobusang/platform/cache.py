"""The cache contract: answers kept for a while under readable keys, and tags that make many of them old at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTING = "BOBUSANG_CACHE_URL"
LARGEST = 4 << 20
"""Bytes of one value."""
LONGEST_KEY = 500


@dataclass(frozen=True, slots=True)
class Size:
    """What a cache holds of ours."""

    keys: int
    bytes: int


class Cache(Protocol):
    """Bytes by key, each for a time. Anything may be gone at any moment; what is there is what was set.

    A cache that cannot be reached raises Unavailable naming the setting: whoever asks goes on without it.
    Tags carry a generation, a number that `bump` raises: an entry made under an older one is old.
    """

    async def get(self, key: str) -> bytes | None: ...

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep it for so many seconds."""
        ...

    async def delete(self, keys: Sequence[str]) -> int:
        """How many of them were there."""
        ...

    async def delete_prefix(self, prefix: str) -> int:
        """Delete every key that begins so, however many others there are; how many it were."""
        ...

    async def get_tagged(self, key: str, tags: Sequence[str]) -> tuple[bytes | None, Mapping[str, int]]:
        """A value and the generations of tags as they stand now, in one call; a tag never bumped stands at 0."""
        ...

    async def bump(self, tags: Sequence[str]) -> None:
        """Raise their generations."""
        ...

    async def size(self, prefix: str = "") -> Size: ...

    async def check(self) -> None:
        """Raise Unavailable when it cannot be used."""
        ...

    async def close(self) -> None: ...
