"""Structured logs to stderr: JSON lines for machines, colours for a person; never a secret.

`get` is cheap and may stand at the top of any module: structlog is loaded by the first line that is written. Our own
lines go straight to the stream, those of libraries through `logging`, which costs three times as much; both look alike.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    import logging
    from collections.abc import MutableMapping
    from typing import TextIO

    from structlog.typing import FilteringBoundLogger, Processor

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FORMATS = ("auto", "json", "pretty")
QUIET = (
    *("httpx", "httpcore", "httpx2", "httpcore2", "openai", "anthropic"),
    *("asyncio", "aiosqlite", "alembic.runtime.plugins"),
)
"""Libraries that tell at INFO what only we may know, such as the full address of a webhook."""


class Lazy:
    """A logger that becomes real when it is first used."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(_bound(self._name), attribute)


class Out:
    """Where our lines go, whole and one after the other; nothing fails because a line cannot be written."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, line: str) -> None:
        stream = self._stream or sys.stderr
        with self._lock:
            try:
                stream.write(f"{line}\n")
                stream.flush()
            except (OSError, ValueError):  # closed, or nobody reads it any more
                pass

    debug = info = warning = error = critical = write


def get(name: str) -> FilteringBoundLogger:
    """The logger of a module: `log.info("batch finished", job=7, rows=500)`."""
    return cast("FilteringBoundLogger", Lazy(name))


@cache
def _bound(name: str) -> FilteringBoundLogger:
    import structlog

    if not structlog.is_configured():
        configure()
    found: FilteringBoundLogger = structlog.get_logger().bind(logger=name)
    return found


def configure(level: str = "INFO", format: str = "auto", stream: TextIO | None = None) -> None:
    """Send our own lines and those of all libraries to one place; called once, at the door."""
    if level.upper() not in LEVELS:
        raise Invalid(f"'{level}' is no log level", hint=f"use one of {', '.join(LEVELS)}", field="log_level")
    if format not in FORMATS:
        raise Invalid(f"'{format}' is no log format", hint=f"use one of {', '.join(FORMATS)}", field="log_format")
    import logging

    import structlog

    watched = (stream or sys.stderr).isatty()
    before, after = _processors(pretty=format == "pretty" or (format == "auto" and watched), colours=watched)
    out = Out(stream)
    structlog.configure(
        processors=[*before, *after],
        logger_factory=lambda: out,
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    _bound.cache_clear()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_of_libraries(before, after))
    root = logging.getLogger()
    for old in [old for old in root.handlers if getattr(old, "bobusang", False)]:
        root.removeHandler(old)
    handler.bobusang = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(level.upper())
    quieten()
    logging.captureWarnings(capture=True)


def quieten() -> None:
    """Said again after a library was loaded that sets its own level."""
    import logging

    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def _processors(*, pretty: bool, colours: bool) -> tuple[list[Processor], list[Processor]]:
    """What gathers a line, and what makes a text of it."""
    import structlog

    renderer: Processor = _json
    if pretty:
        # Plain tracebacks: rich ones print local variables, and with them secrets.
        plain = structlog.dev.plain_traceback
        renderer = structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.StackInfoRenderer(),
    ]
    after: list[Processor] = [
        structlog.processors.format_exc_info,
        _redacted,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        renderer,
    ]
    return before, after


def _of_libraries(before: list[Processor], after: list[Processor]) -> logging.Formatter:
    """What makes the lines of libraries look like ours."""
    import structlog

    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *before],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *after],
    )


def _redacted(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    from bobusang.kit.redact import redact

    return cast("dict[str, Any]", redact(entry))


def _json(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> str:
    import msgspec

    try:
        return msgspec.json.encode(entry).decode()
    except (ValueError, OverflowError):
        import json

        # A lone surrogate, as a broken page may hold one, would break the stream instead of the line.
        return json.dumps(entry, ensure_ascii=False).encode(errors="backslashreplace").decode()
