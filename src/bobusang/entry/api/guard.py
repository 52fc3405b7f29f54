"""What surrounds every request: an id, a bound on its body, safe headers, one log line, and a last catch."""

from __future__ import annotations

import random
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import structlog
from starlette.exceptions import HTTPException

from bobusang.entry.api import problems
from bobusang.kit import log
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bobusang.entry.api.metrics import Metrics
    from bobusang.stages.collect.manners import Manners

LARGEST_BODY = 2 * 1024 * 1024
LARGER = {"/products/bulk": 64 * 1024 * 1024}
"""Bodies that are read line by line, and never held as a whole."""
LARGEST_FILE = 65 * 1024 * 1024
"""A supplier's file, with what a form puts around it; whoever may not send one is refused before it is read."""
QUIET = ("/health", "/metrics", "/media", "/ui/static")
"""Asked every few seconds by machines; not worth a line each."""
WELCOME = "/ui/welcome/"
"""What stands behind it opens the door."""
DOCUMENTED = ("/docs", "/redoc")
"""Pages that load their scripts from elsewhere."""

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")

_FILES = re.compile(r"(?:/ui)?/suppliers/[^/]+/files")
_FORM = re.compile(r"/ui/suppliers/[^/]+/files")
"""A form with a file: the screen refuses what is too large itself, on the page that it came from."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_log = log.get("api")


class Guard:
    """The outermost layer: nothing that happens inside leaves without a status, headers and a log line."""

    def __init__(self, app: ASGIApp, metrics: Metrics, manners: Manners) -> None:
        self._app = app
        self._metrics = metrics
        self._manners = manners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._manners.called()
        headers = dict(scope["headers"])
        scope["request_id"] = request_id = _request_id(headers)
        began, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(message, scope["path"], request_id)
            await send(message)

        bound = structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            refused = _refused(scope, headers, request_id)
            if refused is not None:
                await refused(scope, receive, answer)
            else:
                await self._app(scope, _bounded(receive, _most(scope)), answer)
        except Exception:
            _log.exception("request failed", method=scope["method"], path=_shown(scope["path"]))
            if status:
                raise
            await _failed(request_id)(scope, receive, answer)
        finally:
            self._note(scope, status, time.perf_counter() - began)
            structlog.contextvars.reset_contextvars(**bound)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "unknown"
        self._metrics.seen(scope["method"], route, status, seconds)
        say = _log.debug if scope["path"].startswith(QUIET) else _log.info
        say(
            "request",
            method=scope["method"],
            path=_shown(scope["path"]),
            status=status,
            ms=round(seconds * 1000, 1),
            actor=scope.get("actor"),
        )


def _shown(path: str) -> str:
    """A path as it may be logged: who has a one-time link can use it."""
    return f"{WELCOME}…" if path.startswith(WELCOME) else path


def _request_id(headers: Mapping[bytes, bytes]) -> str:
    """The caller's own, if it is a sane one."""
    given = headers.get(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode("ascii")
    return f"{random.getrandbits(128):032x}"


def _dress(message: Message, path: str, request_id: str) -> None:
    has = {name for name, _ in message["headers"]}
    ours = HEADERS if path.startswith(DOCUMENTED) else (*HEADERS, POLICY)
    worn = [header for header in ours if header[0] not in has]
    message["headers"] = [*message["headers"], *worn, (b"x-request-id", request_id.encode())]


def _refused(scope: Scope, headers: Mapping[bytes, bytes], request_id: str) -> Response | None:
    """What can be refused before anything of the body is read."""
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > _most(scope) and not _FORM.fullmatch(scope["path"]):
        return problems.of_error(_too_large(_most(scope)), request_id)
    if "\0" in scope["path"]:
        return problems.of_error(Invalid("the path contains a NUL character", field="path"), request_id)
    if b"%00" in scope["query_string"]:
        for name, value in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True):
            if "\0" in name or "\0" in value:
                field = name.replace("\0", "")
                return problems.of_error(Invalid(f"{field} contains a NUL character", field=field), request_id)
    return None


def _most(scope: Scope) -> int:
    path = scope["path"]
    return LARGEST_FILE if _FILES.fullmatch(path) else LARGER.get(path, LARGEST_BODY)


def _too_large(most: int) -> problems.TooLarge:
    hint = "send several smaller files" if most > LARGEST_BODY else "store large data elsewhere and pass its address"
    return problems.TooLarge(f"the body has more than {most:,} bytes", hint=hint)


def _bounded(receive: Receive, most: int) -> Receive:
    """Stop reading a body that does not say how long it is, once it is too long."""
    seen = 0

    async def next_part() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                # FastAPI lets only this kind of error through while it reads a body.
                raise HTTPException(413, _too_large(most).message)
        return message

    return next_part


def _failed(request_id: str) -> Response:
    return problems.problem(
        500,
        "error",
        "the program failed",
        hint="the log has a line with this request id",
        request_id=request_id,
    )
