"""Memory: what threads once needed is shared by all."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

THREADS = """
import ctypes, threading
from bobusang.kit.memory import few_arenas, give_back

few_arenas()
together = threading.Barrier(8)

def work():
    together.wait()
    kept = [bytes(2000) for _ in range(100)]
    together.wait()
    return kept

threads = [threading.Thread(target=work) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
give_back()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="another C library than glibc")
def test_eight_threads_share_two_arenas() -> None:
    told = subprocess.run([sys.executable, "-c", THREADS], check=True, capture_output=True, text=True).stdout

    assert told.count("<heap nr=") == 2
