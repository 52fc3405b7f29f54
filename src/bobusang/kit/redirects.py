"""One request of a call and the one that a redirect makes of it; what was meant for one origin is not told another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.cookies import cookie_header, read_cookies
from bobusang.kit.errors import Blocked, Invalid
from bobusang.kit.unpacking import OFFERED
from bobusang.kit.url import joined, origin, readied, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yarl import URL

    from bobusang.kit.http import Call

METHODS = frozenset({"GET", "HEAD", "POST"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
AS_IT_WAS = frozenset({307, 308})
TELLING = frozenset({"user-agent", "accept", "accept-language", "accept-encoding"})
"""What any origin may be told; tokens travel in headers of any name, so all others stay behind."""
OURS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer", "keep-alive"}
)
"""What frames a message; whoever sets it by hand can smuggle a second one."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Hop:
    """One request."""

    url: URL
    method: str
    headers: Mapping[str, str]
    """Without the cookies; names in lower case."""
    cookies: Mapping[str, str]
    body: bytes | None

    def sent_headers(self) -> Mapping[str, str]:
        """With the cookies."""
        return {**self.headers, "cookie": cookie_header(self.cookies)} if self.cookies else self.headers


def first_hop(call: Call, user_agent: str) -> Hop:
    """The request that a call begins with; Invalid when it cannot be sent as it is."""
    if call.method not in METHODS:
        raise Invalid(f"{call.method[:20]!r} is not sent", hint="GET, HEAD or POST", field="method")
    headers = {"user-agent": user_agent}
    cookies = call.cookies
    for name, value in call.headers.items():
        lower = _fit(name, value)
        if lower == "cookie":
            cookies = {**read_cookies(value), **call.cookies}
        else:
            headers[lower] = value
    headers["accept-encoding"] = OFFERED
    return Hop(readied(call.url), call.method, headers, cookies, call.body)


def next_hop(hop: Hop, status: int, location: str, cookies: Mapping[str, str], ages: Mapping[str, float]) -> Hop:
    """The request that a redirect asks for; Blocked when it leads where nobody should be led.

    `cookies` and `ages` are what the redirect itself set or withdrew: it may set one and ask to come back with it.
    """
    url = _led_to(hop.url, location)
    method, body = (hop.method, hop.body) if status in AS_IT_WAS else (_plain(hop.method), None)
    headers = hop.headers if body is not None or hop.body is None else _without_body(hop.headers)
    if origin(hop.url).trusts(origin(url)):
        kept = {name: value for name, value in hop.cookies.items() if ages.get(name) != 0.0}
        return Hop(url, method, headers, {**kept, **cookies}, body)
    if body is not None:
        raise Blocked(f"{shown(hop.url)} asks to send our request body on to {shown(url)}")
    return Hop(url, method, {name: value for name, value in headers.items() if name in TELLING}, {}, None)


def _plain(method: str) -> str:
    """As browsers do: a POST that is redirected becomes a GET, unless the status says that it stays one."""
    return "HEAD" if method == "HEAD" else "GET"


def _without_body(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if not name.startswith("content-")}


def _led_to(base: URL, location: str) -> URL:
    try:
        url = readied(joined(base, location))
    except (Invalid, ValueError) as error:
        raise Blocked(f"{shown(base)} redirects to what is no web address: {error}") from error
    if base.scheme == "https" and url.scheme == "http":
        raise Blocked(f"{shown(base)} redirects from TLS to an open connection, {shown(url)}")
    return url


def _fit(name: str, value: str) -> str:
    """The name in lower case; Invalid when name or value would end the header or frame the message anew."""
    lower = name.lower()
    if not _NAME.fullmatch(name) or lower in OURS:
        raise Invalid(f"the header {name[:40]!r} is not sent", hint="leave it out", field="headers")
    if _UNFIT.search(value):
        raise Invalid(f"the header {name} has a line break or control character in it", field="headers")
    return lower
