"""Chance that is the same in every process: numbers drawn from names, never from `hash` or the time."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
SALT = 0xD1342543DE82EF95


def mixed(value: int) -> int:
    """A number of 64 bits in which every bit of the value counts (the finaliser of splitmix64)."""
    value &= MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def drawn(seed: int, salt: int, turn: int = 0) -> int:
    """One number of a seed, for one purpose and one turn."""
    return mixed(seed + STEP * (salt + 1) + SALT * (turn + 1))


def seeded(*names: str | int) -> int:
    """A seed out of names."""
    text = "\x1f".join(str(name) for name in names)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


class Chance:
    """A row of numbers from one seed."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def number(self) -> int:
        """The next 64 bits."""
        self._state = (self._state + STEP) & MASK
        return mixed(self._state)

    def below(self, limit: int) -> int:
        """A number from 0 up to, without, the limit."""
        return self.number() % limit

    def between(self, least: int, most: int) -> int:
        """A number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def hit(self, share: float) -> bool:
        """True in this share of all draws."""
        return self.number() < share * MASK

    def pick(self, things: Sequence[T]) -> T:
        """One of them, each as likely as the others."""
        return things[self.below(len(things))]
