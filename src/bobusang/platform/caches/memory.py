"""A cache in this process: the least lately used goes first, by bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

from bobusang.platform.cache import Size, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.clock import Clock

MOST_BYTES = 64 << 20
MOST_TAGS = 200_000
OVERHEAD = 200
"""Bytes that an entry costs beside its key and value."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and until when it is kept."""

    value: bytes
    until: datetime
    cost: int


class MemoryCache:
    """Values of this process alone; another process neither sees them nor makes them old."""

    def __init__(self, clock: Clock, *, most_bytes: int = MOST_BYTES, most_tags: int = MOST_TAGS) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._most_tags = most_tags
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._bytes = 0
        self._tags: OrderedDict[str, int] = OrderedDict()
        self._generations = count(1)

    async def get(self, key: str) -> bytes | None:
        return self._get(key)

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        checked(key, value, ttl)
        self._drop(key)
        entry = Entry(value, self._clock.now() + timedelta(seconds=ttl), len(key.encode()) + len(value) + OVERHEAD)
        self._entries[key] = entry
        self._bytes += entry.cost
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._entries)))

    async def delete(self, keys: Sequence[str]) -> int:
        self._forget_expired()
        return sum(self._drop(key) for key in set(keys))

    async def delete_prefix(self, prefix: str) -> int:
        return await self.delete([key for key in self._entries if key.startswith(prefix)])

    async def get_tagged(self, key: str, tags: Sequence[str]) -> tuple[bytes | None, Mapping[str, int]]:
        return self._get(key), {tag: self._generation(tag) for tag in tags}

    async def bump(self, tags: Sequence[str]) -> None:
        for tag in tags:
            self._tags.pop(tag, None)  # whoever asks for it next gives it a new one

    @property
    def has_tags(self) -> bool:
        return bool(self._tags)

    async def size(self, prefix: str = "") -> Size:
        self._forget_expired()
        ours = [(key, entry) for key, entry in self._entries.items() if key.startswith(prefix)]
        return Size(len(ours), sum(len(key.encode()) + len(entry.value) for key, entry in ours))

    async def check(self) -> None:
        """It is always there."""

    async def close(self) -> None:
        self._entries.clear()
        self._tags.clear()
        self._bytes = 0

    def _get(self, key: str) -> bytes | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.until <= self._clock.now():
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry.value

    def _generation(self, tag: str) -> int:
        found = self._tags.get(tag)
        if found is None:
            found = self._tags[tag] = next(self._generations)
            if len(self._tags) > self._most_tags:
                self._tags.popitem(last=False)
        else:
            self._tags.move_to_end(tag)
        return found

    def _drop(self, key: str) -> bool:
        entry = self._entries.pop(key, None)
        if entry is None:
            return False
        self._bytes -= entry.cost
        return True

    def _forget_expired(self) -> None:
        now = self._clock.now()
        for key in [key for key, entry in self._entries.items() if entry.until <= now]:
            self._drop(key)
