"""Web addresses as they are sent: absolute, over HTTP, without user names, escaped once and otherwise as written."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urljoin

from yarl import URL

from bobusang.kit.errors import Invalid

LONGEST = 8192

_LEGAL = r"A-Za-z0-9\-._~:/?@!$&'()*+,;=%\[\]"
# Most addresses need nothing: they are sent byte by byte, so that escapes in EUC-KR and signatures stay as they are.
_READY = re.compile(rf"https?://[a-z0-9._-]+(?::[0-9]{{1,5}})?(?:[/?][{_LEGAL}]*)?")
_PARTS = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SAFE = "%/:?@!$&'()*+,;=-._~[]"


class Origin(NamedTuple):
    """Whom an address belongs to; what is meant for one is not told another."""

    scheme: str
    host: str
    port: int

    def trusts(self, other: Origin) -> bool:
        """The same, or the same over TLS: then what was sent here may be sent there."""
        return self == other or (self, other) == (("http", self.host, 80), ("https", self.host, 443))


def readied(text: str) -> URL:
    """The address to send; Invalid when it is none of HTTP."""
    if len(text) > LONGEST:
        raise Invalid(f"the address has {len(text)} characters; at most {LONGEST} are sent", field="url")
    try:
        url = URL(text if _READY.fullmatch(text) else _escaped(text), encoded=True)
        if url.raw_host:
            return url
        reason = "it has no host"
    except ValueError as error:  # such as a port that is too large
        reason = str(error)
    raise Invalid(f"{shown(text)} is no web address: {reason}", field="url")


def joined(base: URL, location: str) -> str:
    """Where a redirect leads, seen from where it was said; bytes that are no UTF-8 are kept as escapes."""
    escaped = quote(location.strip().encode("utf-8", "surrogateescape"), safe=_SAFE + "#")
    return urljoin(str(base), escaped)


def origin(url: URL) -> Origin:
    """Its origin."""
    return Origin(url.scheme, url.raw_host or "", url.port or 0)


def shown(url: URL | str) -> str:
    """An address for a message: without its query, where tokens are, and not too long."""
    return re.split(r"[?#]", str(url), maxsplit=1)[0][:200]


def _escaped(text: str) -> str:
    if _CONTROL.search(text):
        raise Invalid("the address has control characters in it", field="url")
    parts = _PARTS.fullmatch(text.strip())
    if parts is None:
        raise Invalid(f"{shown(text)} is no web address", hint="give one that begins with https://", field="url")
    scheme, authority, rest = parts.groups()
    if "@" in authority:
        raise Invalid("the address has a user name in it", hint="give it as a header", field="url")
    authority = authority.lower() if authority.isascii() else _ascii(authority)
    if not _AUTHORITY.fullmatch(authority):
        raise Invalid(f"{authority[:200]} is no host", field="url")
    return f"{scheme.lower()}://{authority}{quote(rest, safe=_SAFE)}"


def _ascii(authority: str) -> str:
    """A host in other letters as the name that is looked up; what looks like digits becomes digits here."""
    host, colon, port = authority.partition(":")
    return (URL.build(scheme="http", host=host).raw_host or "") + colon + port
