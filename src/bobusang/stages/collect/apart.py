"""A process that reads pages, because reading keeps the interpreter: one page of 1.3 MB takes 40 ms, in which whoever
comes back from a socket or the database waits for his turn each time. It ends when its input does, so that nobody who
dies leaves it behind.

Both sides speak pickle, each message behind its length. Run as a program this module is the process.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from bobusang.kit import cores
from bobusang.stages.collect.reading import read

if TYPE_CHECKING:
    from bobusang.stages.collect.reading import Fetched, Reading
    from bobusang.stages.collect.source import Source

LENGTH = 8
NICE = 5
"""Where cores are few, answering goes before reading."""
YOUNG = 50_000
"""Objects that are made before garbage is looked for: a page makes thousands, and leaves no circle."""
GRACE_SECONDS = 5.0
UNPICKLED = (pickle.PickleError, TypeError, AttributeError)
"""What pickle says to what it cannot take."""


class Died(Exception):
    """It ended in the middle of a page: killed, out of memory, or by a fault of a library."""


class Apart:
    """That process, seen from here: started with the first page, and anew after it died. For one thread, except `kill`
    and `close`.

    It knows a source by what makes it anew there (`Source.anew`).
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Which process it is, if there is one."""
        return None if self._process is None else self._process.pid

    def read(self, source: Source, fetched: Fetched) -> Reading | None:
        """Have a page read; None: not there, for the source cannot be made there, or not as it is here.

        Raises Died.
        """
        try:
            asked = pickle.dumps((pickle.dumps(source.anew), source.version, fetched), pickle.HIGHEST_PROTOCOL)
        except UNPICKLED:
            return None  # made of something that only this process has
        self._process = self._process or _started()
        if self._process is None:
            return None
        if self._closed:  # just when it was started
            self.kill()
        try:
            _send(self._process.stdin, asked)
            found: Reading | None = pickle.loads(_received(self._process.stdout))  # noqa: S301 - from our own process
        except (OSError, EOFError) as error:
            self.end()
            raise Died(f"the process that reads large pages died: {error!r}") from error
        return found

    def kill(self) -> None:
        """End it whatever it does; whoever waits for it is told that it died."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End it, and every one that would be started."""
        self._closed = True
        self.kill()

    def end(self) -> None:
        """Let it go."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _started() -> subprocess.Popen[bytes] | None:
    # -P: what lies in the folder that we happen to be in is not imported, as it is not by us.
    argv = (sys.executable, "-P", "-m", __name__)
    try:
        with cores.everywhere():
            return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - ourselves
    except OSError:
        return None  # no more processes, or no memory for one


def _send(pipe: IO[bytes] | None, packed: bytes) -> None:
    assert pipe is not None
    pipe.write(len(packed).to_bytes(LENGTH, "big"))
    pipe.write(packed)
    pipe.flush()


def _received(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    return _exactly(pipe, int.from_bytes(_exactly(pipe, LENGTH), "big"))


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError("it has no more to say")
    return found


# --- the process ------------------------------------------------------------------------------------------------------


def serve(asked: IO[bytes], told: IO[bytes]) -> None:
    """Read page after page until nobody asks any more."""
    made: dict[bytes, Source] = {}
    with suppress(EOFError, BrokenPipeError):
        while True:
            _send(told, _answered(made, _received(asked)))


def _answered(made: dict[bytes, Source], asked: bytes) -> bytes:
    """A reading; nothing where whoever asks must read the page himself: he then sees what is wrong as it is."""
    try:
        anew, version, fetched = pickle.loads(asked)  # noqa: S301 - from who started us
        if anew not in made:
            made[anew] = pickle.loads(anew)()  # noqa: S301
        source = made[anew]
        return pickle.dumps(read(source, fetched) if source.version == version else None, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return pickle.dumps(None)


def main() -> None:
    """Serve whoever started us."""
    for asked in (signal.SIGINT, signal.SIGTERM):  # they reach us too, and what is running is finished first
        signal.signal(asked, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICE)
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a shop's own code prints must not stand among our words
    gc.set_threshold(YOUNG)
    serve(sys.stdin.buffer, told)


if __name__ == "__main__":
    main()
