"""The demo's web site: generated pages on a loopback port, a few of them slow to wake, one broken for good."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOST = "127.0.0.1"
PAGES = 500
WEARY_EVERY = 20
"""Every so many pages one answers 503 the first time it is asked."""
BROKEN = 137
"""This page ends in the middle, however often it is asked for."""

HANG_UP_SECONDS = 5.0

WORDS = (
    "wool coat navy size stock price seller market brand order ship winter sale cotton linen "
    "보부상 장터 비단 모시 가격 재고 주문 배송 상품 겨울 할인 색상 사이즈 판매 시장"
)


class Site:
    """Serves the pages and remembers which were asked for."""

    def __init__(self, pages: int = PAGES) -> None:
        self.pages = pages
        self.base = ""
        self._asked: set[int] = set()

    @property
    def broken(self) -> int:
        """How many pages are broken for good."""
        return int(self.pages >= BROKEN)

    def answer(self, path: str) -> tuple[str, str]:
        """Status line and body."""
        if path == "/":
            links = "\n".join(f'<a href="/pages/{number}">{number}</a>' for number in range(1, self.pages + 1))
            return "200 OK", f"<html>{links}</html>"
        number = int(path.rpartition("/")[2]) if path.rpartition("/")[2].isdigit() else 0
        if not 1 <= number <= self.pages:
            return "404 Not Found", "no such page"
        if number % WEARY_EVERY == 0 and number not in self._asked:
            self._asked.add(number)
            return "503 Service Unavailable", "come back later"
        page = written(number)
        return "200 OK", page[: len(page) // 2] if number == BROKEN else page


def written(number: int) -> str:
    """A page, the same on every machine."""
    dice = random.Random(number)
    paragraphs = "\n".join(f"<p>{' '.join(dice.choices(WORDS.split(), k=dice.randint(20, 60)))}</p>" for _ in range(5))
    return f"<html><h1>Page {number}</h1>\n{paragraphs}</html>"


@asynccontextmanager
async def serving(site: Site, port: int = 0) -> AsyncIterator[None]:
    """Serve the site on that port if it is free, so that an interrupted demo can go on; else on another."""

    talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks[task] = writer
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                status, body = site.answer(head.split(b" ", 2)[1].decode("ascii", "replace"))
                content = body.encode()
                writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(content)}\r\n".encode())
                writer.write(b"content-type: text/html; charset=utf-8\r\n\r\n" + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            del talks[task]
            writer.close()

    try:
        server = await asyncio.start_server(talk, HOST, port)
    except OSError:
        server = await asyncio.start_server(talk, HOST, 0)
    site.base = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    async with server:
        try:
            yield
        finally:  # whoever still talks is hung up on; a task cancelled by the loop's end would be told as an error
            for writer in talks.values():
                writer.close()
            if talks:
                await asyncio.wait(list(talks), timeout=HANG_UP_SECONDS)
