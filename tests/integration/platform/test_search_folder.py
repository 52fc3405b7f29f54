"""An index in a folder when things go wrong: a killed writer, two writers, broken files, another version."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Conflict, Drifted, Invalid, Unavailable
from bobusang.platform import searches
from bobusang.platform.search import Document, Query
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.platform.searches.tokens import shared, tokens
from bobusang.testing.search_suite import GOODS, build, ids
from tests.integration.platform import filing
from tests.servers.server import ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.platform.search import Search

FILING = (sys.executable, "-m", filing.__name__)


@pytest.fixture
async def search(tmp_path: Path) -> AsyncIterator[EmbeddedSearch]:
    search = EmbeddedSearch(tmp_path)
    yield search
    await search.close()


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[EmbeddedSearch]:
    search = EmbeddedSearch(tmp_path)
    yield search
    await search.close()


def killed_after(told: int, folder: Path, how: str) -> int:
    """Let a process file until it has told so often, and kill it; the last that it told."""
    writer = subprocess.Popen([*FILING, str(folder), how], cwd=ROOT, stdout=PIPE, text=True)
    assert writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(told)]
    writer.kill()
    writer.communicate()
    return int(lines[-1])


def folders(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("index-*"))


async def numbers(search: Search) -> list[int]:
    return [id async for id, _ in search.digests()]


# --- killed ---


async def test_a_killed_writer_loses_nothing_it_told_of_and_leaves_no_half_batch(
    search: EmbeddedSearch, tmp_path: Path
) -> None:
    await build(search, [])
    await search.close()
    for told in (2, 7):
        last = killed_after(told, tmp_path, "put")
        after = EmbeddedSearch(tmp_path)
        found = [one async for one in after.digests()]

        assert len(found) >= last + 1
        assert len(found) % 10 == 0
        assert found == [(id, filing.document(id).digest()) for id in range(len(found))]
        await after.put([filing.document(0)])
        await after.close()


async def test_a_killed_rebuild_leaves_the_old_one_and_the_next_drops_it(
    search: EmbeddedSearch, tmp_path: Path
) -> None:
    await build(search)
    await search.close()

    killed_after(3, tmp_path, "rebuild")
    after = EmbeddedSearch(tmp_path)
    assert (folders(tmp_path), await numbers(after)) == (["index-1", "index-2"], [1, 2, 3, 4, 5, 6, 7, 8])
    await build(after, GOODS[:2])

    assert (folders(tmp_path), await numbers(after)) == (["index-2"], [1, 2])
    await after.close()


# --- two processes ---


async def test_two_cannot_write_at_once(search: EmbeddedSearch, other: EmbeddedSearch) -> None:
    await build(search)

    for attempt in (other.put(GOODS[:1]), other.delete([1]), other.rebuild()):
        with pytest.raises(Conflict, match="another process is writing"):
            await attempt
    await search.close()
    await other.delete([1])

    assert await other.count() == 7


async def test_a_folder_that_is_deleted_and_made_anew_by_another_is_not_written_over(
    search: EmbeddedSearch, other: EmbeddedSearch, tmp_path: Path
) -> None:
    """The new index has the name of the old one, as many documents and as many commits."""
    await build(search)  # which still holds the lock and its writer, of files that are no more
    shutil.rmtree(tmp_path)
    renamed = [replace(document, name="새 이름") for document in GOODS]
    await build(other, renamed)

    with pytest.raises(Conflict, match="another process is writing"):
        await search.put(GOODS[:1])
    await search.renew()

    assert folders(tmp_path) == ["index-1"]
    assert await search.get([1, 2]) == await other.get([1, 2]) == {one.id: one for one in renamed[:2]}


async def test_whoever_has_nothing_to_write_lets_others(tmp_path: Path, other: EmbeddedSearch) -> None:
    resting = EmbeddedSearch(tmp_path, idle=0)
    await build(resting)

    async with asyncio.timeout(10):
        while True:
            try:
                await other.delete([1])
                break
            except Conflict:
                await asyncio.sleep(0.01)  # until the first has given the lock back

    assert await other.count() == 7
    await resting.renew()
    assert await resting.count() == 7
    await resting.close()


async def test_a_second_rebuild_waits_for_the_first(search: EmbeddedSearch) -> None:
    rebuild = await search.rebuild()

    with pytest.raises(Conflict, match="under way"):
        await search.rebuild()
    await rebuild.abandon()
    with pytest.raises(Conflict, match="has ended"):
        await rebuild.put(GOODS)

    await build(search)
    assert await search.count() == 8


async def test_one_that_never_renews_goes_on_when_the_old_folder_is_dropped(
    search: EmbeddedSearch, other: EmbeddedSearch
) -> None:
    await build(search)
    assert await other.count() == 8

    await build(search, GOODS[:3])

    assert ids(await other.search(Query())) == [1, 2, 3]


async def test_searching_goes_on_while_it_is_written(search: EmbeddedSearch) -> None:
    await build(search)

    async def write() -> None:
        for number in range(6):
            await search.put([filing.document(100 + number)])

    writing = asyncio.create_task(write())
    totals = []
    while not writing.done():
        totals.append((await search.search(Query("경량"))).total)
    await writing

    assert totals == sorted(totals)
    assert (await search.search(Query("경량"))).total == 7


# --- broken ---


def cut(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    "pattern", ["current", "index-1/meta.json", "index-1/*.idx", "index-1/*.fast", "index-1/*.store"]
)
async def test_half_a_file_is_told(search: EmbeddedSearch, tmp_path: Path, pattern: str) -> None:
    await build(search)
    await search.close()
    cut(tmp_path, pattern)

    after = EmbeddedSearch(tmp_path)
    with pytest.raises(Drifted) as told:
        await after.search(Query("나이키"))
    assert told.value.hint == "bobusang search rebuild"
    await build(after)

    assert await after.count() == 8
    await after.close()


async def test_an_index_of_another_version_is_told(search: EmbeddedSearch, tmp_path: Path) -> None:
    await build(search)
    (tmp_path / "current").write_text('{"index": "index-1", "shape": 999}')

    with pytest.raises(Drifted, match="is of another version") as told:
        await search.renew()

    assert told.value.hint == "bobusang search rebuild"


async def test_what_is_put_while_a_broken_one_is_built_anew_is_in_the_new_one(
    search: EmbeddedSearch, tmp_path: Path
) -> None:
    await build(search)
    cut(tmp_path, "index-1/meta.json")

    rebuild = await search.rebuild()
    await rebuild.put(GOODS[:2])
    await search.put(GOODS[5:6])
    await search.delete([1])
    await rebuild.finish()

    assert await numbers(search) == [2, 6]


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    search = EmbeddedSearch(tmp_path / "file" / "search")

    with pytest.raises(Unavailable) as told:
        await search.rebuild()

    assert told.value.message == (
        f"BOBUSANG_SEARCH_URL: the folder {tmp_path}/file/search cannot be used: Not a directory"
    )
    await search.close()


async def test_half_a_character_is_the_callers_mistake(search: EmbeddedSearch) -> None:
    await build(search)

    for query in (Query("나\ud800"), Query(malls=("\ud800",)), Query(brands=("\ud800",))):
        with pytest.raises(Invalid, match="is no text"):
            await search.search(query)


# --- what else ---


async def test_whatever_is_found_as_it_was_typed_shares_its_tokens(search: EmbeddedSearch) -> None:
    """The rule by which cached answers are made old: `platform/searches/tags.py`."""
    chance = random.Random(5)

    def text(longest: int) -> str:
        return "".join(chance.choices("나이키패딩abc12- .", k=chance.randrange(1, longest)))

    documents = [Document(id, "okmall", text(6), name=text(30), brand=text(8), model=text(10)) for id in range(1, 301)]
    await build(search, documents)

    unshared = []
    found = 0
    for typed in [text(9) for _ in range(300)]:
        answer = await search.search(Query(typed, facets=False))
        if shared(typed) and not answer.loose:
            found += len(answer.hits)
            unshared += [hit for hit in answer.hits if not set(shared(typed)) <= tokens(hit.document)]

    assert unshared == []
    assert found > 300


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("elastic://host", "BOBUSANG_SEARCH_URL: no index is called elastic"),
        ("host:9200", "BOBUSANG_SEARCH_URL: no index is called host:9200"),
    ],
)
def test_a_wrong_address_is_named(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        searches.opened(url, folder=tmp_path)

    assert (refused.value.message, refused.value.field) == (message, "search_url")


async def test_no_address_is_the_folder(tmp_path: Path) -> None:
    search = searches.opened("", folder=tmp_path / "search")
    await build(search)

    assert await EmbeddedSearch(tmp_path / "search").count() == 8
    await search.close()


async def test_a_tier_that_comes_between_two_pages_moves_no_other(search: EmbeddedSearch) -> None:
    """Nothing is called 경량 at first; then a brand is, and what it finds would have been on the first page."""
    await build(search, [filing.document(id) for id in range(10)])
    first = await search.search(Query("경량", limit=4))

    await search.put([Document(90, "okmall", "90", brand="경량")])

    second = await search.search(Query("경량", limit=20, after=first.next))
    assert (ids(first), ids(second)) == ([0, 1, 2, 3], [4, 5, 6, 7, 8, 9])
