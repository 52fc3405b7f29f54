"""Upgrading in a process of its own, while the one that waits for it loads the rest of the program: what Alembic takes
goes with it."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process

from bobusang.migrations import begun, upgrade


async def begin(url: str) -> Process | None:
    """Begin to upgrade, if there is anything to do. Whoever waits for its end upgrades himself, which tells what was
    wrong if something was, and otherwise costs nothing."""
    if (await begun(url)).is_current:
        return None
    argv = (sys.executable, "-m", __name__)
    process = await asyncio.create_subprocess_exec(*argv, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL)
    assert process.stdin is not None
    process.stdin.write(url.encode())  # not as an argument: everybody sees those, and it has the password
    process.stdin.close()
    return process


if __name__ == "__main__":
    asyncio.run(upgrade(sys.stdin.read()))
