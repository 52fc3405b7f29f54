"""What `bobusang up` and `bobusang worker` do to their own process, for benchmarks that are one."""

from __future__ import annotations

import gc
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bobusang.entry.cli.process import MIDDLE, OLD, SWITCH_SECONDS, YOUNG
from bobusang.kit import cores, memory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def staying() -> AsyncIterator[None]:
    """From when all is imported and built."""
    sys.setswitchinterval(SWITCH_SECONDS)
    memory.settle()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    async with cores.one():
        yield
