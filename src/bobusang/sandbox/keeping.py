"""The sandbox remembers: what its world and market became is kept in a file, and taken up at the next start.

The file has a head and then one line of JSON for each second in which something changed. It is written anew at every
start, beside its place and then renamed. So a save costs what changed, however much there is, and who is killed loses
a second: a last line that is not whole is left out.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.sandbox.buyma.kept import Changes, fold
from bobusang.sandbox.buyma.memory import Memory, recall
from bobusang.sandbox.mall import Override

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.sandbox.desk import Desk
    from bobusang.sandbox.world import World

T = TypeVar("T")
FORMAT = 1
PAUSE_SECONDS = 1.0
MOST_SHARE = 0.05
"""Of the time, that saving may take."""
OTHERWISE = "name another file with --keep, or move this one away"


class Head(msgspec.Struct, frozen=True):
    """Of which sandbox it is."""

    sandbox: int
    seed: int
    size: int
    brands: int


class KeptWorld(msgspec.Struct, frozen=True):
    hours: float
    drift_at: float | None
    overrides: dict[str, dict[int, dict[str, Any]]]
    """Mall → number → what was told of the product."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """What changed; the world whole."""

    world: KeptWorld | None = None
    market: Changes = msgspec.field(default_factory=Changes)


class Keeping:
    """One desk's file."""

    def __init__(self, path: Path, desk: Desk) -> None:
        self._path = path
        self._desk = desk
        self._memory = Memory(desk.market)
        self._version = -1
        self._size = -1
        """Bytes of the file when it was last written: if it has others, it is not ours."""
        self._stop = asyncio.Event()
        self._saves: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Take up what was kept, before anybody calls; and see that it can be written."""
        lines = self._read()
        world = next((one.world for one in reversed(lines) if one.world is not None), None)
        if world is not None:
            _recall(self._desk.world, world)
        recall(self._desk.market, reduce(fold, (one.market for one in lines), Changes()))
        try:
            self._write(self._changes())
        except OSError as error:
            raise self._unwritable(error) from error

    def open(self) -> None:
        """Save from now on."""
        self._saves = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Save the last, when nothing changes any more."""
        self._stop.set()
        if self._saves is not None:
            await self._saves
        try:
            await self._save()
        except OSError as error:
            raise self._unwritable(error) from error

    async def _run(self) -> None:
        pause = PAUSE_SECONDS
        while not await self._stopped(pause):
            begin = time.monotonic()
            try:
                await self._save()
            except OSError as error:
                self._desk.market.works.broken.append(str(self._unwritable(error)))
            pause = max(PAUSE_SECONDS, (time.monotonic() - begin) / MOST_SHARE)

    async def _stopped(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stop.wait()
        except TimeoutError:
            return False

    async def _save(self) -> None:
        """Changes are taken here, where nothing else moves, and written by a thread."""
        if self._is_foreign():
            self._memory.forget()
            self._version = self._size = -1
        if line := self._changes():
            await asyncio.to_thread(self._write, line)

    def _is_foreign(self) -> bool:
        return not self._path.exists() or self._path.stat().st_size != self._size

    def _changes(self) -> bytes:
        world = self._desk.world
        line = Line(_kept(world) if world.version != self._version else None, self._memory.changes())
        self._version = world.version
        return b"" if line == Line() else msgspec.json.encode(line) + b"\n"

    def _write(self, line: bytes) -> None:
        known, self._size = self._size, -1  # until it is written: if that fails, all is written anew the next time
        if known >= 0:
            with self._path.open("ab") as file:
                file.write(line)
        else:
            self._write_anew(line)
        self._size = self._path.stat().st_size

    def _write_anew(self, line: bytes) -> None:
        beside = self._path.with_name(f"{self._path.name}.new")
        with beside.open("wb") as file:
            file.write(msgspec.json.encode(head(self._desk.world)) + b"\n" + line)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)

    def _read(self) -> list[Line]:
        try:
            with self._path.open("rb") as file:
                whole = (raw for raw in file if raw.endswith(b"\n"))
                self._check(next(whole, b""))
                return [self._decoded(raw, Line, number) for number, raw in enumerate(whole, 2)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unwritable(error) from error

    def _check(self, raw: bytes) -> None:
        found, wanted = self._decoded(raw, Head, 1), head(self._desk.world)
        if found.sandbox != FORMAT:
            why = f"{self._path} was written by a sandbox of another version"
            raise Invalid(why, hint=OTHERWISE, field="keep")
        if found != wanted:
            theirs, ours = _said(found), _said(wanted)
            hint = f"start with --seed {found.seed} --size {found.size}, or {OTHERWISE}"
            raise Invalid(f"{self._path} is of {theirs}, not of {ours}", hint=hint, field="keep")

    def _decoded(self, raw: bytes, kind: type[T], number: int) -> T:
        try:
            return msgspec.json.decode(raw, type=kind)
        except msgspec.MsgspecError as error:
            why = f"{self._path}, line {number}: not what a sandbox keeps ({error})"
            raise Invalid(why, hint=OTHERWISE, field="keep") from error

    def _unwritable(self, error: OSError) -> Unavailable:
        why = f"cannot keep the sandbox in {self._path}: {error.strerror}"
        return Unavailable(why, hint="name a file with --keep that can be written")


def head(world: World) -> Head:
    """What a file of this world begins with. Products' numbers depend on all of it."""
    return Head(FORMAT, world.seed, world.size, len(world.mall("okmall").brands))


def _said(head: Head) -> str:
    return f"seed {head.seed}, size {head.size} and {head.brands} brands"


def _kept(world: World) -> KeptWorld:
    told = {
        name: {no: msgspec.to_builtins(one) for no, one in mall.overrides.items()} for name, mall in world.malls.items()
    }
    return KeptWorld(world.hours, world.drift_at, told)


def _recall(world: World, kept: KeptWorld) -> None:
    overrides = {
        name: {no: Override(**told) for no, told in products.items()} for name, products in kept.overrides.items()
    }
    world.recall(kept.hours, kept.drift_at, overrides)
