"""Excerpts: the parts of a page in which all stands that a stream reads, cut out of it before it is parsed.

Most of a shop's page is menus, layers and other people's goods, and making a tree of them is most of the work. Pages
are cut as bytes of UTF-8: so they come, so they are parsed, and a page with Korean in it is twice as large as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 10_000

# What stands before it decides how names of classes are compared.
_DOCTYPE = re.compile(rb"<!doctype[^>]{0,500}>", re.IGNORECASE)
_DOCTYPE_WITHIN = 2000

# Inside these no tag is a tag.
_DEAF = ((b"<!--", b"-->"), (b"<script", b"</script"))

_FUNCTION = re.compile(r":[\w-]+\([^()]*\)")
_NAMED = re.compile(r"[#.](-?[A-Za-z_][\w-]*)")
_VALUE = re.compile(r"\[[^\]=]*=\s*[\"']?([\w.-]+)[\"']?\s*\]")
_ATTRIBUTE = re.compile(r"\[\s*([A-Za-z][\w-]*)")


@dataclass(frozen=True, slots=True)
class Part:
    """From the tag in which `begin` stands to the tag in which `end` stands, both with it.

    Without an end, or where it does not come, to the end of the page.
    """

    begin: bytes
    end: bytes = b""
    every: bool = False
    """Each place where it begins, not only the first; one ends at the latest where the next begins."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The parts of a page as a page of their own, and what of the page stands in none of them, as it was cut."""

    page: bytes
    rest: bytes


def excerpt(html: bytes, parts: tuple[Part, ...]) -> Excerpt | None:
    """Cut a page; None where it has none of the parts, or a cut goes through a script."""
    pieces: list[bytes] = []
    rest: list[bytes] = []
    after = 0
    for start, stop in _spans(html, parts):
        if _is_deaf(html, after, start) or _is_deaf(html, start, stop) or len(pieces) == MOST:
            return None
        pieces.append(_closed(html[start:stop]))
        rest.append(html[after:start])
        after = stop
    if not pieces:
        return None
    doctype = _DOCTYPE.search(html, 0, _DOCTYPE_WITHIN)
    return Excerpt(b"".join([doctype[0] if doctype else b"", *pieces]), b"\n".join([*rest, html[after:]]))


def _spans(html: bytes, parts: tuple[Part, ...]) -> Iterator[tuple[int, int]]:
    at = 0
    for part in parts:
        found = html.find(part.begin, at)
        while found >= 0:
            begun = found + len(part.begin)
            found = html.find(part.begin, begun) if part.every else -1
            stop = _stop(html, part, begun, html.rfind(b"<", begun, found + 1) if found >= 0 else len(html))
            yield max(html.rfind(b"<", at, begun), at), stop
            at = stop


def _stop(html: bytes, part: Part, begun: int, most: int) -> int:
    ending = html.find(part.end, begun, most) if part.end else -1
    closing = html.find(b">", ending + len(part.end) - 1, most) if ending >= 0 else -1
    return closing + 1 if closing >= 0 else most


def _is_deaf(html: bytes, start: int, stop: int) -> bool:
    """Whether a script or a comment that begins here goes on behind it."""
    return any(
        (begun := html.rfind(opening, start, stop)) >= 0 and html.find(closing, begun, stop) < 0
        for opening, closing in _DEAF
    )


def _closed(piece: bytes) -> bytes:
    """An object that ends closes what a piece left open, except tables; what a piece closes too often is ignored."""
    tables = piece.count(b"<table") - piece.count(b"</table")
    return b"".join((b"<object>", piece, b"</table>" * tables, b"</object>"))


def signs(selector: str) -> tuple[bytes, ...]:
    """For each alternative of a selector a text that stands on every page on which it finds something.

    In lower case: attributes have no case, and on old pages classes have none. Empty where there is no such text.
    """
    return tuple(_sign(each) for each in _FUNCTION.sub("", selector).split(","))


def _sign(selector: str) -> bytes:
    for pattern in (_NAMED, _VALUE, _ATTRIBUTE):
        if "\\" not in selector and (found := pattern.findall(selector)):
            return str(max(found, key=len)).lower().encode()
    return b""
