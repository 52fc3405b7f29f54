from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import structlog

from bobusang.kit import log as logs
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator


LIBRARIES = ("uvicorn", "uvicorn.error", "httpx")


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """A server in this process may have turned uvicorn's loggers away from the root before; nor do we leave a trace."""
    kept = [(one, one.handlers[:], one.level, one.propagate, one.disabled) for one in map(logging.getLogger, LIBRARIES)]
    for one, *_ in kept:
        one.handlers, one.propagate, one.disabled = [], True, False
        one.setLevel(logging.NOTSET)
    root, disabled = logging.getLogger(), logging.root.manager.disable
    handlers, level = root.handlers[:], root.level
    logging.disable(logging.NOTSET)
    yield
    logging.disable(disabled)
    root.handlers[:] = handlers
    root.setLevel(level)
    for one, found, strictness, propagate, is_disabled in kept:
        one.handlers, one.propagate, one.disabled = found, propagate, is_disabled
        one.setLevel(strictness)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def lines() -> io.StringIO:
    stream = io.StringIO()
    logs.configure(stream=stream)
    return stream


def read(stream: io.StringIO) -> list[dict[str, object]]:
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    for entry in found:
        assert str(entry.pop("timestamp")).endswith("Z")
    return found


def test_a_line_is_json_when_nobody_watches(lines: io.StringIO) -> None:
    logs.get("bobusang.engine").info("batch finished", rows=500, brand="노스페이스\n")
    assert read(lines) == [
        {"event": "batch finished", "level": "info", "logger": "bobusang.engine", "rows": 500, "brand": "노스페이스\n"}
    ]


def test_libraries_are_heard_through_the_same_door(lines: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").warning("started at %s", "http://a:pw@b")
    assert read(lines) == [{"event": "started at http://a:***@b", "level": "warning", "logger": "uvicorn.error"}]


def test_no_secret_is_written(lines: io.StringIO) -> None:
    log = logs.get("x")
    log.info("login", password="hunter2", headers={"Cookie": "hunter2"}, url="redis://:hunter2@h", token=7)
    try:
        raise ValueError("postgresql://app:hunter2@db refused")
    except ValueError:
        log.exception("failed", secret="hunter2")
    assert "hunter2" not in lines.getvalue()
    first, second = read(lines)
    assert (first["password"], first["token"]) == ("***", 7)
    assert "ValueError: postgresql://app:***@db refused" in str(second["exception"])


def test_the_address_of_a_webhook_is_not_told_by_the_http_library(lines: io.StringIO) -> None:
    logging.getLogger("httpx").info("HTTP Request: POST http://internal/services/verysecret")
    assert lines.getvalue() == ""


def test_the_level_is_kept(lines: io.StringIO) -> None:
    logs.configure("warning", stream=lines)
    logs.get("x").info("quiet")
    logs.get("x").warning("loud")
    assert [entry["event"] for entry in read(lines)] == ["loud"]


def test_configuring_again_replaces_and_does_not_double(lines: io.StringIO) -> None:
    again = io.StringIO()
    logs.configure(stream=again)
    logs.get("x").info("once")
    assert lines.getvalue() == ""
    assert len(read(again)) == 1


def test_a_person_gets_words_and_plain_tracebacks() -> None:
    stream = io.StringIO()
    logs.configure(format="pretty", stream=stream)
    local_secret = "hunter2"
    try:
        raise ValueError(len(local_secret))
    except ValueError:
        logs.get("x").exception("수집 실패", mall="okmall")
    assert "수집 실패" in stream.getvalue()
    assert "mall=okmall" in stream.getvalue()
    assert "ValueError: 7" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()


def test_context_is_on_every_line(lines: io.StringIO) -> None:
    structlog.contextvars.bind_contextvars(job=7)
    logs.get("x").info("a")
    assert read(lines)[0]["job"] == 7


def test_a_broken_text_breaks_no_line(lines: io.StringIO) -> None:
    logs.get("x").info("lone \udcff", value="\udcff\0", thing=object)
    assert len(read(lines)) == 1


@pytest.mark.parametrize(("level", "format", "field"), [("LOUD", "auto", "log_level"), ("INFO", "xml", "log_format")])
def test_a_wrong_setting_is_named(level: str, format: str, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        logs.configure(level, format)
    assert caught.value.field == field


def test_importing_it_loads_no_structlog_and_an_unconfigured_line_goes_to_stderr() -> None:
    program = (
        "import sys; from bobusang.kit import log; found = log.get('x'); assert 'structlog' not in sys.modules; "
        "found.info('hello')"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == ""
    assert json.loads(ended.stderr)["event"] == "hello"
