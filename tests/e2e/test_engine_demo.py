"""`bobusang demo --engine`: its numbers, its exit code, and the commands it ends with."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.e2e.program import COMMAND, Running, bobusang, environment, until

if TYPE_CHECKING:
    from pathlib import Path

STEPS = {
    "fetch": (501, 501, 0, 25),
    "parse": (500, 499, 1, 0),
    "count": (499, 499, 0, 0),
    "store": (499, 499, 0, 0),
    "report": (1, 1, 0, 0),
}


def test_the_engine_alone_runs_suggests_commands_that_work_and_goes_on(tmp_path: Path) -> None:
    """One test of three parts, because each needs what the one before left in the folder."""
    first = bobusang("demo", "--engine", cwd=tmp_path)
    assert first.code == 0, first
    _prints_what_happened(first.out)
    _ends_with_commands_that_work(first.out, tmp_path)
    _goes_on_in_the_same_folder_with_bars_on_a_terminal(tmp_path)


def _prints_what_happened(printed: str) -> None:
    rows = dict(re.findall(r"^(\w+)\t[A-Z]+\t(\d+\t\d+\t\d+\t\d+)$", printed, re.MULTILINE))

    assert {name: tuple(int(number) for number in row.split("\t")) for name, row in rows.items()} == STEPS
    assert re.search(r"\njob 1 ended with SUCCESS: 2,000 tasks in [\d.]+ s, [\d,]+ tasks/s, 25 retries\n", printed)
    assert re.search(r"\ndead letter: task \d+, INVALID: /pages/137 breaks off after \d+ characters", printed)


def _ends_with_commands_that_work(printed: str, folder: Path) -> None:
    job, letter, up = (shlex.split(line)[1:] for line in re.findall(r"^  (bobusang .+)$", printed, re.MULTILINE))

    assert "SUCCESS" in bobusang(*job, cwd=folder).out
    assert "/pages/137 breaks off" in bobusang(*letter, cwd=folder).out
    program = Running(*up, cwd=folder, BOBUSANG_PORT="0")
    try:
        until(lambda: "is ready" in program.said() or program.process.poll() is not None, "a ready program")
        program.interrupt()
        assert program.ended() == 0
    finally:
        program.close()


def _goes_on_in_the_same_folder_with_bars_on_a_terminal(folder: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "demo", "--engine", "--pages", "150"],
        cwd=folder,
        env=environment(TERM="xterm", COLUMNS="120"),
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    with suppress(OSError):  # Linux says so when the last one has closed the other end
        while part := os.read(master, 65536):
            seen += part
    os.close(master)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())

    assert process.wait(60) == 0, text
    assert re.search(r"fetch +━+ +151/151", text)
    assert "job 2 ended with SUCCESS" in text
