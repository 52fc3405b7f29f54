"""The how-to "Add a shop in ten minutes", followed as a new user would: every command of it is run."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from bobusang.entry.cli import main
from tests.e2e.program import Done, Running, up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.xdist_group("e2e-shop-tools")

HOW_TO = (Path(__file__).parents[2] / "docs" / "how-to" / "add-a-shop.md").read_text("utf-8")
FAILS = "# fails"


def blocks(kind: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", HOW_TO, re.DOTALL | re.MULTILINE)
    return [text for found, text in fenced if found == kind]


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("bobusang ")]
PROPOSED, SHOP = blocks("yaml")
PLACE = "http://127.0.0.1:8600"
STAYING = [line for block in blocks("") for line in block.splitlines()]


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[str]:
    """On a free port; the how-to's is 8600."""
    found = Running("sandbox", "--port", "0", "--size", "400", "--json", cwd=tmp_path)
    try:
        yield re.findall(r'"url": "([^"]+)"', found.read_line())[0]
    finally:
        found.close()


@pytest.fixture
def run(
    tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], Done]:
    """Run a line in the user's folder; in this process, because a new one costs more than most of the commands."""
    for name in os.environ:
        if name.startswith(("BOBUSANG_", "LC_", "LANG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("BOBUSANG_SANDBOX_URL", sandbox)
    monkeypatch.setenv("BOBUSANG_SHOPS", "shops")
    monkeypatch.chdir(tmp_path)

    def work(line: str) -> Done:
        capsys.readouterr()
        code = main(shlex.split(line, comments=True)[1:])
        return Done(code, *capsys.readouterr())

    return work


def test_every_command_of_the_how_to_does_what_it_says(
    tmp_path: Path, sandbox: str, run: Callable[[str], Done]
) -> None:
    assert blocks("sh")[0].splitlines()[:2] == [
        "export BOBUSANG_SANDBOX_URL=http://127.0.0.1:8600",
        "export BOBUSANG_SHOPS=shops",
    ]
    assert STAYING == ["bobusang sandbox --size 400", "bobusang up"]
    file = tmp_path / "shops" / "corner" / "shop.yaml"
    done: dict[str, Done] = {}

    def follow(commands: list[str]) -> None:
        for line in commands:
            done[line] = run(line.replace(PLACE, sandbox))
            assert (line, done[line].code) == (line, 1 if FAILS in line else 0), done[line].out + done[line].err

    written, collecting, mended = (
        COMMANDS.index(next(line for line in COMMANDS if line.startswith(f"bobusang {start}")))
        for start in ("source check corner", "collect full", "source replay")
    )
    follow(COMMANDS[:written])
    made = (tmp_path / "shops" / "boutique" / "shop.yaml").read_text("utf-8").splitlines()
    assert [line for line in made if not line.startswith("#")] == [
        line.replace(PLACE, sandbox).replace(PLACE[7:], sandbox[7:]) for line in PROPOSED.splitlines()
    ]
    file.write_text(SHOP.replace(PLACE, sandbox), "utf-8")
    follow(COMMANDS[written:collecting])
    with up(tmp_path, BOBUSANG_SANDBOX_URL=sandbox, BOBUSANG_SHOPS="shops"):
        follow(COMMANDS[collecting:mended])
        old, new = re.findall(r"Change `([^`]+)` to `([^`]+)`", HOW_TO)[0]
        assert old in SHOP
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
        follow(COMMANDS[mended:])

    tried = done["bobusang source try corner list --limit 3"]
    assert tried.out.splitlines()[0] == "key\tname\tprice\tcurrency"
    assert [line.split("\t")[0] for line in tried.out.splitlines()[1:]] == ["1", "2", "3"]
    assert "page 1 lists 200 of 400, and the list goes on" in tried.err
    whole = done["bobusang source try boutique list --target category:24 --limit 3"].err
    assert re.search(r"page 1 lists (\d+) of \1; an empty page behind it would prove that these are all", whole)
    runs = run("bobusang collect runs --source corner --json").document["items"]
    assert [(run["state"], run["listed"], run["new"]) for run in runs] == [("PROVED", 400, 400)]
    runs = run("bobusang collect runs --source boutique --json").document["items"]
    assert [(run["state"], run["listed"] == run["new"] == run["total"] > 10) for run in runs] == [("PROVED", True)]
    assert done["bobusang source replay corner"].out.splitlines()[-1] == "name\tcontent\t400\t0"


def test_a_host_that_has_stopped_us_is_not_asked_for_a_new_shop(
    tmp_path: Path, sandbox: str, run: Callable[[str], Done]
) -> None:
    page = f"{sandbox}/okmall/products/list?brand=%EB%82%98%EC%9D%B4%ED%82%A4(NIKE)&page=1"
    wall = {"mall": "okmall", "endpoint": "list", "kind": "http_403", "count": 1}
    (tmp_path / "shops").mkdir()
    assert run("bobusang db upgrade").code == 0
    told = Request(f"{sandbox}/admin/faults", json.dumps(wall).encode(), {"content-type": "application/json"})
    with urlopen(told, timeout=10) as answer:
        assert answer.status in (200, 201)
    stopped = run("bobusang source try okmall list --target 'brand:나이키(NIKE)'")
    with urlopen(f"{sandbox}/admin/log?mall=okmall&limit=1000", timeout=10) as answer:
        before = answer.read()

    refused = run(f"bobusang source new '{page}' --name another")
    with urlopen(f"{sandbox}/admin/log?mall=okmall&limit=1000", timeout=10) as answer:
        after = answer.read()

    assert (stopped.code, "source resume okmall" in stopped.err) == (1, True), stopped.err
    assert refused.code == 4
    assert "has stopped the source okmall, so nothing more is asked of it" in refused.err
    assert after == before
