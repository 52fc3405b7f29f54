"""Whatever goes wrong at a mall, what is stored stays as it was or becomes what is so, and a person can see it.

`make soak` does the same at both malls and both kinds of pages, and mixes the faults for longer.
"""

from __future__ import annotations

import asyncio
import random
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from bobusang.sandbox.fault import Trouble
from bobusang.sandbox.world import World
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.yard import Yard
from tests import seed
from tests.integration.flows.watching import PATIENCE, Watch, most_within

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED = seed.chosen()
LATE = 0.5
"""Seconds that a call may be on its way, on a busy machine."""
TARGETS = {"okmall": ("brand", "나이키(NIKE)"), "mustit": ("seller", "dmont")}
CALM = {
    "okmall": Visiting(rate=200.0, burst=16.0, concurrency=8, timeout=1.0),
    "mustit": Visiting(rate=200.0, burst=16.0, concurrency=8, timeout=1.0, size=6, calls=400, span=10.0),
}
TIGHT = {
    "okmall": Visiting(rate=40.0, burst=4.0, concurrency=6, timeout=1.0),
    "mustit": Visiting(rate=40.0, burst=4.0, concurrency=6, timeout=1.0, size=6, calls=60, span=6.0),
}
HEAVY = (Trouble.MANY_OPTIONS, Trouble.ZIP_BOMB, Trouble.HUGE)
"""What the sandbox itself needs seconds for is tried alone."""
HTTP = ("http_400", "http_401", "http_403", "http_404", "http_429", "http_500", "http_503")
KINDS = (*HTTP, *Trouble)
PLACES = (("okmall", "*"), ("mustit", "detail"), ("mustit", "*"), ("okmall", "detail"))
QUIET = {
    Trouble.WRONG_ENCODING: "it is read all the same",
    Trouble.DUPLICATE_KEYS: "the last of them counts, as everywhere",
    Trouble.DUPLICATE_ITEMS: "the first of them counts",
    Trouble.SCRIPT_NAMES: "it is a text like any other",
    Trouble.MANY_OPTIONS: "they are options like any other",
    Trouble.UNTAGGED: "it is read again",
    Trouble.INVALID_UTF8: "what cannot be read is not believed, and the rest can be read",
}
"""Faults that need no report where they do no harm, and why."""
OF_LISTS = (Trouble.EMPTY_LIST, Trouble.REPEAT_LAST, Trouble.WOBBLE)
ALONE = [
    (mall, "*" if kind in OF_LISTS else endpoint, kind)
    for kind, (mall, endpoint) in zip(KINDS, cycle(PLACES), strict=False)
] + [("okmall", "*", kind) for kind in ("http_403", Trouble.STALL, Trouble.HALF_HTML)]
"""Each fault somewhere, and at OKmall those that it is known for."""
SHARE = 0.05
"""Of all calls, for each of the faults that are mixed."""
MIXED = 6


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def yard(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Yard]:
    """One for all, working: each fault finds it as the last one left it."""
    home = tmp_path_factory.mktemp("yard")
    async with Yard.opened(home, world=World(seed=5, size=60, brands=2)) as found, found.working():
        visit(found.app, CALM)
        yield found


async def suffered(watch: Watch, endpoint: str, kind: str, **more: Any) -> dict[str, Any]:
    """Collect while it goes wrong; where that can be seen."""
    await watch.yard.door.fault(watch.mall, endpoint, kind, **more)
    job = await watch.start()
    signs = await watch.troubled(job)
    assert await watch.falsehoods() == []
    [fault] = await watch.yard.door.faults()
    assert fault["hits"] > 0
    await watch.leave(job)
    return signs


async def mend(watch: Watch, runs: int) -> None:
    """Let everything go well again, and collect so often; in the end the list is proved.

    Before that a guard may hold what goes back to how it was: names that were script a moment ago, many at once.
    """
    await watch.yard.door.clear()
    await watch.resume()
    for _ in range(runs - 1):
        await watch.yard.collect(watch.mall, watch.kind, watch.key)
    await watch.collect()


async def endured(watches: Sequence[Watch], chance: random.Random) -> dict[str, Any]:
    """Collect from all malls while several things go wrong at once; a person resumes what was halted. The signs."""
    jobs = [(watch, await watch.start()) for watch in watches]
    async with asyncio.timeout(PATIENCE):
        for watch, job in jobs:
            while not await watch.over(job):
                if await watch.blocked():
                    await watch.resume()
                await asyncio.sleep(chance.uniform(0.0, 0.1))
    return {watch.mall: await watch.signs(job) for watch, job in jobs}


async def mix(yard: Yard, chance: random.Random, *, rounds: int) -> None:
    """Rounds of several faults at once, each at a share of the calls; nothing false at any time, nothing at the end."""
    watches = [Watch(yard, mall, *TARGETS[mall]) for mall in TARGETS]
    for _ in range(rounds):
        for watch in watches:
            await watch.begin()
            await watch.move(3, by=chance.choice((0.9, 1.1)))
        kinds = chance.sample([kind for kind in KINDS if kind not in HEAVY], MIXED)
        for kind in kinds:
            await yard.door.fault("*", "*", kind, share=SHARE, seed=chance.randrange(1, 10**6))
        signs = await endured(watches, chance)
        hits = {fault["kind"]: fault["hits"] for fault in await yard.door.faults()}
        await yard.door.clear()
        for watch in watches:
            assert await watch.falsehoods() == [], (kinds, hits, signs)
            await mend(watch, 2)
            assert await watch.unequal() == [], (kinds, hits, signs)


def overdone(log: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Who was called, or called, more often than it may be, by the sandbox's own log."""
    found = {}
    for mall, how in TIGHT.items():
        at = [call["at"] for call in log if call["mall"] == mall]
        for seconds in (1.0, 3.0):
            if (most := most_within(at, seconds)) > how.burst + how.concurrency + how.rate * (seconds + LATE):
                found[f"{mall} in {seconds} s"] = most
    how = TIGHT["mustit"]
    for token in {call["token"] for call in log} - {""}:
        most = most_within([call["at"] for call in log if call["token"] == token], how.span - LATE)
        if most > how.calls:
            found[token] = most
    return found


@pytest.mark.parametrize(("mall", "endpoint", "kind"), ALONE)
async def test_a_fault_makes_nothing_false_and_is_told_of(yard: Yard, mall: str, endpoint: str, kind: str) -> None:
    watch = Watch(yard, mall, *TARGETS[mall])
    await mend(watch, 1)
    await watch.begin()
    await yard.door.advance(24)
    await watch.move(3, by=random.Random(kind).choice((0.9, 1.1)))

    signs = await suffered(watch, endpoint, kind)

    assert signs or kind in QUIET
    await mend(watch, 2)
    assert await watch.falsehoods() == []
    assert await watch.unequal() == []


async def test_faults_at_once_make_nothing_false_and_no_limit_is_passed(tmp_path: Path) -> None:
    print(f"again with BOBUSANG_SEED={SEED}")
    async with Yard.opened(tmp_path, world=World(seed=5, size=60, brands=2)) as yard, yard.working():
        visit(yard.app, TIGHT)
        await mix(yard, random.Random(SEED), rounds=2)
        assert overdone(await yard.door.log()) == {}
