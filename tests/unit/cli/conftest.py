"""A command run in this process against a stub of the API."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.entry.cli import main
from tests.unit.cli.stub import Stub, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as found:
        yield found


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a line in an empty folder with no variables of ours."""
    for name in os.environ:
        if name.startswith(("BOBUSANG_", "LC_", "LANG", "NO_COLOR")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def run(*line: str) -> Result:
        capsys.readouterr()
        code = main(line)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture
def run(bare: Callable[..., Result], stub: Stub) -> Callable[..., Result]:
    """Run a line against the stub."""
    return lambda *line: bare("--url", stub.url, *line)
