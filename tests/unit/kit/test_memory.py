"""Memory: what threads once needed is shared by all, and what a page needed stays for the next."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

THREADS = """
import ctypes, threading
from bobusang.kit.memory import give_back, settle

settle()
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


PAGES = """
import resource
from bobusang.kit.memory import settle

settle()

def page():
    return [bytearray(b"x" * 4000) for _ in range(1000)]

page()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    page()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library than glibc")
def test_the_memory_of_a_page_is_there_for_the_next() -> None:
    told = subprocess.run([sys.executable, "-c", PAGES], check=True, capture_output=True, text=True).stdout

    assert int(told) < 1000  # 20,000 where it was given back and asked for again
