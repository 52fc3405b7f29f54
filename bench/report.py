"""What a benchmark says: lines of a table, printed and kept."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement; `target` and `reached` only where the issue names one."""

    what: str
    value: str
    target: str = ""
    reached: bool | None = None

    def row(self) -> tuple[str, str, str, str]:
        return self.what, self.value, self.target, "" if self.reached is None else "yes" if self.reached else "**no**"


HEAD = ("measure", "value", "target", "reached")


def at_least(what: str, ratio: float, least: float, unit: str = "×") -> Line:
    """A ratio that must not be smaller."""
    return Line(what, f"{ratio:.2f}{unit}", f"≥ {least:g}{unit}", ratio >= least)


def at_most(what: str, value: float, most: float, unit: str) -> Line:
    """A value that must not be larger."""
    return Line(what, f"{value:.3g} {unit}", f"≤ {most:g} {unit}", value <= most)


def rate(what: str, values: Sequence[float]) -> Line:
    """A rate with its spread."""
    spread = "" if len(values) == 1 else f" ({min(values):,.0f}–{max(values):,.0f}, {len(values)} rounds)"
    return Line(what, f"{median(values):,.0f}/s{spread}")


def interleaved(rounds: int, contenders: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Measure each in turn, round after round, so that noise meets all alike."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            found[name].append(measure())
    return found


def table(title: str, lines: Iterable[Line]) -> str:
    """Markdown that also reads well on a terminal."""
    rows = [HEAD, *(line.row() for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    written = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    written.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return f"### {title}\n\n" + "\n".join(written) + "\n"


def machine() -> str:
    """Where and when."""
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores of {model}, {platform.system()} "
        f"{platform.release().split('-')[0]}, CPython {platform.python_version()}"
    )


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []


def versions(**named: Any) -> str:
    """The parts that were measured."""
    return ", ".join(f"{name} {version}" for name, version in named.items())
