"""A web site whose pages answer when the test lets them, so that a job is in the middle of things when it must be."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.program import Up

PAGE = "<html><h1>A page</h1><p>two words</p></html>"


class Site:
    """Remembers who asked for what, and answers pages only when `open` is set."""

    def __init__(self, pages: int, *, broken: int = 0) -> None:
        self.pages = pages
        self.broken = f"/pages/{broken}"
        self.open = threading.Event()
        self.base = ""
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()

    @property
    def asked(self) -> Counter[str]:
        with self._lock:
            return self._asked.copy()

    def answer(self, path: str) -> str:
        if path == "/":
            return "".join(f'<a href="/pages/{number}"></a>' for number in range(1, self.pages + 1))
        with self._lock:
            self._asked[path] += 1
        self.open.wait(timeout=60)
        return PAGE[:-5] if path == self.broken else PAGE


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = site.answer(self.path).encode()
            try:
                self.send_response(200)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except ConnectionError:  # whoever asked was killed meanwhile
                pass

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    site.base = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        site.open.set()
        server.shutdown()
        server.server_close()


def started(program: Up, site: Site) -> int:
    """Start the demo's workflow on this site, without the cost of a process; the job's id."""
    from urllib.request import Request, urlopen

    from bobusang.flows import demo

    headers = {"authorization": f"Bearer {program.token}", "content-type": "application/yaml"}
    with urlopen(Request(f"{program.url}/workflows", demo.definition().encode(), headers)):
        pass
    job: int = program.post("/jobs", {"workflow": "demo", "input": {"base": site.base}})["id"]
    return job
