"""The limiter contract: at most so many calls in any span of time, shared by all who use one limiter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from datetime import datetime

SETTING = "BOBUSANG_LIMITER_URL"
FINEST = timedelta(microseconds=1)
LARGEST = 1 << 52
"""Parts of a full bucket: Lua counts exactly up to 2^53."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `calls` in any span of length `per`, both ends counted; `burst` of them at once.

    A bucket of `burst` that fills at (calls − burst) / per: a full one that is emptied and refilled for a whole span
    gives exactly `calls`, never more. (A bucket of 80 that fills at 80 an hour would give 160 in its first hour.) With
    a burst of all `calls` it fills at one a span, for it must fill somehow; a small burst gives the steadier flow.
    """

    calls: int
    per: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.burst <= self.calls:
            raise Invalid(
                f"a limit of {self.calls} calls cannot have a burst of {self.burst}",
                hint="the burst is at least 1 and at most the calls",
                field="burst",
            )
        if self.per < FINEST:
            raise Invalid(f"a limit per {self.per} limits nothing", hint="a span above zero", field="per")
        if self.burst * self.token > LARGEST:
            raise Invalid(
                f"a burst of {self.burst} per {self.per} is too much to count exactly",
                hint="a shorter span or a smaller burst",
                field="burst",
            )

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.gain / self.per.total_seconds()

    @property
    def token(self) -> int:
        """The parts of a token: what a bucket that gains one part a microsecond gains in a span.

        One part more for a bucket that is never emptied twice in a span: its end counts as within it.
        """
        return self.per // FINEST + (self.burst == self.calls)

    @property
    def gain(self) -> int:
        """The parts that a bucket gains in a microsecond."""
        return max(self.calls - self.burst, 1)


@dataclass(frozen=True, slots=True)
class Taken:
    """How many were granted (perhaps fewer than asked), when one more may be, and how many are left."""

    count: int
    next_at: datetime
    left: float = 0.0


class Limiter(Protocol):
    """Token buckets by name, full at first. Raises Unavailable when it cannot know: nobody may go on unlimited then.

    A bucket is made by its first use, and forgotten when it is full again. Under another limit the same name keeps its
    whole tokens, as far as the new burst holds them.
    """

    async def take(self, key: str, limit: Limit, want: int = 1) -> Taken:
        """Take up to `want` tokens, all that there are if they are fewer; 0 only looks.

        What was taken by somebody who then died is not lost: the bucket fills by time alone.
        """
        ...

    async def give_back(self, key: str, limit: Limit, count: int) -> None:
        """Return tokens that were taken and not used; the bucket never holds more than its burst."""
        ...

    async def drain(self, key: str, limit: Limit) -> None:
        """Empty a bucket: the other side says that we have used it up."""
        ...

    async def close(self) -> None: ...


def counted(number: int) -> int:
    """A number of tokens that one may ask for or give back."""
    if number < 0:
        raise Invalid(f"{number} tokens cannot be taken or given back", hint="0 or more", field="count")
    return number
