"""A real server that writes what a test says, byte by byte, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

CHUNK = bytes(1 << 16)


@dataclass(frozen=True, slots=True)
class Request:
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split()[1]


class Wire:
    """One open connection, with the answers that a test needs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.written = 0
        self.over = asyncio.Event()

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()
        self.written += len(data)

    async def answer(self, body: bytes = b"", status: int = 200, *headers: str) -> None:
        await self.head(status, f"Content-Length: {len(body)}", *headers)
        await self.raw(body)

    async def head(self, status: int = 200, *headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", *headers, "", ""]
        await self.raw("\r\n".join(lines).encode("utf-8", "surrogateescape"))

    async def redirect(self, location: str, *headers: str, status: int = 302) -> None:
        await self.answer(b"", status, f"Location: {location}", *headers)

    async def chunk(self, data: bytes) -> None:
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def gone(self) -> None:
        """Until the other side has closed."""
        await self.reader.read()

    def reset(self) -> None:
        """Not closed but reset, as by a machine that died."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Page = Callable[[Request, Wire], Awaitable[None]]


class Server:
    """Answers by `pages`, by path without query."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[Request] = []
        self.wires: list[Wire] = []
        self.port = 0

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def asked(self) -> list[str]:
        return [request.line.removesuffix(" HTTP/1.1") for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = Wire(reader, writer)
        self.wires.append(wire)
        try:
            while True:
                request = await self.read(reader)
                self.requests.append(request)
                await self.pages[request.path.partition("?")[0]](request, wire)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            wire.over.set()

    async def read(self, reader: asyncio.StreamReader) -> Request:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
        return Request(line, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for wire in server.wires:
            wire.writer.transport.abort()
