"""The program that dies while it puts blobs: `python -m tests.integration.platform.putting FOLDER [LARGEST]`.

A test kills it, or the system does, in the middle of a file, when the file outgrows LARGEST bytes.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import sys
from itertools import count
from pathlib import Path

from bobusang.platform.blobs.files import FileBlobs


async def put_for_ever(folder: Path) -> None:
    """Batches of pages of all sizes; an address is told once it is kept."""
    blobs = FileBlobs(folder)
    for number in count():
        chance = random.Random(f"{os.getpid()} {number}")
        pages = [(chance.randbytes(chance.randrange(300_000)), "image/jpeg") for _ in range(5)]
        print(*await blobs.put_many(pages), sep="\n", flush=True)


def die_at(size: int) -> None:
    """Let the system end this process when a file outgrows the size: Python would rather raise."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        die_at(int(sys.argv[2]))
    asyncio.run(put_for_ever(Path(sys.argv[1])))
