"""Memory that is free but still counted as ours."""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""What glibc's `mallopt` calls these."""
ARENAS = 2
SPARE = 16 << 20
"""Bytes at the end of an arena that are kept for the next page."""
LARGE = 4 << 20
"""Bytes from which memory is the system's own, given back as soon as it is free."""


def settle() -> None:
    """Let all threads allocate from two arenas, where the C library (glibc) would make one for each thread, up to eight
    a core, and keep in each what was once needed there. Python runs one thread at a time, so that hardly any waits.

    And let what a page needed stay for the next one: given back and asked for again it costs a tenth of the reading.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:
        adjust(M_ARENA_MAX, ARENAS)
        adjust(M_TRIM_THRESHOLD, SPARE)
        adjust(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Give the system what was freed, where the C library (glibc) would keep it for later."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
