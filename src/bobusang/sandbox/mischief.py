"""Does to an answer what a fault says: spoils its bytes, or the way they are sent."""

from __future__ import annotations

import asyncio
import socket
import struct
import zlib
from functools import lru_cache

from aiohttp import web

from bobusang.sandbox.fault import Fault, Hit, Mishap, Trouble
from bobusang.sandbox.reply import HTML, JSON, Reply

HOUR = 3600.0
HUGE = 200 << 20
CHUNK = 1 << 16
DEEP = 100_000
WALL = b"""<!DOCTYPE html>
<html lang="en-US"><head><title>Just a moment...</title></head>
<body><h1>Human Verification</h1><p>Verifying you are human. This may take a few seconds.</p></body></html>
"""
INSIDE = (
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://127.0.0.1:1/",
    "http://[::1]:1/",
    "http://localhost:1/",
)


class Unanswered(web.Response):
    """What a handler returns when the connection is gone: nothing more can be sent."""


def spoil(reply: Reply, hit: Hit) -> Reply:
    """The answer with its bytes spoilt; the same where the fault is of another kind."""
    body = reply.body
    match hit.fault.kind:
        case Trouble.EMPTY:
            body = b""
        case Trouble.HALF_HTML:
            body = body[: len(body) // 2]
        case Trouble.WRONG_ENCODING:
            body = body.decode().encode("euc-kr", errors="xmlcharrefreplace")
        case Trouble.INVALID_UTF8:
            body = body.replace("성 ".encode(), "성".encode()[:2] + b"\xff ").replace("환".encode(), b"\xed\xa0\x80")
        case Trouble.DEEP_JSON:
            body = _deep(reply.type)
        case Trouble.DUPLICATE_KEYS:
            body = _doubled(body, reply.type)
        case _:
            return reply
    return Reply(body, reply.type, reply.status, dict(reply.headers), reply.cookies)


def _deep(kind: str) -> bytes:
    nested = b"[" * DEEP + b"]" * DEEP
    if kind == JSON:
        return nested
    return b'<html><head><script type="application/ld+json">' + nested + b"</script></head><body></body></html>"


def _doubled(body: bytes, kind: str) -> bytes:
    if kind != JSON:
        return body.replace(b'"sku":', b'"price":1,"sku":')
    if body.startswith(b"["):
        return body.replace(b'{"optionNo":', b'{"stock":0,"optionNo":')
    return b'{"count":0,"items":[],"moduleList":[],' + body[1:]


async def instead(request: web.Request, hit: Hit) -> web.StreamResponse | None:
    """What is sent instead of an answer; None when there is to be one."""
    fault = hit.fault
    if fault.http_status is not None:
        headers = {} if fault.seconds is None else {"Retry-After": f"{fault.seconds:g}"}
        return web.Response(status=fault.http_status, text=f"{fault.http_status}\n", headers=headers)
    match fault.kind:
        case Trouble.BOT_WALL:
            return web.Response(body=WALL, status=fault.status or 200, headers={"Content-Type": HTML})
        case Trouble.STALL:
            await asyncio.sleep(fault.seconds or HOUR)
            return _cut(request)
        case Trouble.RESET:
            return _reset(request)
        case Trouble.REDIRECT_LOOP:
            return web.Response(status=302, headers={"Location": "/redirects/1"})
        case Trouble.REDIRECT_PRIVATE:
            return web.Response(status=302, headers={"Location": INSIDE[(hit.turn - 1) % len(INSIDE)]})
        case Trouble.ENDLESS:
            return await _poured(request, None)
        case Trouble.HUGE:
            return await _poured(request, fault.bytes or HUGE)
        case Trouble.ZIP_BOMB:
            body = await asyncio.to_thread(_bomb, fault.bytes or HUGE)
            return web.Response(body=body, headers={"Content-Type": HTML, "Content-Encoding": "gzip"})
    return None


async def badly(request: web.Request, reply: Reply, fault: Fault) -> web.StreamResponse | None:
    """The answer sent so that not all of it arrives; None when the fault is of another kind."""
    half = reply.body[: len(reply.body) // 2]
    head = f"HTTP/1.1 {reply.status} OK\r\nContent-Type: {reply.type}\r\n"
    match fault.kind:
        case Trouble.HALF_CLOSED:
            return _cut(request, f"{head}Content-Length: {len(reply.body)}\r\n\r\n".encode() + half)
        case Trouble.HALF_CHUNKED:
            chunk = f"{len(half):x}\r\n".encode() + half + b"\r\n"
            return _cut(request, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk)
        case Trouble.HALF_UNSIZED:
            return _cut(request, f"{head}Connection: close\r\n\r\n".encode() + half)
        case Trouble.STALL_BODY:
            _write(request, f"{head}Content-Length: {len(reply.body)}\r\n\r\n".encode() + half)
            await asyncio.sleep(fault.seconds or HOUR)
            return _cut(request)
        case Mishap.RESET_AFTER:
            return _reset(request)
        case Mishap.STALL_AFTER:
            await asyncio.sleep(fault.seconds or HOUR)
            return _cut(request)
        case Mishap.ERROR_AFTER:
            return web.Response(status=fault.status or 500, text="error\n")
    return None


def _write(request: web.Request, raw: bytes) -> None:
    if request.transport is not None:
        request.transport.write(raw)


def _cut(request: web.Request, raw: bytes = b"") -> web.StreamResponse:
    """Send these bytes and close, past the server, which would send a proper answer."""
    if request.transport is not None:
        if raw:
            request.transport.write(raw)
        request.transport.close()
    return Unanswered()


def _reset(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        raw = request.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing then resets
        request.transport.abort()
    return Unanswered()


async def _poured(request: web.Request, size: int | None) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": HTML})
    if size is None:
        response.enable_chunked_encoding()
    else:
        response.content_length = size
    await response.prepare(request)
    chunk = b"<p>\xeb\x8d\x94 \xeb\xb3\xb4\xea\xb8\xb0</p>\n" * (CHUNK // 18)
    left = size
    while left is None or left > 0:
        part = chunk if left is None else chunk[:left]
        await response.write(part)
        left = None if left is None else left - len(part)
        await asyncio.sleep(0)  # a fast reader must not keep the others waiting
    return response


@lru_cache(maxsize=2)
def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(level=9, wbits=31)
    part = bytes(1 << 20)
    packed = [packer.compress(part[: min(len(part), size - at)]) for at in range(0, size, len(part))]
    return b"".join([*packed, packer.flush()])
