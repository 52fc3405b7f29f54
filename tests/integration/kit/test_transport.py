"""The transport against a server on the loopback that behaves, misbehaves and attacks."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import tracemalloc
import zlib
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang import __version__
from bobusang.kit.encoding import Text, decoded
from bobusang.kit.errors import Blocked, External, Invalid, Unavailable
from bobusang.kit.http import Answer, Call, Oversized
from bobusang.kit.transport import AiohttpTransport
from tests.integration.kit.wire import CHUNK, Request, Server, Wire, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MEGABYTE = 1 << 20
MOMENT = timedelta(milliseconds=150)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as one:
        yield one


@pytest.fixture
async def other() -> AsyncIterator[Server]:
    async with serving() as one:
        yield one


@asynccontextmanager
async def sending(
    *servers: Server, silence: timedelta = timedelta(seconds=20), connect: timedelta = timedelta(seconds=10)
) -> AsyncIterator[AiohttpTransport]:
    allow = frozenset(("127.0.0.1", server.port) for server in servers)
    transport = AiohttpTransport(allow, silence=silence, connect=connect)
    try:
        yield transport
    finally:
        await transport.close()


@pytest.fixture
async def transport(server: Server) -> AsyncIterator[AiohttpTransport]:
    async with sending(server) as one:
        yield one


async def hello(request: Request, wire: Wire) -> None:
    await wire.answer(b"hello", 200, "Content-Type: text/plain", "X-Seen: a", "X-Seen: b")


async def failure(transport: AiohttpTransport, call: Call) -> tuple[type[External], str]:
    with pytest.raises(External) as caught:
        await transport.send(call)
    return type(caught.value), caught.value.message


async def test_a_call_is_answered_whole(server: Server, transport: AiohttpTransport) -> None:
    server.pages["/list"] = hello
    call = Call(
        server.url("/list?brand=%B3%AA%C0%CC&q=%2B+a%20b"), headers={"X-Mine": "1"}, cookies={"a": "1", "b": "2"}
    )

    answer = await transport.send(call)

    assert replace(answer, elapsed=0.0) == Answer(
        call.url,
        200,
        {"content-length": "5", "content-type": "text/plain", "x-seen": "a, b"},
        b"hello",
    )
    assert answer.elapsed > 0
    assert server.requests == [
        Request(
            "GET /list?brand=%B3%AA%C0%CC&q=%2B+a%20b HTTP/1.1",
            {
                "host": f"127.0.0.1:{server.port}",
                "user-agent": f"bobusang/{__version__}",
                "accept": "*/*",
                "accept-encoding": "gzip, deflate",
                "x-mine": "1",
                "cookie": "a=1; b=2",
            },
            b"",
        )
    ]


async def test_the_caller_says_who_it_is_and_what_it_posts(server: Server, transport: AiohttpTransport) -> None:
    server.pages["/"] = hello
    headers = {"User-Agent": "someone/1", "Content-Type": "application/json", "Accept-Encoding": "br"}

    await transport.send(Call(server.url(), "POST", headers, body=b'{"a":1}'))

    (request,) = server.requests
    sent = {name: request.headers.get(name) for name in ("user-agent", "content-type", "accept-encoding")}
    assert (request.line, request.body) == ("POST / HTTP/1.1", b'{"a":1}')
    assert sent == {"user-agent": "someone/1", "content-type": "application/json", "accept-encoding": "gzip, deflate"}


async def test_connections_are_kept_for_the_next_call(server: Server, transport: AiohttpTransport) -> None:
    server.pages["/"] = hello

    for _ in range(5):
        await transport.send(Call(server.url()))

    assert (len(server.requests), len(server.wires)) == (5, 1)


async def test_a_head_and_an_unchanged_page_have_no_body(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        if "if-none-match" in request.headers:
            await wire.head(304, 'ETag: "1"')
        else:
            await wire.head(200, "Content-Length: 200000000", "Content-Encoding: gzip")

    server.pages["/"] = page

    head = await transport.send(Call(server.url(), "HEAD"))
    same = await transport.send(Call(server.url(), headers={"If-None-Match": '"1"'}))

    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "200000000")
    assert (same.status, same.body, same.headers) == (304, b"", {"etag": '"1"'})
    assert len(server.wires) == 1


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
async def test_a_status_is_an_answer_not_an_error(server: Server, transport: AiohttpTransport, status: int) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.answer(b"no", status, "Retry-After: 7")

    server.pages["/"] = page
    answer = await transport.send(Call(server.url()))

    assert (answer.status, answer.body, answer.headers["retry-after"]) == (status, b"no", "7")


async def test_pages_in_other_encodings_arrive_as_they_are(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.answer("나이키".encode("cp949") + b"\xff", 200, "Content-Type: text/html; charset=utf-8")

    server.pages["/"] = page
    answer = await transport.send(Call(server.url()))

    assert decoded(answer.body, answer.headers["content-type"]) == Text("나이키\ufffd", "cp949", 1)


# Packing


@pytest.mark.parametrize("size", [1000, 3_000_000])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_packed_pages_are_unpacked(server: Server, transport: AiohttpTransport, encoding: str, size: int) -> None:
    text = b"".join(b"%d," % number for number in range(size // 6))
    packed = gzip.compress(text, 1) if encoding == "gzip" else zlib.compress(text, 1)

    async def page(request: Request, wire: Wire) -> None:
        await wire.answer(packed, 200, f"Content-Encoding: {encoding}")

    server.pages["/"] = page

    assert (await transport.send(Call(server.url()))).body == text


async def test_a_packed_page_that_ends_half_way_is_no_page(server: Server, transport: AiohttpTransport) -> None:
    packed = gzip.compress(b"item " * 5000)

    async def page(request: Request, wire: Wire) -> None:
        await wire.answer(packed[:-20], 200, "Content-Encoding: gzip")

    server.pages["/"] = page
    kind, message = await failure(transport, Call(server.url()))

    assert (kind, "broke off" in message) == (Unavailable, True)


def bomb(megabytes: int) -> bytes:
    """A gzip of so many megabytes of zeros, made of one compressed megabyte repeated."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    one = packing.compress(bytes(MEGABYTE)) + packing.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(b"")[:10] + one * megabytes


async def test_a_zip_bomb_costs_no_more_than_the_bound(server: Server, transport: AiohttpTransport) -> None:
    packed = bomb(1000)
    assert len(packed) < 1_100_000

    async def page(request: Request, wire: Wire) -> None:
        await wire.answer(packed, 200, "Content-Encoding: gzip")

    server.pages["/"] = page
    call = Call(server.url(), most=2 * MEGABYTE)
    tracemalloc.start()
    try:
        found = await failure(transport, call)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found == (Oversized, f"the answer unpacks to more than {2 * MEGABYTE} bytes")
    assert peak < 12 * MEGABYTE


# Bodies without end or measure


async def test_200_megabytes_are_not_read(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Transfer-Encoding: chunked")
        for _ in range(200 * MEGABYTE // len(CHUNK)):
            await wire.chunk(CHUNK)

    server.pages["/"] = page
    found = await failure(transport, Call(server.url(), most=MEGABYTE))
    await server.wires[0].over.wait()

    assert found == (Oversized, f"{server.url()}: the answer does not end within {MEGABYTE} bytes")
    assert server.wires[0].written < 24 * MEGABYTE  # what the buffers of both sides hold


async def test_a_body_announced_as_too_large_is_not_begun(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Content-Length: 209715200")
        await wire.gone()

    server.pages["/"] = page
    found = await failure(transport, Call(server.url(), most=MEGABYTE))

    assert found == (Oversized, f"{server.url()}: an answer of 209715200 bytes; at most {MEGABYTE} are read")


async def test_a_body_of_exactly_the_bound_is_read(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.answer(bytes(5000))

    server.pages["/"] = page

    assert len((await transport.send(Call(server.url(), most=5000))).body) == 5000
    assert (await failure(transport, Call(server.url(), most=4999)))[0] is Oversized


async def test_a_page_that_drips_for_ever_ends_with_the_call(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Transfer-Encoding: chunked")
        while True:
            await wire.chunk(b".")
            await asyncio.sleep(0.01)

    server.pages["/"] = page
    found = await failure(transport, Call(server.url(), timeout=MOMENT))

    assert found == (Unavailable, f"{server.url()}: the answer was not complete within 0.15 s")


@pytest.mark.parametrize("begun", [False, True])
async def test_silence_is_not_waited_out(server: Server, begun: bool) -> None:
    async def page(request: Request, wire: Wire) -> None:
        if begun:
            await wire.head(200, "Content-Length: 10")
            await wire.raw(b"half")
        await wire.gone()

    server.pages["/"] = page
    async with sending(server, silence=MOMENT, connect=MOMENT) as transport:
        assert await failure(transport, Call(server.url())) == (
            Unavailable,
            f"{server.url()}: silence for too long",
        )


async def test_a_slow_page_that_keeps_coming_is_read(server: Server) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Content-Length: 8")
        for _ in range(8):
            await asyncio.sleep(0.1)
            await wire.raw(b".")

    server.pages["/"] = page
    async with sending(server, silence=timedelta(seconds=0.5), connect=timedelta(seconds=0.1)) as transport:
        assert (await transport.send(Call(server.url()))).body == b"........"


async def test_a_connection_that_does_not_open_is_not_waited_for() -> None:
    with socket.socket() as deaf, socket.socket() as first, socket.socket() as second:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        for client in (first, second):  # fill the queue of those who wait to be accepted
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        transport = AiohttpTransport(frozenset({("127.0.0.1", port)}), connect=MOMENT)
        found = await failure(transport, Call(f"http://127.0.0.1:{port}/"))
        await transport.close()

    assert found == (Unavailable, f"http://127.0.0.1:{port}/: no connection in time")


# Broken connections


async def test_half_a_body_is_no_body(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Content-Length: 100")
        await wire.raw(b"x" * 40)
        wire.writer.close()

    server.pages["/"] = page

    assert await failure(transport, Call(server.url())) == (
        Unavailable,
        f"{server.url()}: the answer broke off after 40 of 100 bytes",
    )


async def test_a_chunked_body_without_its_end_is_no_body(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Transfer-Encoding: chunked")
        await wire.chunk(b"x" * 40)
        wire.writer.close()

    server.pages["/"] = page

    assert await failure(transport, Call(server.url())) == (
        Unavailable,
        f"{server.url()}: the answer broke off after 40 bytes",
    )


async def test_a_reset_within_the_body_is_told(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Content-Length: 100000")
        await wire.raw(b"x" * 10)
        wire.reset()

    server.pages["/"] = page
    kind, message = await failure(transport, Call(server.url()))

    # A reset may overtake what was sent before it.
    assert kind is Unavailable
    assert re.search(r"broke off after 1?0 of 100000 bytes|connection (broke|was closed) before", message)


@pytest.mark.parametrize("kept", [False, True])
async def test_what_fails_is_not_sent_twice(server: Server, transport: AiohttpTransport, kept: bool) -> None:
    async def page(request: Request, wire: Wire) -> None:
        wire.reset()

    server.pages |= {"/": hello, "/reset": page}
    if kept:
        await transport.send(Call(server.url()))
    kind, message = await failure(transport, Call(server.url("/reset")))

    assert (kind, server.asked) == (Unavailable, ["GET /"] * kept + ["GET /reset"])
    assert re.search(r"the connection (broke|was closed) before an answer came", message)


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n"]
)
async def test_what_is_no_http_is_told(server: Server, transport: AiohttpTransport, answer: bytes) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.raw(answer)
        await wire.gone()

    server.pages["/"] = page
    kind, message = await failure(transport, Call(server.url()))

    assert (kind, message.split(": ")[1]) == (Unavailable, "what came back is no HTTP")


async def test_nobody_there_is_told() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        transport = AiohttpTransport(frozenset({("127.0.0.1", port)}))
        kind, message = await failure(transport, Call(f"http://127.0.0.1:{port}/"))
        await transport.close()

    assert (kind, message.split(": ")[1]) == (Unavailable, "no connection")


async def test_trouble_with_tls_is_told() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        transport = AiohttpTransport(frozenset({("127.0.0.1", port)}))
        kind, message = await failure(transport, Call(f"https://127.0.0.1:{port}/"))
        await transport.close()

    assert (kind, message.split(": ")[1]) == (Unavailable, "no secure connection")


# Redirects


async def test_redirects_are_followed_and_counted(server: Server, transport: AiohttpTransport) -> None:
    async def first(request: Request, wire: Wire) -> None:
        await wire.redirect("/list?brand=나이키#top", "Set-Cookie: seen=1; Path=/", "Set-Cookie: old=; Max-Age=0")

    async def then(request: Request, wire: Wire) -> None:
        await wire.answer(b"there", 200, "Set-Cookie: token=abc; Max-Age=7200")

    server.pages |= {"/": first, "/list": then}
    answer = await transport.send(Call(server.url(), headers={"Authorization": "Bearer x"}, cookies={"old": "1"}))

    assert replace(answer, elapsed=0.0) == Answer(
        server.url("/list?brand=%EB%82%98%EC%9D%B4%ED%82%A4"),
        200,
        {"content-length": "5"},
        b"there",
        {"seen": "1", "token": "abc"},
        {"old": 0.0, "token": 7200.0},
        sent=2,
    )
    assert [(one.headers["authorization"], one.headers["cookie"]) for one in server.requests] == [
        ("Bearer x", "old=1"),
        ("Bearer x", "seen=1"),
    ]


async def test_a_location_in_euc_kr_stays_in_euc_kr(server: Server, transport: AiohttpTransport) -> None:
    async def first(request: Request, wire: Wire) -> None:
        await wire.redirect("/list?brand=" + "나이키".encode("cp949").decode("utf-8", "surrogateescape"))

    server.pages |= {"/": first, "/list": hello}
    await transport.send(Call(server.url()))

    assert server.asked == ["GET /", "GET /list?brand=%B3%AA%C0%CC%C5%B0"]


@pytest.mark.parametrize(("redirects", "asked"), [(5, 6), (1, 2)])
async def test_endless_redirects_end(server: Server, transport: AiohttpTransport, redirects: int, asked: int) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.redirect(f"/?{len(server.requests)}")

    server.pages["/"] = page
    found = await failure(transport, Call(server.url(), redirects=redirects))

    assert found == (Unavailable, f"{server.url()} redirects more than {redirects} times, last to {server.url()}")
    assert len(server.requests) == asked


async def test_without_redirects_the_redirect_is_the_answer(server: Server, transport: AiohttpTransport) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.redirect("http://10.0.0.1/")

    server.pages["/"] = page
    answer = await transport.send(Call(server.url(), redirects=0))

    assert (answer.status, answer.headers["location"]) == (302, "http://10.0.0.1/")


async def test_another_origin_learns_nothing_of_ours(server: Server, other: Server) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.redirect(other.url("/there"), "Set-Cookie: of=here")

    async def there(request: Request, wire: Wire) -> None:
        await wire.answer(b"", 200, "Set-Cookie: of=there")

    server.pages["/"] = page
    other.pages["/there"] = there
    headers = {"Authorization": "Bearer x", "Display-Api-Key": "k", "Accept-Language": "ko", "Cookie": "c=2"}
    async with sending(server, other) as transport:
        answer = await transport.send(Call(server.url(), headers=headers, cookies={"a": "1"}))

    assert (answer.url, answer.cookies) == (other.url("/there"), {"of": "there"})
    assert other.requests[0].headers == {
        "host": f"127.0.0.1:{other.port}",
        "user-agent": f"bobusang/{__version__}",
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "accept-language": "ko",
    }


@pytest.mark.parametrize(
    ("status", "method", "asked"),
    [
        (301, "POST", "GET /there"),
        (303, "POST", "GET /there"),
        (308, "POST", "POST /there"),
        (302, "HEAD", "HEAD /there"),
    ],
)
async def test_a_redirected_post_becomes_a_get_unless_it_stays_a_post(
    server: Server, transport: AiohttpTransport, status: int, method: str, asked: str
) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.redirect("/there", status=status)

    async def there(request: Request, wire: Wire) -> None:
        await wire.answer()

    server.pages |= {"/": page, "/there": there}
    await transport.send(Call(server.url(), method, body=b"x" if method == "POST" else None))

    assert (server.asked[1], server.requests[1].body) == (asked, b"x" if status == 308 else b"")


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://[64:ff9b::7f00:1]:{port}/",
        "http://127.0.0.1:{neighbour}/",
        "http://127.0.0.2:{port}/",
        "http://localhost:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.0.0.1:{port}/",
        "http://017700000001:{port}/",
        "http://127.1:{port}/",
        "http://0.0.0.0:{port}/",
        "http://①②⑦.0.0.1:{neighbour}/",
        "http://user@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}@10.0.0.1/",
        "//127.0.0.1:{neighbour}/",
        "http://8.8.8.8:25/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://%31%32%37.0.0.1/",
    ],
)
async def test_a_redirect_into_our_own_network_is_not_followed(server: Server, other: Server, location: str) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.redirect(location.format(port=server.port, neighbour=other.port))

    server.pages["/"] = page
    async with sending(server) as transport:
        kind, _ = await failure(transport, Call(server.url()))

    assert (kind, len(server.requests), other.wires) == (Blocked, 1, [])


async def test_a_body_is_not_handed_on_to_another_origin(server: Server, other: Server) -> None:
    async def page(request: Request, wire: Wire) -> None:
        await wire.redirect(other.url(), status=307)

    server.pages["/"] = page
    async with sending(server, other) as transport:
        kind, message = await failure(transport, Call(server.url(), "POST", body=b"secret"))

    assert (kind, message) == (Blocked, f"{server.url()} asks to send our request body on to {other.url()}")
    assert other.requests == []


# Whom we call at all


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "0x7f000001"])
async def test_without_being_named_the_loopback_is_not_called(server: Server, host: str) -> None:
    async with sending() as transport:
        kind, message = await failure(transport, Call(f"http://{host}:{server.port}/"))

    assert (kind, "is not called" in message, server.wires) == (Blocked, True, [])


async def test_exactly_what_is_named_is_called(server: Server) -> None:
    server.pages["/"] = hello
    transport = AiohttpTransport(frozenset({("LocalHost", server.port)}))
    answer = await transport.send(Call(f"http://localhost:{server.port}/"))
    by_number = await failure(transport, Call(server.url()))
    await transport.close()

    assert (answer.body, by_number[0]) == (b"hello", Blocked)


async def test_a_name_that_does_not_exist_is_unavailable(transport: AiohttpTransport) -> None:
    kind, message = await failure(transport, Call("http://no-such-name.invalid/"))

    assert kind is Unavailable
    assert message.startswith("http://no-such-name.invalid/: the name cannot be resolved")


async def test_no_proxy_of_the_environment_is_used(
    server: Server, other: Server, transport: AiohttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages["/"] = hello
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, other.url())

    assert (await transport.send(Call(server.url()))).body == b"hello"
    assert other.wires == []


@pytest.mark.parametrize(
    "call",
    [
        Call("ftp://example.com/"),
        Call("//example.com/"),
        Call("example.com"),
        Call("http:///path"),
        Call("http://user:password@example.com/"),
        Call("http://example.com:99999/"),
        Call("http://exa mple.com/"),
        Call("http://example.com/\r\nX-Evil: 1"),
        Call("http://example.com/" + "x" * 9000),
        Call("http://example.com/", "DELETE"),
        Call("http://example.com/", "GET / HTTP/1.1\r\nX-Evil: 1\r\n\r\n"),
        Call("http://example.com/", headers={"X": "1\r\nX-Evil: 1"}),
        Call("http://example.com/", headers={"X: 1\r\nX-Evil": "1"}),
        Call("http://example.com/", headers={"": "1"}),
        Call("http://example.com/", headers={"Host": "10.0.0.1"}),
        Call("http://example.com/", headers={"transfer-encoding": "chunked"}),
        Call("http://example.com/", cookies={"a": "1\r\nX-Evil: 1"}),
        Call("http://example.com/", cookies={"a": "1; b=2"}),
        Call("http://example.com/", cookies={"a b": "1"}),
    ],
)
async def test_what_cannot_be_sent_as_it_is_is_refused(call: Call) -> None:
    async with sending() as transport:
        with pytest.raises(Invalid):
            await transport.send(call)


async def test_cancelling_a_call_frees_its_connection(server: Server, transport: AiohttpTransport) -> None:
    begun = asyncio.Event()

    async def page(request: Request, wire: Wire) -> None:
        await wire.head(200, "Content-Length: 10")
        begun.set()
        await wire.gone()

    server.pages |= {"/": page, "/next": hello}
    task = asyncio.create_task(transport.send(Call(server.url())))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (await transport.send(Call(server.url("/next")))).body == b"hello"
    assert len(server.wires) == 2
