"""Folders that are watched: a file that no longer grows is taken, unless its content is the last word already, and
imported by itself where its columns were settled before."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.connectors.sources.declared.cells import normal
from bobusang.connectors.sources.sheets.grid import LARGEST_FILE
from bobusang.connectors.sources.sheets.mapping import REQUIRED
from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.sheets import previewing, receiving, starting, supplying
from bobusang.kit.errors import BobusangError, Conflict, Invalid
from bobusang.platform import alerting
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.collect import files
from bobusang.stages.collect.intake_tables import FileState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.sheets.mapping import Settled
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.flows.sheets.previewing import Preview
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.files import SupplierFile

EVERY = timedelta(seconds=5)
BY = "inbox"
MOST_FILES = 500
"""Of one folder, the oldest first."""


def place(text: str) -> PurePosixPath:
    """A watched place: a pattern below the home folder, and nowhere else."""
    found = PurePosixPath(text.strip())
    if not text.strip() or found.is_absolute() or ".." in found.parts or "~" in text or "\0" in text or "\\" in text:
        raise Invalid(
            f"'{text[:100]}' is no place below the home folder", hint="as in inbox/acme/*.xlsx", field="settings.inbox"
        )
    return found


@dataclass(slots=True)
class Look:
    """A file when it was last looked at."""

    size: int
    changed: int
    taken: bool = False


@dataclass(slots=True)
class Inbox:
    """The watched folders of one process."""

    engine: Engine
    collector: Collector
    home: Path
    looks: dict[Path, Look] = field(default_factory=dict)

    def duty(self) -> Duty:
        """Every few seconds: files that have come."""
        return Duty("supplier files", EVERY, self.look, pause=timedelta(seconds=1))

    async def look(self) -> int:
        """Take at most one file; how many were."""
        for supplier, pattern in await self._watched():
            try:
                wanted = place(pattern)
            except Invalid as error:
                await self._alert(supplier, "its folder cannot be watched", error.message)
                continue
            ready = await asyncio.to_thread(self._ready, wanted)
            if ready and await self._take(supplier, ready[0]):
                return 1
        return 0

    async def _watched(self) -> list[tuple[str, str]]:
        """Active suppliers with the place where their files appear."""
        async with self.collector.db.read() as tx:
            known = await suppliers.listed(tx, active=True)
        found = []
        for one in known:
            shop = supplying.declared(self.collector, one.name)
            pattern = one.settings.get(supplying.INBOX) or (shop.files.path if shop and shop.files else "")
            if one.kind is SupplierKind.EXCEL and isinstance(pattern, str) and pattern:
                found.append((one.name, pattern))
        return found

    def _ready(self, pattern: PurePosixPath) -> list[Path]:
        """Files that have not grown since the last look, the oldest first."""
        found = []
        for path, now in sorted(_files(self.home, pattern), key=lambda one: (one[1].changed, one[0]))[:MOST_FILES]:
            last = self.looks.get(path)
            if last is None or (last.size, last.changed) != (now.size, now.changed):
                self.looks[path] = now
            elif not last.taken:
                found.append(path)
        return found

    async def _take(self, supplier: str, path: Path) -> bool:
        """Take one file; False where it must wait: the next one must not overtake it."""
        look = self.looks[path]
        async with self.collector.db.read() as tx:
            if await files.busy(tx, supplier, 0) is not None:
                return False
        if look.size > LARGEST_FILE:
            look.taken = True
            await self._alert(supplier, f"{path.name} is too large", f"at most {LARGEST_FILE >> 20} MB are read")
            return True
        try:
            data = await asyncio.to_thread(path.read_bytes)
            if len(data) != look.size:  # it has grown after all
                del self.looks[path]
                return False
            # What lies here since before the last import was taken then, whatever this process remembers.
            written_at = datetime.fromtimestamp(look.changed / 1e9, UTC)
            file, is_new = await receiving.receive(
                self.collector, supplier, path.name, data, by=BY, written_at=written_at
            )
            if is_new or (file.created_by == BY and file.state in (FileState.RECEIVED, FileState.PREVIEWED)):
                await self._go_on(file)
        except Conflict:
            return False  # another file of this supplier is being imported: this one is next
        except (BobusangError, OSError) as error:
            await self._alert(supplier, f"{path.name} could not be taken", str(error))
        look.taken = True
        return True

    async def _go_on(self, file: SupplierFile) -> None:
        """Look it through, and import it where nobody need be asked."""
        async with self.collector.db.read() as tx:
            supplier = await supplying.supplier_of(tx, self.collector, file.supplier)
        settled = supplying.settled_of(supplier)
        seen, found = await previewing.preview(self.collector, file.id)
        why = "" if found.settled is None and not found.report.lacking else _unsettled(found, settled)
        if why:
            await self._alert(file.supplier, f"{file.name} waits for a person", why)
            return
        await self.collector.db.transact(lambda tx: starting.start(tx, self.engine, self.collector, seen.id))

    async def _alert(self, supplier: str, title: str, text: str) -> None:
        notice = Notice(starting.waits(supplier), Level.WARNING, f"{supplier}: {title}"[:200], text[:500])

        async def work(tx: Tx) -> None:
            await alerting.raise_alert(tx, notice)

        await self.collector.db.transact(work)


def _unsettled(found: Preview, settled: Settled | None) -> str:
    """Why a person must be asked: a column that was guessed must not set prices by itself."""
    columns = found.report.columns
    if settled is None:
        return "nobody has said yet which column is what: look at its preview"
    for name in REQUIRED:
        known = {normal(one) for one in settled.columns.get(name, ())}
        if name not in columns or normal(columns[name]) not in known:
            return f"no column is called as {name} was so far: look at its preview"
    return ""


def _files(home: Path, pattern: PurePosixPath) -> Iterator[tuple[Path, Look]]:
    """Plain files that match, none of them a link out of the folder."""
    root = home.resolve()
    for path in home.glob(str(pattern)):
        try:
            found = path.lstat()
            inside = path.resolve().is_relative_to(root)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and inside and not path.name.startswith((".", "~$")):
            yield path, Look(found.st_size, found.st_mtime_ns)
