"""The cache contract: answers kept for a while under readable keys, and tags that make many of them old at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTING = "BOBUSANG_CACHE_URL"
LARGEST = 4 << 20
"""Bytes of one value."""
LONGEST_KEY = 500
LONGEST = 43_200
"""Seconds that a value may be kept."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a cache holds of ours."""

    keys: int
    bytes: int


class Cache(Protocol):
    """Bytes by key, each for a time. Anything may be gone at any moment; what is there is what was set.

    A cache that cannot be reached raises Unavailable naming the setting: whoever asks goes on without it.
    A tag has a generation, a number that `bump` replaces by one that was never used before: what was made under
    another one is old. A tag that was forgotten comes back with a new one, so forgetting is safe.
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
        """A value and the generations of tags as they stand now, in one call."""
        ...

    async def bump(self, tags: Sequence[str]) -> None:
        """Give them new generations: what was made under the present ones is old from now on."""
        ...

    @property
    def has_tags(self) -> bool:
        """Whether a generation may be known to somebody; if not, there is nothing that `bump` could make old."""
        ...

    async def size(self, prefix: str = "") -> Size: ...

    async def check(self) -> None:
        """Raise Unavailable when it cannot be used."""
        ...

    async def close(self) -> None: ...


def checked(key: str, value: bytes, ttl: float) -> None:
    """Refuse what no cache keeps."""
    if not 0 < len(key) <= LONGEST_KEY:
        raise Invalid(f"a cache's key has 1 to {LONGEST_KEY} characters", field="key")
    if len(value) > LARGEST:
        raise Invalid(f"a cache's value has at most {LARGEST:,} bytes", field="value")
    if not 0 < ttl <= LONGEST:
        raise Invalid(f"a cache keeps a value for more than nothing and at most {LONGEST:,} seconds", field="ttl")
