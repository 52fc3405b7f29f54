"""A shared cache is told what products were, though a write failed, was given up, or its writer died."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.indexing.rebuilding import rebuild
from bobusang.kit.errors import Unavailable
from bobusang.platform.bus import Event
from tests.integration.indexing.library import Deaf, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from pathlib import Path
    from typing import Any

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock
    from tests.integration.indexing.library import Library


@pytest.fixture
def shared(clock: ManualClock) -> Deaf:
    return Deaf(clock)


@pytest.fixture
async def sharing(db: Database, clock: ManualClock, tmp_path: Path, shared: Deaf) -> AsyncIterator[Library]:
    """A process that has written its share, so that it begins nothing anew."""
    async with opened(db, clock, tmp_path / "search", shared) as found:
        async for _ in rebuild(found.indexer):
            pass
        clock.advance(seconds=1)
        await found.indexer.bring([10**9])
        yield found


@pytest.fixture
async def partner(sharing: Library, other: Database, clock: ManualClock, shared: Deaf) -> AsyncIterator[Library]:
    """Another process on the same database, folder and cache."""
    async with opened(other, clock, sharing.index.folder, shared) as found:
        yield found


async def padded(library: Library) -> int:
    """A padded jacket that somebody has found, and that is a coat in SQL by now."""
    id = await library.collect()
    await library.deliver()
    assert [await library.find("패딩"), await library.find("패딩")] == [([id], "miss"), ([id], "hit")]
    await library.edit(id, name="나이키 울 코트")
    return id


async def given_up(work: Coroutine[Any, Any, None], when: asyncio.Event) -> None:
    """Begin it, and leave it when it is that far."""
    when.clear()
    task = asyncio.create_task(work)
    await when.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def changed(id: int) -> list[Event]:
    return [Event("product.changed", "x", {"id": id})]


async def test_of_a_write_that_failed_when_it_was_half_done(sharing: Library) -> None:
    id = await padded(sharing)
    sharing.index.fails = True
    with pytest.raises(Unavailable, match="half of it"):
        await sharing.indexer.consume(changed(id))
    sharing.index.fails = False

    await sharing.indexer.consume(changed(id))

    assert await sharing.find("패딩") == ([], "miss")


async def test_of_a_write_that_ends_after_it_was_given_up(sharing: Library) -> None:
    """Nobody waits for it, everything known was told, something else is about to be written; then it is done."""
    id, another = await padded(sharing), await sharing.collect("B1", name="첼시 부츠")
    sharing.index.lets_write.clear()
    await given_up(sharing.indexer.consume(changed(id)), sharing.index.asked)
    await sharing.indexer.tell_rest()
    assert await sharing.find("패딩") == ([id], "miss")
    sharing.index.asked.clear()
    other = asyncio.create_task(sharing.indexer.consume(changed(another)))
    await sharing.index.asked.wait()
    await sharing.index.written()
    await other

    await sharing.indexer.consume(changed(id))

    assert await sharing.find("패딩") == ([], "miss")


async def test_of_telling_that_was_given_up(sharing: Library, shared: Deaf) -> None:
    id = await padded(sharing)
    shared.listens.clear()
    await given_up(sharing.indexer.consume(changed(id)), shared.told)
    shared.listens.set()

    await sharing.indexer.tell_rest()

    assert await sharing.find("패딩") == ([], "miss")


async def test_of_another_process_that_wrote_and_died_before_it_told(
    sharing: Library, partner: Library, shared: Deaf
) -> None:
    id = await padded(sharing)
    shared.listens.clear()
    await given_up(partner.indexer.consume(changed(id)), shared.told)
    shared.listens.set()
    await sharing.find("부츠")  # so that its own index is the present one

    await sharing.indexer.consume(changed(id))

    assert await sharing.find("패딩") == ([], "miss")


async def test_who_goes_on_writing_makes_only_those_old_that_it_concerns(sharing: Library) -> None:
    id = await padded(sharing)
    boots = await sharing.collect("B1", name="첼시 부츠", brand="DIOR", brand_ko="디올")
    await sharing.indexer.consume(changed(boots))
    await sharing.find("부츠")

    await sharing.indexer.consume(changed(id))

    assert [await sharing.find(word) for word in ("부츠", "패딩")] == [([boots], "hit"), ([], "miss")]
