"""Secrets by reference: found, or refused without a word of what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Missing
from bobusang.platform.secrets import secret

if TYPE_CHECKING:
    from pathlib import Path


def test_a_secret_is_in_the_environment_or_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUYMA_TOKEN", "from the environment")
    (tmp_path / "token").write_text("from a file\n")

    assert secret("env:BUYMA_TOKEN") == "from the environment"
    assert secret(f"file:{tmp_path / 'token'}") == "from a file"


@pytest.mark.parametrize("ref", ["env:NO_SUCH_VARIABLE", "file:/no/such/file", "file:/", "env:EMPTY"])
def test_what_is_not_there_is_named(ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY", " \n")
    with pytest.raises(Missing, match=ref) as refused:
        secret(ref)
    assert refused.value.hint


@pytest.mark.parametrize("ref", ["", "env:", "file:", "s3cr3t-t0ken", "vault:thing", "s3cr3t:t0ken"])
def test_what_is_no_reference_may_be_the_secret_itself_and_is_not_repeated(ref: str) -> None:
    with pytest.raises(Missing, match="does not say where a secret is") as refused:
        secret(ref)
    assert "t0ken" not in str(refused.value)


def test_bytes_that_are_no_text_are_no_secret(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    with pytest.raises(Missing):
        secret(f"file:{tmp_path / 'token'}")
