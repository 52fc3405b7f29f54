"""Structured logs to stderr: JSON lines for machines, colours for a person; never a secret.

`get` is cheap and may stand at the top of any module: structlog is loaded by the first line that is written.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    import logging
    from collections.abc import MutableMapping
    from typing import TextIO

    from structlog.stdlib import BoundLogger
    from structlog.typing import Processor

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FORMATS = ("auto", "json", "pretty")
QUIET = ("httpx", "httpcore", "asyncio", "aiosqlite", "alembic.runtime.plugins")
"""Libraries that tell at INFO what only we may know, such as the full address of a webhook."""


class Lazy:
    """A logger that becomes real when it is first used."""

    __slots__ = ("_logger", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._logger: Any = None

    def __getattr__(self, attribute: str) -> Any:
        if self._logger is None:
            import structlog

            if not structlog.is_configured():
                configure()
            self._logger = structlog.stdlib.get_logger(self._name)
        return getattr(self._logger, attribute)


def get(name: str) -> BoundLogger:
    """The logger of a module: `log.info("batch finished", job=7, rows=500)`."""
    return cast("BoundLogger", Lazy(name))


def configure(level: str = "INFO", format: str = "auto", stream: TextIO | None = None) -> None:
    """Send our own lines and those of all libraries to one place; called once, at the door."""
    if level.upper() not in LEVELS:
        raise Invalid(f"'{level}' is no log level", hint=f"use one of {', '.join(LEVELS)}", field="log_level")
    if format not in FORMATS:
        raise Invalid(f"'{format}' is no log format", hint=f"use one of {', '.join(FORMATS)}", field="log_format")
    import logging

    stream = stream or sys.stderr
    pretty = format == "pretty" or (format == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_formatter(pretty=pretty, colours=stream.isatty()))
    root = logging.getLogger()
    for old in [old for old in root.handlers if getattr(old, "bobusang", False)]:
        root.removeHandler(old)
    handler.bobusang = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(capture=True)


def _formatter(*, pretty: bool, colours: bool) -> logging.Formatter:
    import structlog

    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    renderer: Processor = structlog.processors.JSONRenderer(serializer=_serialize)
    if pretty:
        # Plain tracebacks: rich ones print local variables, and with them secrets.
        plain = structlog.dev.plain_traceback
        renderer = structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=before,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _redacted,
            renderer,
        ],
    )


def _redacted(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    from bobusang.kit.redact import redact

    return cast("dict[str, Any]", redact(entry))


def _serialize(entry: object, **_: Any) -> str:
    import json

    # A lone surrogate, as a broken page may hold one, would break the stream instead of the line.
    return json.dumps(entry, ensure_ascii=False).encode(errors="backslashreplace").decode()
