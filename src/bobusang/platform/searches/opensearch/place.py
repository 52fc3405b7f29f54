"""Where an OpenSearch is, read from `opensearch://user:password@host:9200/prefix`; `opensearch+https://…` for TLS."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.search import SETTING

PLAIN, SECURE = "opensearch", "opensearch+https"
PREFIX = "bobusang"
PORT = 9200
KNOWN = ("ca",)
HINT = "opensearch://host:9200/prefix, opensearch+https://user:password@host/prefix?ca=/path/of/ca.pem"

_PREFIX = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Place:
    """A server, and the prefix of all names there that are ours."""

    host: str
    port: int = PORT
    prefix: str = PREFIX
    secure: bool = False
    ca: str = ""
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        """As it may be logged."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SECURE if self.secure else PLAIN}://{host}:{self.port}/{self.prefix}"


def place(url: str) -> Place:
    """Read an address; what is wrong with it is said without its password."""
    parts = urlsplit(url)
    if parts.scheme not in {PLAIN, SECURE} or not parts.hostname:
        raise _wrong("names no OpenSearch")
    if bool(parts.username) != bool(parts.password):
        raise _wrong("has a user or a password, but not both")
    try:
        port = parts.port or PORT
    except ValueError:
        raise _wrong("has a port that is no number") from None
    prefix = unquote(parts.path).strip("/") or PREFIX
    if not _PREFIX.fullmatch(prefix):
        raise _wrong(f"has the prefix '{prefix}': small letters, digits, '-', '_' and '.' are allowed")
    asked = dict(parse_qsl(parts.query))
    for name in asked:
        if name not in KNOWN:
            raise Invalid(f"{SETTING}: '{name}' is unknown", hint=did_you_mean(name, KNOWN), field="search_url")
    secure = parts.scheme == SECURE
    if asked.get("ca") and not secure:
        raise _wrong("names a certificate, but is not opensearch+https")
    return Place(
        parts.hostname,
        port,
        prefix,
        secure,
        asked.get("ca", ""),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def _wrong(what: str) -> Invalid:
    return Invalid(f"{SETTING} {what}", hint=HINT, field="search_url")
