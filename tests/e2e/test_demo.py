"""`bobusang demo` as a stranger runs it first: from two malls to a market, then only the differences, then again."""

from __future__ import annotations

import re
import shlex
import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import Done, Running, bobusang, patiently, until

if TYPE_CHECKING:
    from pathlib import Path

SIZE = "40"
PATIENCE = 190.0
pytestmark = pytest.mark.timeout(2 * PATIENCE + 20)


def counts(found: Done) -> dict[str, int]:
    """The summary of the FULL run."""
    part = found.out.split("# FULL ")[1].split("#")[0]
    return {name: int(number) for name, number in re.findall(r"^([a-z ]+)\t(\d+)$", part, re.MULTILINE)}


def test_a_stranger_runs_the_demo_tries_what_it_suggests_and_runs_it_again(tmp_path: Path) -> None:
    """One test of several parts, because each needs what the one before left in the folder."""
    first = patiently(PATIENCE, "demo", "--size", SIZE, cwd=tmp_path)
    assert first.code == 0, first
    told = counts(first)
    assert list(told) == [
        *("pages read", "collected", "converted", "pictured", "priced", "registered", "confirmed live")
    ]
    assert 40 < told["confirmed live"] == told["registered"] <= told["priced"] <= told["pictured"] <= told["converted"]
    assert told["converted"] < told["collected"]
    assert re.search(r"# held for a person\nwhy\tproducts\ncategory_\w+\t\d+\n", first.out)
    waiting = re.search(r"# converted, but not on sale\nwhy\tproducts\nsource_sold_out\t(\d+)\n", first.out)
    assert waiting, first.out
    assert int(waiting[1]) == told["priced"] - told["registered"]
    assert re.search(r"\n\$ bobusang price explain .+?\nreason\tundercut\n", first.out, re.DOTALL), (
        "a price that answers nobody"
    )
    assert "\ncomplete: what the market has is what was sent\n" in first.err
    assert re.search(r"# PARTIAL \d{8}_02: COMPLETED", first.out)
    assert "CREATE" not in first.out.split("# PARTIAL ")[1]
    _its_commands_work(first.out, tmp_path)

    second = patiently(PATIENCE, "demo", cwd=tmp_path)
    assert second.code == 0, second
    assert "going on with what is in this folder" in second.err
    assert re.search(r"# FULL \d{8}_03: COMPLETED", second.out)
    assert counts(second)["registered"] < told["registered"] // 2, "what was listed was sent again"


def _its_commands_work(printed: str, folder: Path) -> None:
    lines = [shlex.split(line)[1:] for line in re.findall(r"^  (bobusang .+)$", printed, re.MULTILINE)]
    batch, listing, held = (bobusang(*line, cwd=folder) for line in lines)

    assert (batch.code, listing.code, held.code) == (0, 0, 0), (batch, listing, held)
    assert re.search(r"^batch_id\t\d{8}_02$", batch.out, re.MULTILINE)
    assert "LIVE" in listing.out
    assert "category_" in held.out


def test_a_demo_that_is_interrupted_says_how_to_go_on_and_does(tmp_path: Path) -> None:
    program = Running("demo", "--size", SIZE, cwd=tmp_path)
    try:
        until(lambda: "FULL: batch" in program.said() or program.process.poll() is not None, "a batch")
        program.process.send_signal(signal.SIGINT)
        assert program.ended() == 130, program.said()
        assert "stopped; nothing is lost: `bobusang demo` goes on with it" in program.said()
    finally:
        program.close()

    again = patiently(PATIENCE, "demo", cwd=tmp_path)
    assert again.code == 0, again
    assert re.search(r"FULL: going on with batch \d{8}_01|FULL: batch \d{8}_0\d of 10 brands", again.err), again.err
    assert counts(again)["confirmed live"] > 40
