"""Who holds the loop while webhooks come and list pages of captured size are read: the webhooks' tail, explained.

Run as a program it is `bobusang up` with a note at its end of the loop's long steps.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench import conveyor
from bench.conveyor_shop import Plan
from bench.conveyor_webhooks import PRODUCTS, SECONDS, measure
from bench.loop_time import LONG_SECONDS, LoopTime
from bench.report import Line
from bobusang.entry.cli import main as command
from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.conveyor_webhooks import Posted

Step = tuple[float, float, float, str]
SHOWN = 4


def run(size: str) -> Iterator[Line]:
    """On each database."""
    for database in conveyor.DATABASES:
        plan = Plan(database, PRODUCTS, page_size="real", meter=__name__)
        found = asyncio.run(measure(plan, SECONDS[size]))
        steps: list[Step] = [(at, used, still, name) for notes in found.notes for at, used, still, name in notes]
        yield from _told(database, found.busy, found.pages, steps)


def _told(database: str, posted: Posted, pages: int, steps: Sequence[Step]) -> Iterator[Line]:
    seconds = posted.ended - posted.begun
    within = [step for step in steps if posted.begun <= step[0] <= posted.ended]
    longest, stillest = max(within, key=_used), max(within, key=_still)
    long = [step for step in within if _used(step) > LONG_SECONDS]
    still = sum(map(_still, within))
    yield Line(f"{database}: webhooks, list pages read meanwhile", f"{len(posted.waits):,}, {pages}")
    yield Line(f"{database}: longest step of the loop, CPU", f"{_used(longest) * 1000:.1f} ms: {longest[3]}")
    yield Line(f"{database}: steps of more than {LONG_SECONDS * 1000:g} ms of CPU", f"{len(long) / seconds:.1f}/s")
    yield Line(f"{database}: longest that a step stood still", f"{_still(stillest) * 1000:.1f} ms: {stillest[3]}")
    yield Line(f"{database}: steps stood still", f"{still / seconds * 1000:.1f} ms/s")
    by_name: dict[str, list[float]] = defaultdict(list)
    for step in long:
        by_name[step[3]].append(_used(step))
    for name, times in sorted(by_name.items(), key=lambda item: -sum(item[1]))[:SHOWN]:
        yield Line(f"{database}: held by {name}", f"{len(times)} times, {max(times) * 1000:.1f} ms at most")


def _used(step: Step) -> float:
    return step[1]


def _still(step: Step) -> float:
    return step[2]


def main(arguments: list[str]) -> int:
    """The first argument is the file that is told, the others are those of the command."""
    meter = LoopTime()
    meter.install()
    try:
        return command(arguments[1:])
    finally:
        told = Path(arguments[0])
        told.parent.mkdir(exist_ok=True)
        told.write_text(json.dumps(meter.steps), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
