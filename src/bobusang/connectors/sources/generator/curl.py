"""A pasted `curl` command, taken apart without a shell: address, method, headers and body; nothing of it is run."""

from __future__ import annotations

import re
import shlex
from urllib.parse import urlsplit

from bobusang.connectors.sources.generator.sample import Request
from bobusang.kit.errors import Invalid

LONGEST = 100_000
HINT = "in the browser's developer tools: Network, the request that brings the list, Copy as cURL"

_SECRET = re.compile(r"cookie|authorization|token|secret|api-?key|session|signature|csrf|xsrf", re.IGNORECASE)
_BROWSER = re.compile(
    r"accept-encoding|connection|content-length|host|sec-|upgrade-insecure|priority|dnt|cache-control|pragma|te$|user-agent",
    re.IGNORECASE,
)
_BODIES = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
_VALUED = {
    "-o", "--output", "-A", "--user-agent", "-e", "--referer", "-m", "--max-time", "--connect-timeout", "-x", "--proxy",
    "--retry", "-w", "--write-out", "-c", "--cookie-jar", "--cacert", "--cert", "--key", "--resolve",
}  # fmt: skip
_REFUSED = ("-K", "--config", "-F", "--form", "-T", "--upload-file", "-u", "--user", "--data-urlencode")


def looks_like_curl(text: str) -> bool:
    """Whether a text is such a command."""
    return re.match(r"\s*(?:\$\s+)?curl(?:\.exe)?\s", text) is not None


def parsed(text: str) -> Request:
    """The request of a command; what opens a door (cookies, keys) is left out and named."""
    if len(text) > LONGEST:
        raise Invalid(f"a curl command has at most {LONGEST:,} characters", field="curl")
    try:
        words = shlex.split(text.replace("\\\r\n", " ").replace("\\\n", " ").replace("^\n", " "), posix=True)
    except ValueError as error:
        raise Invalid(f"the curl command cannot be read: {error}", hint=HINT, field="curl") from None
    words = words[words.index("curl") + 1 :] if "curl" in words else words[1:]
    url, method, body = "", "", None
    headers: dict[str, str] = {}
    secrets: list[str] = []
    rest = iter(words)
    for word in rest:
        name, _, joined = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in _REFUSED:
            raise Invalid(f"{name} of curl is not understood here", hint="send the body by --data-raw", field="curl")
        if name in ("-H", "--header"):
            _header(joined or next(rest, ""), headers, secrets)
        elif name in ("-X", "--request"):
            method = (joined or next(rest, "")).upper()
        elif name in _BODIES:
            body = _body(joined or next(rest, ""), body)
            if name == "--json":
                headers.setdefault("Content-Type", "application/json")
        elif name in ("-b", "--cookie"):
            next(rest, "") if not joined else None
            secrets.append("Cookie")
        elif name == "--url":
            url = joined or next(rest, "")
        elif name in _VALUED:
            next(rest, "") if not joined else None
        elif not word.startswith("-"):
            url = url or word
    return _request(url, method or ("GET" if body is None else "POST"), headers, body, secrets)


def _request(url: str, method: str, headers: dict[str, str], body: str | None, secrets: list[str]) -> Request:
    if "://" not in url and url:
        url = f"https://{url}"
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise Invalid("the curl command names no address", hint=HINT, field="curl")
    if method not in ("GET", "POST", "PUT"):
        raise Invalid(f"a shop asks by GET, POST or PUT, not by {method[:20]}", hint=HINT, field="curl")
    return Request(url, method, headers, body, tuple(dict.fromkeys(secrets)))


def _header(text: str, headers: dict[str, str], secrets: list[str]) -> None:
    name, _, value = text.partition(":")
    name, value = name.strip().lstrip(":"), value.strip()
    if not name or not value or _BROWSER.match(name):
        return
    if _SECRET.search(name):
        secrets.append(name)
    else:
        headers[name] = value


def _body(text: str, before: str | None) -> str:
    """A body from a file (`@name`) is not read: the command came from elsewhere."""
    if text.startswith("@"):
        raise Invalid("a body from a file is not read", hint="paste the body itself", field="curl")
    return text if before is None else f"{before}&{text}"
