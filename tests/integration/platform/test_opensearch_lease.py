"""The role of the one that writes into a real OpenSearch, when its holder dies or sleeps."""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.subprocess import PIPE

import pytest

from bobusang.kit.errors import Conflict
from bobusang.platform.searches.opensearch.index import OpenSearch
from bobusang.platform.searches.opensearch.lease import LASTS, Rhythm
from bobusang.testing.search_suite import GOODS, build
from tests.servers.server import ROOT

HOLDING = """
import asyncio, sys
from bobusang.platform.searches.opensearch.index import OpenSearch
from bobusang.testing.search_suite import GOODS, build

async def hold():
    search = OpenSearch(sys.argv[1])
    await build(search, GOODS)
    await search.rebuild()
    print("writing", flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""


async def test_a_writer_that_was_killed_is_followed_by_who_has_watched_its_silence(fresh_opensearch: str) -> None:
    """Long before its time has run out, and never while it lives."""
    heir = OpenSearch(fresh_opensearch, rhythm=Rhythm(silence=8))
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDING, fresh_opensearch, cwd=ROOT, stdout=PIPE
    )
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"writing\n"
        assert not await may_write(heir, within=12)

        holder.kill()

        assert await may_write(heir, within=LASTS.total_seconds() / 2)
    finally:
        if holder.returncode is None:
            holder.kill()
        await holder.wait()
        await heir.close()


async def test_who_lost_the_role_while_it_slept_takes_it_from_nobody(fresh_opensearch: str) -> None:
    asleep, heir, third = (OpenSearch(fresh_opensearch, rhythm=Rhythm(beat=3_600, silence=1)) for _ in range(3))
    await build(asleep, GOODS)
    await asleep.put(GOODS[:1])
    assert await may_write(heir, within=10)

    await asleep.close()  # gives back what it no longer has

    with pytest.raises(Conflict):
        await third.put(GOODS[:1])
    await heir.close()
    await third.close()


async def test_whose_heart_finds_that_another_has_written_is_told(fresh_opensearch: str) -> None:
    """What was written meanwhile may have gone past a rebuild, so that it must not go on as if nothing had been."""
    sleepy = OpenSearch(fresh_opensearch, rhythm=Rhythm(beat=0.3))
    heir = OpenSearch(fresh_opensearch, rhythm=Rhythm(silence=0))
    await build(sleepy, GOODS)
    await sleepy.rebuild()
    assert await may_write(heir, within=10)
    await heir.close()  # nobody has it now

    assert await is_refused(sleepy, within=10)
    await sleepy.close()


async def is_refused(search: OpenSearch, *, within: float) -> bool:
    """Whether one may not write at least once before so many seconds are over."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            await search.put(GOODS[:1])
        except Conflict:
            return True
    return False


async def may_write(search: OpenSearch, *, within: float) -> bool:
    """Whether one may write before so many seconds are over."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            await search.put(GOODS)
        except Conflict:
            continue
        return True
    return False
