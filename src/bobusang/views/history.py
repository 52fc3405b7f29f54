"""What was measured, minute by minute: products through each stage, for charts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement

MINUTE = 60
THROUGHPUT = "throughput"
"""The name under which upkeep stores how many products a minute came through a stage."""

SINCE = Statement("select label, at, value from engine_history where name = :name and at >= :since order by at, label")
TOTALS = Statement(
    "select label, sum(value) as value from engine_history where name = :name and at >= :since group by label"
)


@dataclass(frozen=True, slots=True)
class Series:
    """Values by minute, without a gap; `x` are seconds since 1970, as charts have them. Where nothing came, it is 0."""

    x: list[int]
    values: dict[str, list[float]]


async def series(tx: Tx, since: datetime, name: str = THROUGHPUT, *, whole: bool = False) -> Series:
    """All labels of a name since then, from the first minute that has any, or with `whole` from then on."""
    found: dict[int, dict[str, float]] = {}
    labels: set[str] = set()
    for row in await tx.fetch(SINCE, name=name, since=since):
        at = utc(row["at"])
        assert at is not None
        found.setdefault(int(at.timestamp()), {})[row["label"]] = float(row["value"])
        labels.add(row["label"])
    first = int(since.timestamp()) // MINUTE * MINUTE if whole else min(found, default=0)
    minutes = range(first, int(tx.now.timestamp()) - MINUTE + 1, MINUTE) if found else range(0)
    x = sorted({*minutes, *found})
    return Series(x, {label: [found.get(at, {}).get(label, 0.0) for at in x] for label in sorted(labels)})


async def totals(tx: Tx, since: datetime, name: str = THROUGHPUT) -> Mapping[str, int]:
    """How many in all since then, by label."""
    return {row["label"]: round(row["value"]) for row in await tx.fetch(TOTALS, name=name, since=since)}
