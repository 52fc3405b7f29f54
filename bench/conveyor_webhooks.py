"""Webhooks while list pages of captured size are parsed by the same process: how soon the market is answered."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import dataclass
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from bench import conveyor
from bench.conveyor_partial import calls_of, many
from bench.conveyor_shop import MALL, POLL_SECONDS, Plan, open_for_sale
from bench.report import Line, at_most
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.kit import json
from bobusang.kit.sql import Statement
from bobusang.wiring.conveying import SANDBOX_SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.conveyor_shop import Stand

RATE = 200
SECONDS = {"quick": 10, "full": 20}
PRODUCTS = 40_000
"""So many that their lists are not read before the last webhook was sent."""
LISTED = 100
"""Products that are on the market, and that the webhooks are about."""
Letter = tuple[str, dict[str, Any]]
"""An event and its body."""
WAITING = Statement("select count(*) as value from webhook_inbox where state = 'RECEIVED'")
KEPT = Statement("select count(*) as value from webhook_inbox where genuine = true")


def run(size: str) -> Iterator[Line]:
    """On each database, first while nothing else is done, then while pages are read."""
    for database in conveyor.DATABASES:
        found = asyncio.run(measure(Plan(database, PRODUCTS, page_size="real"), SECONDS[size]))
        idle, busy = found.idle, found.busy
        yield Line(f"{database}: webhooks at {RATE}/s", f"{len(busy.waits):,}, {found.pages} list pages read meanwhile")
        yield Line(f"{database}: CPU a webhook, its effect included", f"{idle.cpu * 1000 / len(idle.waits):.2f} ms")
        alone = f"{idle.cut(50):.1f} ms, {idle.cut(99):.1f} ms"
        yield Line(f"{database}: answered with nothing else to do, p50, p99", alone)
        yield Line(f"{database}: answered while pages are read, p50", f"{busy.cut(50):.1f} ms")
        yield at_most(f"{database}: answered while pages are read, p99", busy.cut(99), 50, "ms")
        late = f"{busy.cut(99, busy.late):.1f} ms"
        yield Line(f"{database}: sent later than due (the client's own fault), p99", late)


@dataclass(frozen=True, slots=True)
class Posted:
    """Milliseconds of each webhook: until it was answered, and how late it was sent."""

    waits: list[float]
    late: list[float]
    cpu: float
    """Seconds of ours until the last had taken effect."""
    begun: float
    ended: float
    """When the first was sent and the last answered, by the clock that all processes share."""

    def cut(self, percent: int, values: list[float] | None = None) -> float:
        """What so many percent of them are below."""
        return quantiles(values or self.waits, n=100, method="inclusive")[percent - 1]


@dataclass(frozen=True, slots=True)
class Found:
    """Without and with pages being read, how many were, and what our processes noted."""

    idle: Posted
    busy: Posted
    pages: int
    notes: list[Any]


async def measure(plan: Plan, seconds: float) -> Found:
    """Webhooks for so long while nothing else is done, and then while pages are read."""
    async with open_for_sale(plan) as stand:
        await stand.run(Mode.FULL, brands=stand.brands[:1], limit=LISTED)
        letters = await _letters(stand)
        idle = await _posted(stand, letters, seconds, 1)
        before = await calls_of(stand)
        reading = asyncio.create_task(_read_on(stand))
        try:
            busy = await _posted(stand, letters, seconds, 2)
            pages = many(await calls_of(stand), MALL, "list") - many(before, MALL, "list")
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        return Found(idle, busy, pages, stand.noted() if plan.meter else [])


async def _letters(stand: Stand) -> list[Letter]:
    """What the market has told us so far, to be told again."""
    sent = [one for one in await stand.shop.door.webhooks() if one["status"] == 200]
    if not sent:
        raise RuntimeError("the market has told nothing yet")
    return [(one["event"], json.loads(one["body"])) for one in sent]


async def _read_on(stand: Stand) -> None:
    """List pages without an end: PARTIAL asks for no other pages of what it does not know."""
    while True:
        await stand.run(Mode.PARTIAL, stages=(Stage.COLLECT,))
        await stand.shop.door.advance(24)


async def _posted(stand: Stand, letters: Sequence[Letter], seconds: float, hour: int) -> Posted:
    """Send them from a process of its own; every one must be answered by 200, and be stored. An hour is used once."""
    market = stand.shop.yard.app.belt.market
    order = {
        "url": f"{stand.shop.url}/webhooks/{market}/{stand.seller}",
        "secret": SANDBOX_SECRETS["sandbox:secret"],
        "rate": RATE,
        "seconds": seconds,
        "hour": hour,
        "letters": letters,
    }
    kept, before = await stand.value(KEPT), (await stand.spent())[0]
    pipe = asyncio.subprocess.PIPE
    argv = [sys.executable, "-m", "bench.conveyor_post"]
    client = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe)
    said, _ = await client.communicate(json.dumps(order).encode())
    if client.returncode:
        raise RuntimeError("the market's process has failed; see above")
    found = json.loads(said)
    wrong = Counter(status for status in found["statuses"] if status != 200)
    stored = await stand.value(KEPT) - kept
    if wrong or stored != len(found["waits"]):
        raise RuntimeError(f"{stored} of {len(found['waits'])} webhooks were stored, other answers: {dict(wrong)}")
    await _applied(stand)
    spent = (await stand.spent())[0] - before
    return Posted(found["waits"], found["late"], spent, found["begun"], found["ended"])


async def _applied(stand: Stand) -> None:
    """Wait until all that was stored has taken effect."""
    while True:
        if not await stand.value(WAITING):
            return
        await asyncio.sleep(POLL_SECONDS)
