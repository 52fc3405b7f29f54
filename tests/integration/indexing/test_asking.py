"""A rebuild is asked for in the database: one process asks, the one that leads does it, all see how far it is."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.indexing import asking, verifying
from bobusang.flows.indexing.asking import Standing
from bobusang.flows.indexing.rebuilding import Progress, rebuild
from bobusang.flows.indexing.running import Rebuilding
from bobusang.kit.errors import Unavailable
from tests.integration.indexing import dying
from tests.integration.indexing.library import Slow, opened
from tests.servers.server import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.platform.searches.embedded.rebuilding import EmbeddedRebuild
    from bobusang.testing.clock import ManualClock
    from tests.integration.indexing.library import Library

ASKED = Standing(1, under_way=True, progress=Progress(0, 0, "waiting"))


async def standing(library: Library) -> Standing | None:
    async with library.db.read() as tx:
        return await asking.standing(tx)


async def ask(library: Library) -> Standing:
    return await library.db.transact(asking.ask)


async def test_one_asks_another_does_it_and_both_see_its_end(library: Library, branch: Library) -> None:
    id = await library.collect()
    await library.index.delete([id])
    assert await standing(branch) is None

    assert await ask(branch) == ASKED
    await Rebuilding(library.indexer).heal()

    ended = Standing(1, under_way=False, progress=Progress(1, 1, "done"))
    assert [await standing(library), await standing(branch)] == [ended, ended]
    assert (await branch.find("패딩"))[0] == [id]
    assert await ask(branch) == Standing(2, under_way=True, progress=Progress(0, 0, "waiting"))


async def test_who_asks_while_one_is_asked_for_asks_for_that_one(library: Library, branch: Library) -> None:
    asked = await asyncio.gather(*(ask(one) for one in (library, branch, library, branch)))

    await Rebuilding(library.indexer).heal()

    assert asked == [ASKED] * 4
    assert await standing(branch) == Standing(1, under_way=False, progress=Progress(0, 0, "done"))
    assert [path.name for path in library.index.folder.glob("index-*")] == ["index-2"]


async def test_how_far_it_is_shows_while_it_is_under_way(library: Library, branch: Library) -> None:
    await library.collect()
    await library.deliver()
    library.index.hold()
    await ask(branch)
    leading = Rebuilding(library.indexer)

    await leading.look()
    await library.index.filling.wait()
    seen, (found, _) = await standing(branch), await branch.find("패딩")
    again = await ask(branch)
    await leading.look()  # which finds itself at it
    library.index.lets_fill.set()
    await leading.finished()

    reading = Standing(1, under_way=True, progress=Progress(0, 1, "reading"))
    assert (seen, again, len(found)) == (reading, reading, 1)
    assert await standing(branch) == Standing(1, under_way=False, progress=Progress(1, 1, "done"))


async def test_what_a_stopped_one_leaves_is_begun_anew_at_once(
    library: Library, branch: Library, clock: ManualClock
) -> None:
    await library.collect()
    library.index.hold()
    await ask(library)
    leading = Rebuilding(library.indexer)
    await leading.look()
    await library.index.filling.wait()

    await leading.stop()
    await library.index.close()
    clock.advance(seconds=1)
    await Rebuilding(branch.indexer).heal()

    assert await standing(branch) == Standing(1, under_way=False, progress=Progress(1, 1, "done"))


async def test_what_a_killed_one_leaves_is_taken_up_by_the_next(
    library: Library, branch: Library, clock: ManualClock
) -> None:
    id = await library.collect()
    await library.index.close()
    line = (library.db.url, str(library.index.folder), clock.now().isoformat())
    killed = await asyncio.create_subprocess_exec(sys.executable, "-m", dying.__name__, *line, cwd=ROOT, stdout=PIPE)
    assert killed.stdout is not None
    assert await killed.stdout.readline() == b"1\n"
    beside = Rebuilding(branch.indexer)
    await beside.heal()
    assert await standing(branch) == Standing(1, under_way=True, progress=Progress(0, 1, "reading"))

    killed.kill()
    await killed.communicate()
    clock.advance(seconds=21)
    await beside.heal()

    assert await standing(branch) == Standing(1, under_way=False, progress=Progress(1, 1, "done"))
    assert (await branch.find("패딩"))[0] == [id]
    assert (await verifying.verify(branch.indexer, repair=False)).clean


async def test_one_that_another_process_is_at_stays_asked_for(
    library: Library, branch: Library, clock: ManualClock
) -> None:
    steps = rebuild(library.indexer)
    await anext(steps)
    await ask(branch)

    await Rebuilding(branch.indexer).heal()
    seen = await standing(branch)
    await steps.aclose()
    clock.advance(seconds=1)
    await Rebuilding(library.indexer).heal()

    assert seen == ASKED
    assert await standing(branch) == Standing(1, under_way=False, progress=Progress(0, 0, "done"))


class Full(Slow):
    """An index for which there is no room."""

    async def rebuild(self) -> EmbeddedRebuild:
        raise Unavailable("the disk is full")


async def test_one_that_fails_has_ended_and_says_why(db: Database, clock: ManualClock, tmp_path: Path) -> None:
    async with opened(db, clock, tmp_path / "search", index=Full(tmp_path / "search")) as library:
        await ask(library)
        await Rebuilding(library.indexer).heal()

        assert await standing(library) == Standing(
            1, under_way=False, progress=Progress(0, 0, "reading"), error="the disk is full"
        )
        assert (await ask(library)).number == 2
        with pytest.raises(Unavailable, match="there is no search index"):
            await library.find("패딩")
