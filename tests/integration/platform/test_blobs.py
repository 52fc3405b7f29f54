"""Blobs as files and as objects of a real S3 server: one suite for both, and what is particular to each."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from subprocess import PIPE
from typing import TYPE_CHECKING

import obstore
import pytest
import zstandard

from bobusang.kit.errors import Drifted, Unavailable
from bobusang.platform.blob import address_of
from bobusang.platform.blobs.files import FileBlobs
from bobusang.platform.blobs.place import place
from bobusang.platform.blobs.s3 import S3Blobs
from bobusang.testing.blob_suite import HTML, PAGE, BlobSuite
from bobusang.testing.clock import ManualClock
from tests.integration.platform import putting
from tests.servers.server import ROOT, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

ADDRESS = address_of(PAGE)
PUTTING = (sys.executable, "-m", putting.__name__)


async def closing(blobs: FileBlobs) -> AsyncIterator[FileBlobs]:
    yield blobs
    await blobs.close()


class TestFiles(BlobSuite):
    """Files conform."""

    @pytest.fixture
    async def blobs(self, tmp_path: Path) -> AsyncIterator[FileBlobs]:
        async for blobs in closing(FileBlobs(tmp_path)):
            yield blobs

    @pytest.fixture
    async def other(self, tmp_path: Path) -> AsyncIterator[FileBlobs]:
        async for blobs in closing(FileBlobs(tmp_path)):
            yield blobs

    @pytest.fixture
    def spoil(self, tmp_path: Path) -> Callable[[str, bytes], Awaitable[None]]:
        async def spoilt(address: str, instead: bytes) -> None:
            (tmp_path / address[:2] / address).write_bytes(instead)

        return spoilt


class TestS3(BlobSuite):
    """Objects conform."""

    @pytest.fixture
    def blobs(self, fresh_s3: str) -> S3Blobs:
        return S3Blobs(place(fresh_s3))

    @pytest.fixture
    def other(self, fresh_s3: str) -> S3Blobs:
        return S3Blobs(place(fresh_s3))

    @pytest.fixture
    def spoil(self, blobs: S3Blobs) -> Callable[[str, bytes], Awaitable[None]]:
        async def spoilt(address: str, instead: bytes) -> None:
            await obstore.put_async(blobs._store, f"{address[:2]}/{address}", instead)

        return spoilt


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[FileBlobs]:
    async for blobs in closing(FileBlobs(tmp_path / "blobs")):
        yield blobs


def lying_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_text_lies_compressed_under_the_address_of_the_plain_bytes(files: FileBlobs) -> None:
    picture = b"\xff\xd8\xff" * 100
    address = await files.put(picture, media="image/jpeg")
    await files.put(PAGE, media=HTML)

    found = lying_in(files.folder)

    assert {name: zstandard.decompress(data) if name.endswith(ADDRESS) else data for name, data in found.items()} == {
        f"{address[:2]}/{address}": picture,
        f"{ADDRESS[:2]}/{ADDRESS}": PAGE,
    }
    assert len(found[f"{ADDRESS[:2]}/{ADDRESS}"]) < len(PAGE) / 10


def test_a_killed_writer_leaves_no_half_file_and_loses_nothing_it_told_of(tmp_path: Path) -> None:
    for told in (1, 7, 30):
        writer = subprocess.Popen([*PUTTING, str(tmp_path)], cwd=ROOT, stdout=PIPE, text=True)
        assert writer.stdout is not None
        addresses = [writer.stdout.readline().strip() for _ in range(told)]
        writer.kill()
        writer.communicate()

        assert set(addresses) <= asyncio.run(readable(tmp_path))


def test_a_writer_that_dies_within_a_file_leaves_it_without_a_name(tmp_path: Path) -> None:
    writer = subprocess.run([*PUTTING, str(tmp_path), "250000"], cwd=ROOT, capture_output=True, text=True, check=False)
    beside = [path.stat().st_size for path in (tmp_path / "new").iterdir()]

    assert (writer.returncode, max(beside)) == (-signal.SIGXFSZ, 250_000)
    assert asyncio.run(readable(tmp_path)) == set(writer.stdout.split())


async def readable(folder: Path) -> set[str]:
    """What lies under a final name, each read and proved by its hash; what is half written lies beside."""
    found = set()
    async for blobs in closing(FileBlobs(folder)):
        async for address in blobs.addresses():
            found.add(address_of(await blobs.get(address)))
            assert address in found
    return found


PAGES = [PAGE + str(number).encode() for number in range(4)]


async def test_small_ones_that_come_together_are_one_file_that_zstd_reads(files: FileBlobs) -> None:
    large = os.urandom(100_000)
    addresses = await files.put_many([(one, HTML) for one in [*PAGES, large]])

    *small, apart = (files.folder / address[:2] / address for address in addresses)

    assert [path.stat().st_nlink for path in (*small, apart)] == [4, 4, 4, 4, 1]
    with small[2].open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as read:
        assert read.read() == b"".join(PAGES)
    assert [await files.get(address) for address in addresses] == [*PAGES, large]
    assert list((files.folder / "new").iterdir()) == []


async def test_of_a_file_that_is_mostly_forgotten_the_others_get_their_own_of_the_same_age(files: FileBlobs) -> None:
    addresses = await files.put_many([(one, HTML) for one in PAGES])
    paths = [files.folder / address[:2] / address for address in addresses]
    os.utime(paths[0], (1_700_000_000, 1_700_000_000))

    await files.delete(addresses[:1])
    shared = [path.stat().st_nlink for path in paths[1:]]
    await files.delete(addresses[1:2])

    assert shared == [3, 3, 3]
    assert [(path.stat().st_nlink, path.stat().st_mtime) for path in paths[2:]] == [(1, 1_700_000_000)] * 2
    assert [await files.get(address) for address in addresses[2:]] == PAGES[2:]
    assert [address async for address in files.addresses()] == sorted(addresses[2:])


@pytest.mark.parametrize("named", [0, 2], ids=["at once", "half way"])
async def test_where_a_file_has_one_name_each_gets_its_own(tmp_path: Path, named: int) -> None:
    """A file system without hard links, or one on which a file may have only so many."""
    linked: list[str] = []

    def link(beside: str, name: str) -> None:
        if len(linked) == named:
            raise PermissionError(errno.EPERM, "Operation not permitted")
        linked.append(name)
        os.link(beside, name)

    async for blobs in closing(FileBlobs(tmp_path, link=link)):
        addresses = await blobs.put_many([(one, HTML) for one in PAGES])
        later = await blobs.put_many([(b"one", HTML), (b"two", HTML)])

        assert [await blobs.get(address) for address in (*addresses, *later)] == [*PAGES, b"one", b"two"]
        assert {len(paths) for paths in by_inode(tmp_path).values()} == {1}


def by_inode(folder: Path) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name in lying_in(folder):
        found.setdefault((folder / name).stat().st_ino, []).append(name)
    return found


async def test_half_a_file_beside_is_no_blob_and_is_swept_when_it_is_old(files: FileBlobs) -> None:
    await files.put(PAGE, media=HTML)
    old, young = (files.folder / "new" / name for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(PAGE[:100])
    hours_ago = (datetime.now(UTC) - timedelta(hours=2)).timestamp()
    os.utime(old, (hours_ago, hours_ago))

    await files.check()

    assert [address async for address in files.addresses()] == [ADDRESS]
    assert (old.exists(), young.exists()) == (False, True)


async def test_a_file_put_again_after_a_day_is_young_again(files: FileBlobs) -> None:
    now = datetime.now(UTC)
    path = files.folder / ADDRESS[:2] / ADDRESS
    await files.put(PAGE, media=HTML)
    for age, left in ((timedelta(hours=23), [ADDRESS]), (timedelta(hours=25), [])):
        then = (now - age).timestamp()
        os.utime(path, (then, then))

        await files.put(PAGE, media=HTML)

        assert [address async for address in files.addresses(older_than=now - timedelta(hours=1))] == left


async def test_a_write_that_fails_half_way_leaves_nothing(files: FileBlobs) -> None:
    await files.put(PAGE, media=HTML)
    before = lying_in(files.folder)

    with largest_file(100_000), pytest.raises(Unavailable) as refused:
        await files.put_many([(b"small", "image/jpeg"), (os.urandom(200_000), "image/jpeg")])

    assert refused.value.message == f"BOBUSANG_BLOB_URL: the folder {files.folder} cannot be used: File too large"
    assert lying_in(files.folder) == before


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Until the end of the block the system lets no file of this process grow further, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_folder_that_cannot_be_written_is_named_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    async for blobs in closing(FileBlobs(tmp_path / "file" / "blobs")):
        for attempt in (blobs.check(), blobs.put(PAGE)):
            with pytest.raises(Unavailable) as refused:
                await attempt

            assert refused.value.message == (
                f"BOBUSANG_BLOB_URL: the folder {tmp_path}/file/blobs cannot be used: Not a directory"
            )


async def test_folders_that_were_removed_are_made_again(files: FileBlobs) -> None:
    await files.put(PAGE, media=HTML)
    files.folder.rename(files.folder.with_name("elsewhere"))

    with pytest.raises(Unavailable, match="No such file or directory"):
        await files.put(PAGE, media=HTML)

    assert await files.put(PAGE, media=HTML) == ADDRESS
    assert await files.get(ADDRESS) == PAGE


# --- objects ---------------------------------------------------------------------------------------------------------


async def test_text_is_an_object_of_zstd_and_a_picture_keeps_its_media_type(fresh_s3: str) -> None:
    blobs = S3Blobs(place(fresh_s3))
    picture = await blobs.put(b"\xff\xd8\xff" * 100, media="image/jpeg")
    await blobs.put(PAGE, media=HTML)

    kinds = {}
    for address in (picture, ADDRESS):
        answer = await obstore.get_async(blobs._store, f"{address[:2]}/{address}")
        kinds[address] = answer.attributes["Content-Type"]

    assert kinds == {picture: "image/jpeg", ADDRESS: "application/zstd"}


async def test_an_object_put_again_after_a_day_is_written_again(fresh_s3: str) -> None:
    clock = ManualClock(datetime.now(UTC))
    blobs = S3Blobs(place(fresh_s3), clock=clock)
    await blobs.put(PAGE, media=HTML)
    await obstore.put_async(blobs._store, f"{ADDRESS[:2]}/{ADDRESS}", b"a mark that writing wipes out")

    clock.advance(hours=23)
    await blobs.put(PAGE, media=HTML)
    with pytest.raises(Drifted):
        await blobs.get(ADDRESS)
    clock.advance(hours=2)
    await blobs.put(PAGE, media=HTML)

    assert await blobs.get(ADDRESS) == PAGE


async def test_prefixes_of_one_bucket_are_apart(fresh_s3: str) -> None:
    blobs = S3Blobs(place(fresh_s3))
    beside = S3Blobs(place(fresh_s3.replace("?", "-beside?")))
    await blobs.put(PAGE, media=HTML)

    assert [address async for address in beside.addresses()] == []
    assert await beside.has(ADDRESS) is False


async def test_a_bucket_that_is_not_there_is_named_with_its_setting(s3_url: str) -> None:
    nowhere = replace(place(s3_url), bucket="no-such-bucket")
    hint = "make the bucket or mend the address"

    said = await refusals(S3Blobs(nowhere))

    assert said == {f"BOBUSANG_BLOB_URL: there is no bucket no-such-bucket ({nowhere}) ({hint})"}


@pytest.mark.parametrize("wrong", [{"secret": "wr0ng"}, {"key": "wr0ng"}], ids=["secret", "key"])
async def test_wrong_credentials_are_said_without_saying_them(s3_url: str, wrong: dict[str, str]) -> None:
    found = place(s3_url)
    hint = "s3://key:secret@bucket or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; it must list, read and write"

    said = await refusals(S3Blobs(replace(found, **wrong)))

    assert said == {f"BOBUSANG_BLOB_URL: {found} refuses our key or what we may do with it ({hint})"}


async def test_a_store_that_is_away_is_named_with_its_setting() -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    blobs = S3Blobs(place(f"s3://key:s3cret@pages/raw?endpoint={endpoint}&region=auto"))

    with pytest.raises(Unavailable) as refused:
        await blobs.check()

    assert refused.value.message.startswith(f"BOBUSANG_BLOB_URL: s3://pages/raw at {endpoint} is away: ")
    assert "s3cret" not in str(refused.value)


async def refusals(blobs: S3Blobs) -> set[str]:
    """What each way of using a store says."""
    said = set()
    for attempt in (blobs.check(), blobs.put(PAGE), blobs.get(ADDRESS), blobs.delete([ADDRESS]), listed(blobs)):
        with pytest.raises(Unavailable) as refused:
            await attempt
        said.add(str(refused.value))
    return said


async def listed(blobs: S3Blobs) -> list[str]:
    return [address async for address in blobs.addresses()]
