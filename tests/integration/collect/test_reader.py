"""Large pages are read apart, and it makes no difference but time: not to what they say, nor when the process dies."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from bobusang.connectors.sources.declared.shelf import Shelved
from bobusang.kit import json
from bobusang.kit.http import Answer
from bobusang.stages.collect import apart
from bobusang.stages.collect.reader import AT_ONCE, IN_THE_THREAD, Reader
from bobusang.stages.collect.reading import Fetched, Reading, read
from bobusang.stages.collect.source import Extent, Snapshot, Target
from tests.unit.connectors.reading import written

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bobusang.stages.collect.source import Source

SHOP = """\
shop: acme
intake: {kind: http, base: "https://acme.example.com"}
streams:
  list:
    request: {get: /list}
    records: items[*]
    key: id
    fields: {name: name, reader: name}
hooks: {list.after: own}
"""
HOOKS = """\
import os, signal
from bobusang.connectors.sources.declared.hooks import hook

HOME, ONCE = %(home)d, %(once)r


@hook("own")
def own(fields, page):
    if os.getpid() != HOME and not os.path.exists(ONCE):
        open(ONCE, "w").close()
        %(does)s
    return fields
"""
KILLED = """\
import sys, time
from pathlib import Path
from bobusang.connectors.sources.declared.shelf import Shelved
from bobusang.kit.http import Answer
from bobusang.stages.collect.apart import Apart
from bobusang.stages.collect.reading import Fetched
from bobusang.stages.collect.source import Target

source = Shelved("acme", "folder", folder=Path(sys.argv[1])).load(trust=True)
[ask] = source.seeds(Target("list", "all"))
apart = Apart()
apart.read(source, Fetched(ask, Answer("", 200, {}, b'{"items": []}'), "application/json"))
print(apart.pid, flush=True)
time.sleep(60)
"""
WAIT_SECONDS = 20.0


def shop(folder: Path, does: str = "pass") -> Source:
    """A shop of which a hook does something over the first page that is read in another process than ours."""
    place = written(folder, SHOP)
    hooks = HOOKS % {"home": os.getpid(), "once": str(folder / "once"), "does": does}
    (place / "hooks.py").write_text(hooks, "utf-8")
    return Shelved("acme", "folder", folder=place).load(trust=True)


def fetched(source: Source, *, filler: int = IN_THE_THREAD, items: object = None) -> Fetched:
    [ask] = source.seeds(Target("list", "all"))
    listed = [{"id": 1, "name": "coat"}] if items is None else items
    body = json.dumps({"items": listed, "filler": "x" * filler}).encode()
    return Fetched(ask, Answer("https://acme.example.com/list", 200, {}, body), "application/json")


COAT = Reading((Extent(("1",), last=True), Snapshot("acme", "1", {"name": "coat", "reader": "coat"})))


@asynccontextmanager
async def opened(*, patience: float = WAIT_SECONDS, idle: float = WAIT_SECONDS) -> AsyncIterator[Reader]:
    reader = Reader(patience=patience, idle=idle)
    try:
        yield reader
    finally:
        reader.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)


def ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE  # nobody may be there to bury it
    except psutil.NoSuchProcess:
        return True


async def test_a_large_page_is_read_in_another_process_a_small_one_here(tmp_path: Path) -> None:
    source = shop(tmp_path)
    async with opened() as reader:
        small = await reader.read(source, fetched(source, filler=0))
        before = reader.apart.pid
        large = await reader.read(source, fetched(source))
        pid = reader.apart.pid
        await reader.read(source, fetched(source))

        assert (small, large) == (COAT, COAT)
        assert before is None
        assert pid not in (None, os.getpid())
        assert reader.apart.pid == pid
        assert (tmp_path / "once").exists()


async def test_pages_of_items_are_read_on_the_loop_one_a_turn(tmp_path: Path) -> None:
    source = shop(tmp_path)
    page = fetched(source, filler=2 * AT_ONCE)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with opened() as reader:
        living = asyncio.create_task(others())
        found = await asyncio.gather(*(reader.read(source, page) for _ in range(10)))
        living.cancel()

        assert (found, reader.apart.pid) == ([COAT] * 10, None)
        assert turns >= 10


async def test_a_page_whose_reader_is_killed_is_read_again(tmp_path: Path) -> None:
    source = shop(tmp_path, does="os.kill(os.getpid(), signal.SIGKILL)")
    async with opened() as reader:
        assert await reader.read(source, fetched(source)) == COAT
        assert (tmp_path / "once").exists()


async def test_a_reader_that_was_killed_between_two_pages_is_started_anew(tmp_path: Path) -> None:
    source = shop(tmp_path)
    async with opened() as reader:
        await reader.read(source, fetched(source))
        first = reader.apart.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)

        assert await reader.read(source, fetched(source)) == COAT
        assert reader.apart.pid not in (None, first)


@pytest.mark.parametrize(
    "does", ["os.remove(ONCE); os.kill(os.getpid(), signal.SIGKILL)", "os.remove(ONCE); os._exit(0)"]
)
async def test_who_dies_of_a_page_again_and_again_is_asked_for_later_and_takes_nobody_along(
    tmp_path: Path, does: str
) -> None:
    source = shop(tmp_path, does=does)
    async with opened() as reader:
        found = await reader.read(source, fetched(source))

        assert (found.found, found.drifted) == ((), "")
        assert "list: the process that reads large pages died" in found.trouble


async def test_a_page_that_is_never_read_to_its_end_is_given_up(tmp_path: Path) -> None:
    endless = "os.remove(ONCE)\n        while True: pass"
    source = shop(tmp_path, does=endless)
    async with opened(patience=1.0) as reader:
        assert "died" in (await reader.read(source, fetched(source))).trouble


async def test_who_is_cancelled_leaves_the_thread_to_the_next(tmp_path: Path) -> None:
    source = shop(tmp_path, does="while True: pass")
    async with opened() as reader:
        reading = asyncio.create_task(reader.read(source, fetched(source)))
        await until((tmp_path / "once").exists)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

        assert reading.cancelled()
        assert await reader.read(source, fetched(source)) == COAT


async def test_a_page_that_has_drifted_is_told_in_the_same_words(tmp_path: Path) -> None:
    source = shop(tmp_path)
    page = fetched(source, items="none today")
    async with opened() as reader:
        told = await reader.read(source, page)

        assert reader.apart.pid is not None
        assert told.drifted
        assert told == read(source, page)


async def test_an_error_that_no_source_should_raise_is_raised_here_as_it_is(tmp_path: Path) -> None:
    source = shop(tmp_path)
    hooks = (tmp_path / "acme" / "hooks.py").read_text("utf-8")
    (tmp_path / "acme" / "hooks.py").write_text(hooks.replace("return fields", "raise MemoryError('too large')"))
    source = Shelved("acme", "folder", folder=tmp_path / "acme").load(trust=True)
    async with opened() as reader:
        with pytest.raises(MemoryError, match="too large"):
            await reader.read(source, fetched(source))


async def test_a_shop_that_was_edited_meanwhile_is_read_as_it_was_loaded(tmp_path: Path) -> None:
    source = shop(tmp_path)
    written(tmp_path, SHOP.replace("name: name, reader: name", "title: name"))
    async with opened() as reader:
        assert await reader.read(source, fetched(source)) == COAT
        assert not (tmp_path / "once").exists()


@pytest.mark.parametrize("kind", ["none", "lambda"])
async def test_a_source_that_cannot_be_made_elsewhere_is_read_here(tmp_path: Path, kind: str) -> None:
    source = shop(tmp_path)
    source.anew = None if kind == "none" else lambda: source
    async with opened() as reader:
        assert await reader.read(source, fetched(source)) == COAT
        assert reader.apart.pid is None


async def test_nobody_keeps_a_process_without_pages(tmp_path: Path) -> None:
    source = shop(tmp_path)
    async with opened(idle=0.0) as reader:
        await reader.read(source, fetched(source))
        await until(lambda: reader.apart.pid is None)

        assert await reader.read(source, fetched(source)) == COAT


async def test_the_process_ends_with_the_reader(tmp_path: Path) -> None:
    source = shop(tmp_path)
    async with opened() as reader:
        await reader.read(source, fetched(source))
        pid = reader.apart.pid
    assert pid is not None

    await until(lambda: ended(pid))


async def test_who_is_asked_to_stop_reads_on_while_the_rest_is_finished(tmp_path: Path) -> None:
    source = shop(tmp_path)
    async with opened() as reader:
        await reader.read(source, fetched(source))
        pid = reader.apart.pid
        assert pid is not None
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGINT)

        assert await reader.read(source, fetched(source)) == COAT
        assert reader.apart.pid == pid


async def test_closing_in_the_middle_of_a_page_and_once_more_ends_the_process(tmp_path: Path) -> None:
    source = shop(tmp_path, does="while True: pass")
    async with opened() as reader:
        reading = asyncio.create_task(reader.read(source, fetched(source)))
        await until((tmp_path / "once").exists)
        pid = reader.apart.pid
        assert pid is not None
        reader.close()
        reader.close()

        await until(lambda: ended(pid))
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_the_process_ends_with_whoever_is_killed(tmp_path: Path) -> None:
    shop(tmp_path)
    argv = [sys.executable, "-c", KILLED, str(tmp_path / "acme")]
    parent = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert parent.stdout is not None
    pid = int(await asyncio.to_thread(parent.stdout.readline))
    parent.kill()
    parent.communicate()

    await until(lambda: ended(pid))


def test_the_process_ends_when_nobody_asks_any_more() -> None:
    told = io.BytesIO()

    apart.serve(io.BytesIO((5).to_bytes(apart.LENGTH, "big") + b"cut"), told)

    assert told.getvalue() == b""
