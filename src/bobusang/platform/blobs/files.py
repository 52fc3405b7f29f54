"""Blobs as files: `ab/abc…`, first written beside, synced, then named, so that no name ever holds half a file.

The small ones of a batch are one file with many names (`bundle`), where the file system knows hard links: a sixth of
the price of a file each. All of a batch is written, then synced, named and its folders synced, for the file system
commits many at once. 256 folders of 4,000 names each hold a million pages; with more folders, making and syncing them
costs a young store as much as its files.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from bobusang.kit.clock import Clock, SystemClock
from bobusang.kit.errors import Drifted, Missing, Unavailable
from bobusang.platform.blob import LARGEST, RENEW_AFTER, SETTING, address_of, checked, is_address
from bobusang.platform.blobs import bundle
from bobusang.platform.blobs.packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
    from io import FileIO

THREADS = 4
AT_ONCE = bundle.MOST
"""Blobs written before they are synced: a large one is an open descriptor."""
UNSETTLED = timedelta(minutes=1)
"""A file this young may be another writer's, whose folder is not synced yet."""
ABANDONED = timedelta(hours=1)
"""A half-written file this old belongs to nobody."""
BESIDE = "new"
MOSTLY = 0.5
"""Of the blobs in a bundle: as long as more are left, they stay together."""

Given = ParamSpec("Given")
Result = TypeVar("Result")
Link = Callable[[str, str], None]


class Staged:
    """A file beside the store until it gets its name. By the system's own calls: each lets another thread have the
    interpreter, and Python's files make twice as many."""

    __slots__ = ("_beside", "handle")

    def __init__(self, beside: str) -> None:
        self._beside = beside
        self.handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)

    def write(self, data: bytes) -> None:
        """All of it; the system may take it in parts."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.handle, rest) :]

    def name_as(self, name: str) -> None:
        """Let it be found by this name, from now on whole."""
        os.replace(self._beside, name)
        self._beside = ""

    def name_also(self, name: str, link: Link) -> None:
        """Let it be found by this name too, unless another writer was first, who has kept the same bytes there."""
        with suppress(FileExistsError):
            link(self._beside, name)

    def date(self, status: os.stat_result) -> None:
        """Let it be as old as that one."""
        os.utime(self._beside, ns=(status.st_atime_ns, status.st_mtime_ns))

    def leave(self) -> None:
        """Close it; without a name it is gone."""
        os.close(self.handle)
        if self._beside:
            with suppress(FileNotFoundError):
                os.unlink(self._beside)


class FileBlobs:
    """Content-addressed files below one folder, which several processes may share."""

    def __init__(self, folder: Path, *, clock: Clock | None = None, link: Link = os.link) -> None:
        self.folder = folder
        self._clock = clock or SystemClock()
        self._link = link
        self._links = True  # until the file system says that it knows none
        self._root = str(folder)
        self._settled: set[str] = set()  # folders that this process has seen synced into their parents
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="blobs")

    async def put(self, data: bytes, *, media: str = "application/octet-stream") -> str:
        return (await self.put_many([(data, media)]))[0]

    async def put_many(self, many: Sequence[tuple[bytes, str]]) -> list[str]:
        slices = [many[start : start + AT_ONCE] for start in range(0, len(many), AT_ONCE)]
        kept = await asyncio.gather(*(self._off_loop(self._keep, one) for one in slices))
        return [address for addresses in kept for address in addresses]

    async def get(self, address: str) -> bytes:
        return await self._off_loop(self._read, checked(address))

    async def has(self, address: str) -> bool:
        return await self._off_loop(self._path(checked(address)).exists)

    async def delete(self, addresses: Sequence[str]) -> None:
        await self._off_loop(self._forget, [checked(address) for address in addresses])

    async def addresses(self, *, older_than: datetime | None = None) -> AsyncIterator[str]:
        for folder in await self._off_loop(_folders, self.folder):
            for address in await self._off_loop(_listed, folder, older_than):
                yield address

    def path(self, address: str) -> None:
        """None: our own door hands out what lies on this machine."""

    async def check(self) -> None:
        await self._off_loop(self._probe)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)

    # --- in a thread ---

    async def _off_loop(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        def told() -> Result:
            with _told(self.folder):
                return work(*args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._threads, told)

    def _folder(self, address: str) -> str:
        return f"{self._root}/{address[:2]}"

    def _name(self, address: str) -> str:
        return f"{self._folder(address)}/{address}"

    def _path(self, address: str) -> Path:
        return Path(self._name(address))

    def _keep(self, many: Sequence[tuple[bytes, str]]) -> list[str]:
        addresses = [address_of(data) for data, _ in many]
        by_address = dict(zip(addresses, many, strict=True))
        now = self._clock.now()
        ages = {address: self._age(address, now) for address in by_address}
        try:
            self._write({address: by_address[address] for address, age in ages.items() if age is None})
        except FileNotFoundError:  # somebody removed our folders: make them anew the next time
            self._settled.clear()
            raise
        _sync({self._folder(address) for address, age in ages.items() if age is not None and age < UNSETTLED})
        return addresses

    def _age(self, address: str, now: datetime) -> timedelta | None:
        """For how long it has been kept, None when it is not; an old one is young from now on."""
        name = self._name(address)
        try:
            age = now - datetime.fromtimestamp(os.stat(name).st_mtime, UTC)
            if age > RENEW_AFTER:
                os.utime(name, (now.timestamp(), now.timestamp()))
        except FileNotFoundError:
            return None
        return age

    def _write(self, fresh: Mapping[str, tuple[bytes, str]]) -> None:
        if not fresh:
            return
        folders = {self._folder(address) for address in fresh}
        self._make(folders)
        self._file(self._grouped({address: packed(*one) for address, one in fresh.items()}))
        _sync(folders)

    def _grouped(self, stored: Mapping[str, bytes]) -> list[dict[str, bytes]]:
        """What goes into one file each."""
        small = {address: data for address, data in stored.items() if len(data) <= bundle.LARGEST and self._links}
        apart = [{address: data} for address, data in stored.items() if address not in small]
        return [small, *apart] if small else apart

    def _file(self, groups: Sequence[Mapping[str, bytes]], *, like: os.stat_result | None = None) -> None:
        with ExitStack() as cleanup:
            files = [(group, self._staged(_content(group), cleanup)) for group in groups]
            for _, file in files:
                if like is not None:
                    file.date(like)
                os.fsync(file.handle)
            for group, file in files:
                if len(group) == 1:
                    file.name_as(self._name(*group))
                else:
                    self._name_all(file, group)

    def _name_all(self, file: Staged, group: Mapping[str, bytes]) -> None:
        try:
            for address in group:
                file.name_also(self._name(address), self._link)
        except FileNotFoundError:
            raise
        except OSError:  # this file system has one name for a file
            self._links = False
            self._file([{address: data} for address, data in group.items()])

    def _make(self, folders: set[str]) -> None:
        """Make folders that are as durable as the files in them: a new name is safe when its parent is synced."""
        unsettled = folders - self._settled
        if not unsettled:
            return
        for folder in (*unsettled, f"{self._root}/{BESIDE}"):
            os.makedirs(folder, exist_ok=True)
        _sync([self._root])
        self._settled |= unsettled

    def _staged(self, stored: bytes, cleanup: ExitStack) -> Staged:
        staged = Staged(f"{self._root}/{BESIDE}/{secrets.token_hex(16)}")
        cleanup.callback(staged.leave)
        staged.write(stored)
        return staged

    def _read(self, address: str) -> bytes:
        name = self._name(address)
        try:
            with open(name, "rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_size > LARGEST:
                    raise Drifted(f"blob {address} is larger than any that was put", hint=f"look at {name}")
                return unpacked(address, _stored(file, address))
        except FileNotFoundError:
            raise Missing(f"there is no blob {address}") from None

    def _forget(self, addresses: Sequence[str]) -> None:
        """Of a bundle that is mostly forgotten the others get files of their own, so that its space is free."""
        bundles: dict[int, dict[str, bundle.Part]] = {}
        for address in addresses:
            with suppress(FileNotFoundError), open(self._name(address), "rb", buffering=0) as file:
                if found := bundle.parts(file.read(bundle.HEAD)):
                    bundles[os.fstat(file.fileno()).st_ino] = found
        self._unlink(map(self._path, addresses))
        for inode, held in bundles.items():
            self._part_with(inode, held)

    def _part_with(self, inode: int, held: Mapping[str, bundle.Part]) -> None:
        left = [address for address in held if self._inode(address) == inode]
        if not left or len(left) > len(held) * MOSTLY:
            return
        try:
            with open(self._name(left[0]), "rb", buffering=0) as file:
                like, stored = os.fstat(file.fileno()), {address: _part(file, held[address]) for address in left}
        except FileNotFoundError:  # another forgets them too
            return
        self._file([{address: data} for address, data in stored.items()], like=like)
        _sync({self._folder(address) for address in left})

    def _inode(self, address: str) -> int | None:
        try:
            return os.stat(self._name(address)).st_ino
        except FileNotFoundError:
            return None

    def _unlink(self, paths: Iterable[Path]) -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    def _probe(self) -> None:
        beside = self.folder / BESIDE
        beside.mkdir(parents=True, exist_ok=True)
        abandoned = (self._clock.now() - ABANDONED).timestamp()
        self._unlink(path for path in beside.iterdir() if _written(path) < abandoned)
        with ExitStack() as cleanup:
            os.fsync(self._staged(b"may we write?", cleanup).handle)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """A full disk, a read-only folder, a broken one: said once, where the operator can change it."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"{SETTING}: the folder {folder} cannot be used: {error.strerror or error}",
            hint="free or mend the disk, mind the folder's owner, or choose another by file:///…",
        ) from error


def _content(group: Mapping[str, bytes]) -> bytes:
    """Of the file that holds these."""
    return bundle.bundled(group) if len(group) > 1 else next(iter(group.values()))


def _stored(file: FileIO, address: str) -> bytes:
    """What a file holds for an address: of a bundle its part, else all."""
    head = file.read(bundle.HEAD)
    part = bundle.parts(head).get(address)
    return head + file.read() if part is None else _part(file, part)


def _part(file: FileIO, part: bundle.Part) -> bytes:
    file.seek(part.begin)
    return file.read(part.size)


def _sync(folders: Iterable[str]) -> None:
    for folder in folders:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _folders(root: Path) -> list[Path]:
    """In order: one of them at a time is a piece of work that ends soon."""
    return sorted(path for path in root.glob("[0-9a-f][0-9a-f]") if path.is_dir())


def _listed(folder: Path, older_than: datetime | None) -> list[str]:
    limit = inf if older_than is None else older_than.timestamp()
    found = (path for path in folder.iterdir() if is_address(path.name))
    return sorted(path.name for path in found if older_than is None or _written(path) < limit)


def _written(path: Path) -> float:
    """When; one that somebody has just removed is as good as written now."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return inf
