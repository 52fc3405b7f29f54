"""Memory that is free but still counted as ours."""

from __future__ import annotations

import ctypes

M_ARENA_MAX = -8
"""What glibc's `mallopt` calls the number of its arenas."""
ARENAS = 2


def few_arenas() -> None:
    """Let all threads allocate from two arenas, where the C library (glibc) would make one for each thread, up to eight
    a core, and keep in each what was once needed there. Python runs one thread at a time, so that hardly any waits."""
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:
        adjust(M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Give the system what was freed, where the C library (glibc) would keep it for later."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
