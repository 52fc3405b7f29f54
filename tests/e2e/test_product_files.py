"""Products in and out of a folder's own database: a file is read and written part by part."""

from __future__ import annotations

import asyncio
import io
import json
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.cli import main
from bobusang.entry.cli.client import Client
from bobusang.entry.cli.options import Options
from bobusang.kit import log
from bobusang.settings import load
from bobusang.wiring import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2_500


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)

    async def make() -> None:
        async with opened(load({}, home=str(tmp_path))):
            pass

    log.configure("CRITICAL")
    asyncio.run(make())
    yield tmp_path
    log.configure()


class Sink(io.BytesIO):
    """A file that knows how much came at once."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def write(self, part: bytes) -> int:  # type: ignore[override]
        self.lines.append(part.count(b"\n"))
        return super().write(part)


def test_products_go_in_and_come_out_a_part_at_a_time(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [{"mall": "okmall", "product_id": f"{n:04}", "name": f"패딩 {n}"} for n in range(COUNT)]
    (home / "in.ndjson").write_text("".join(json.dumps(one) + "\n" for one in said), "utf-8")
    assert main(["product", "import", "in.ndjson", "--home", str(home)]) == 0
    assert capsys.readouterr().out == "2500 new, 0 changed, 0 the same, 0 failed\n"
    assert main(["product", "export", "--to", "out.csv", "--home", str(home)]) == 0
    assert main(["product", "import", "out.csv", "--home", str(home)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 new, 0 changed, 2500 the same, 0 failed"

    sink, client = Sink(), Client(Options(home=str(home)))
    try:
        size = client.save("/products/export", sink, format="ndjson")
    finally:
        client.close()

    found = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert [{name: one[name] for name in said[0]} for one in found] == said
    assert (sink.lines, size) == ([1_000, 1_000, 500], len(sink.getvalue()))
