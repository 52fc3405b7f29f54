"""The folder of an index: `index-3` that serves, `index-4` that is being built, and `current`, which names one."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Conflict, Drifted, Invalid, Unavailable
from bobusang.platform.search import SETTING
from bobusang.platform.searches.embedded.schema import SHAPE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HINT = "bobusang search rebuild"
CURRENT = "current"
META = "meta.json"
LOCK = "writer.lock"


class Shelf:
    """Indexes below one folder, of which one serves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def current(self) -> Path:
        """The index that serves; Drifted when there is none that we can read."""
        try:
            found = json.loads((self.folder / CURRENT).read_text("utf-8"))
            name, shape = str(found["index"]), found["shape"]
        except FileNotFoundError:
            raise Drifted(f"{SETTING}: there is no search index in {self.folder}", hint=HINT) from None
        except (BobusangError, KeyError, TypeError, UnicodeDecodeError):
            raise Drifted(f"{SETTING}: {self.folder / CURRENT} is broken", hint=HINT) from None
        if shape != SHAPE:
            raise Drifted(f"{SETTING}: the search index in {self.folder} is of another version", hint=HINT)
        return self.folder / name

    def fresh(self) -> Path:
        """A new folder beside the one that serves; what was left behind by a crash is dropped."""
        kept = self._named()
        self.drop_all_but(kept)
        path = self.folder / f"index-{number(kept) + 1}"
        path.mkdir(parents=True)
        return path

    def switch(self, path: Path) -> None:
        """Serve from another one from now on, whatever happens: written beside, synced, renamed, synced."""
        beside = self.folder / f"{CURRENT}.new"
        with beside.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"index": path.name, "shape": SHAPE}))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.folder / CURRENT)
        for folder in (path, self.folder):
            _sync(folder)
        self.drop_all_but(path.name)

    def drop_all_but(self, kept: str) -> None:
        """Remove every index but one."""
        for path in self.folder.glob("index-*"):
            if path.name != kept:
                shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def writing(self) -> Iterator[int]:
        """Be the only one that writes, among all processes; the system ends it with the process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.folder / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            try:
                flock(handle, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise Conflict(
                    f"{SETTING}: another process is writing into {self.folder}", hint="it ends when that one has ended"
                ) from None
            yield handle
        finally:
            os.close(handle)

    def is_lock(self, handle: int) -> bool:
        """Whether this is still the lock: whoever deletes the folder takes it from under its holder."""
        try:
            return os.path.samestat(os.fstat(handle), (self.folder / LOCK).stat())
        except FileNotFoundError:
            return False

    def _named(self) -> str:
        """The one that serves, in whatever state it is."""
        try:
            return str(json.loads((self.folder / CURRENT).read_text("utf-8"))["index"])
        except (OSError, BobusangError, KeyError, TypeError, UnicodeDecodeError):
            return ""


def number(name: str) -> int:
    """Which index it is, counted from the first that was ever built here."""
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """What tantivy and the disk say, said once, where the operator can do something about it."""
    try:
        yield
    except UnicodeError:
        raise Invalid("what is looked for is no text", hint="half of a character stands in it") from None
    except (ValueError, FileNotFoundError) as error:  # tantivy knows no other error
        raise Drifted(f"{SETTING}: the search index in {folder} is broken: {error}", hint=HINT) from error
    except OSError as error:
        raise Unavailable(
            f"{SETTING}: the folder {folder} cannot be used: {error.strerror or error}",
            hint="free or mend the disk, mind the folder's owner",
        ) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust met what it did not expect, as half a file is
            raise
        raise Drifted(f"{SETTING}: the search index in {folder} is broken: {error}", hint=HINT) from None
