"""The API as commands see it: the same requests over HTTP or, without an address, in this very process."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import httpx

from bobusang.entry.cli.failure import Exit, Failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bobusang.entry.cli.inside import Inside
    from bobusang.entry.cli.options import Options

TIMEOUT = httpx.Timeout(60.0, connect=5.0)
BY_STATUS = {401: "unauthorised", 403: "forbidden", 404: "missing", 409: "conflict", 429: "throttled"}
HINTS = {
    401: "give a key with --token or BOBUSANG_TOKEN; `bobusang key add` makes one",
    403: "this key's role does not allow it: use one with a higher role",
}


class Client:
    """Blocking calls; a command does one thing after another."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._http: httpx.AsyncClient | None = None

    @property
    def local(self) -> bool:
        """Whether the API runs in this process."""
        return self._options.url is None

    def get(self, path: str, **query: Any) -> Any:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None, **query: Any) -> Any:
        return self.call("POST", path, body=body, query=query)

    def put(self, path: str, body: Any = None) -> Any:
        return self.call("PUT", path, body=body)

    def patch(self, path: str, body: Any = None) -> Any:
        return self.call("PATCH", path, body=body)

    def delete(self, path: str) -> Any:
        return self.call("DELETE", path)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: tuple[str, bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """One request; the decoded answer, or a `Failure` with the code the API gave."""
        asked = {name: _asked(value) for name, value in (query or {}).items() if value is not None}
        extra = dict(headers or {})
        arguments: dict[str, Any] = {"params": asked, "headers": extra}
        if content is not None:
            extra["content-type"], arguments["content"] = content
        elif body is not None:
            arguments["json"] = body
        return answer(self._runner.run(self._send(method, path, arguments)))

    def content(self, path: str) -> bytes:
        """The bytes of an answer that is no JSON."""
        response = self._runner.run(self._send("GET", path, {}))
        if not response.is_success:
            answer(response)
        return response.content

    def lines(self, path: str, content: bytes) -> list[Any]:
        """The answers to a body of lines, one a line."""
        arguments = {"content": content, "headers": {"content-type": "application/x-ndjson"}}
        response = self._runner.run(self._send("POST", path, arguments))
        if not response.is_success:
            answer(response)
        import json

        return [json.loads(line) for line in response.text.splitlines()]

    def save(self, path: str, sink: BinaryIO, **query: Any) -> int:
        """Write a large answer where it is to go, as it comes; how many bytes."""
        return self._runner.run(self._save(path, sink, {k: _asked(v) for k, v in query.items() if v is not None}))

    async def _save(self, path: str, sink: BinaryIO, query: dict[str, Any]) -> int:
        http, written = await self._opened(), 0
        with _failing(self._options.url):
            async with http.stream("GET", path, params=query) as response:
                if not response.is_success:
                    await response.aread()
                    answer(response)
                async for part in response.aiter_bytes():
                    written += sink.write(part)
        return written

    def close(self) -> None:
        try:
            self._runner.run(self._stack.aclose())
        finally:
            self._runner.close()

    async def _send(self, method: str, path: str, arguments: dict[str, Any]) -> httpx.Response:
        http = await self._opened()
        with _failing(self._options.url):
            return await http.request(method, path, **arguments)

    async def _opened(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = await self._stack.enter_async_context(await self._open())
        return self._http

    async def _open(self) -> httpx.AsyncClient:
        token = self._options.token
        headers = {"accept": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        if self._options.url is not None:
            url = self._options.url.rstrip("/")
            secure = not url.startswith("http:")  # without TLS the authorities need not be read, which takes 30 ms
            return httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT, verify=secure)
        transport = await self._local()
        return httpx.AsyncClient(base_url="http://local", headers=headers, timeout=TIMEOUT, transport=transport)

    async def _local(self) -> Inside:
        from bobusang.entry.api import create_app
        from bobusang.entry.cli.inside import Inside
        from bobusang.entry.cli.place import must_exist, quietly, settings
        from bobusang.wiring import opened

        found = settings(self._options)
        must_exist(found)
        quietly(found)
        app = await self._stack.enter_async_context(opened(found))
        return Inside(create_app(app, local=True))


@contextmanager
def _failing(url: str | None) -> Iterator[None]:
    """What the way to the API may do to a request, as a person is told it."""
    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise Failure("usage", f"'{url}' is no address of an API: {error}") from error
    except httpx.TimeoutException as error:
        raise Failure("unavailable", f"{url} does not answer in time", "is it busy?") from error
    except httpx.TransportError as error:
        if url is None:
            raise Failure("error", f"{error}", "try again; the log says why") from error
        hint = "is `bobusang up` running there? --url and BOBUSANG_URL name the address"
        raise Failure("unavailable", f"{url} cannot be reached: {error}", hint) from error


def answer(response: httpx.Response) -> Any:
    """What an answer says; anything but success is raised."""
    if response.is_success:
        return _decoded(response) if response.content else None
    status = response.status_code
    try:
        problem = response.json()
        code, message = problem.get("code") or BY_STATUS.get(status, "error"), problem.get("detail")
    except (ValueError, AttributeError):
        raise Failure(
            BY_STATUS.get(status, "error"),
            f"{response.request.url} answered {status} and not as a Bobusang API does",
            "is --url (BOBUSANG_URL) right?",
            exit_code=Exit.UNREACHABLE if status >= 500 else None,
        ) from None
    lines = [message or problem.get("title") or f"status {status}"]
    details = [f"{error.get('field')}: {error.get('message')}" for error in problem.get("errors") or ()]
    lines += [f"  {detail}" for detail in details if details != [message]]
    raise Failure(code, "\n".join(lines), problem.get("hint") or HINTS.get(status, ""))


def _decoded(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise Failure(
            "error",
            f"{response.request.url} did not answer with JSON",
            "is --url (BOBUSANG_URL) the address of a Bobusang API?",
            exit_code=Exit.UNREACHABLE,
        ) from None


def _asked(value: Any) -> str | list[str]:
    """A value of a query; a list is asked for by repeating its name."""
    if isinstance(value, list):
        return [str(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
