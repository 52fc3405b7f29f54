"""The notifier contract: a notice for a person, and whoever can carry it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Level(StrEnum):
    """How much it matters; OK is the good news that something is over."""

    OK = "OK"
    INFO = "INFO"
    WARNING = "WARNING"
    CRITICAL = "CRITICAL"


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person should know; `key` says which trouble it is about, as `rule` or `rule:subject`."""

    key: str
    level: Level
    title: str
    text: str
    link: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """What found it."""
        return self.key.partition(":")[0]


class Notifier(Protocol):
    """Carries a notice to people."""

    name: str

    async def send(self, notice: Notice) -> None:
        """Deliver, or raise an error of `kit.errors` that holds no secret."""
        ...


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut shows."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
