"""An API that answers what it was told to, over real HTTP, and remembers what it was asked."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    token: str | None


@dataclass
class Stub:
    """Answers by method and path; a list of answers is used up one by one, the last one stays."""

    answers: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    was_asked: threading.Event = field(default_factory=threading.Event)

    def on(self, route: str, *answers: Any, status: int = 200) -> None:
        """`stub.on("GET /jobs/7", {...})`."""
        self.answers[route] = [(status, answer) for answer in answers]

    def problem(self, route: str, status: int, code: str, detail: str, **more: Any) -> None:
        """Answer with a problem document."""
        self.on(route, {"status": status, "code": code, "title": "no", "detail": detail, **more}, status=status)

    def next_answer(self, route: str) -> tuple[int, Any]:
        known = self.answers.get(route)
        if known is None:
            return 404, {"code": "missing", "detail": f"the stub has no {route}"}
        return known.pop(0) if len(known) > 1 else known[0]


class Server(ThreadingHTTPServer):
    """Says nothing of a client that hung up in the middle, as one does that is interrupted."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            text = self.rfile.read(int(self.headers.get("content-length") or 0))
            kind = self.headers.get("content-type") or ""
            body = json.loads(text) if text and "/json" in kind else text.decode() or None
            token = self.headers.get("authorization")
            stub.asked.append(Asked(self.command, parts.path, parse_qs(parts.query), body, token))
            stub.was_asked.set()
            status, document = stub.next_answer(f"{self.command} {parts.path}")
            content = document.encode() if isinstance(document, str) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
