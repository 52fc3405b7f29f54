"""One page while it is read: its tree, its JSON and its JSON-LD, each made once and only when asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from selectolax.lexbor import LexborHTMLParser

from bobusang.connectors.sources.declared import scripted
from bobusang.connectors.sources.declared.excerpt import Excerpt, excerpt
from bobusang.connectors.sources.declared.known import NOTHING
from bobusang.kit import json
from bobusang.kit.errors import Drifted, Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bobusang.connectors.sources.declared.excerpt import Part
    from bobusang.stages.collect.source import Page

MOST_BLOCKS = 50

END = object()

# How deep `@graph` and lists are looked through.
DEEPEST = 4

# Parsing containers inside containers takes the square of their depth: 25,000 take two seconds, a million would take an
# hour. With fewer tags than that nobody needs to count.
MANY_TAGS = 25_000
DEEPEST_TAGS = 1000

_CONTAINER = re.compile(
    rb"<(/?)(?:div|ul|ol|dl|menu|dir|section|article|aside|nav|main|header|footer|hgroup|search|form|fieldset|figure"
    rb"|blockquote|center|details|summary|dialog|address|pre|listing|table|button|object|applet|marquee|h[1-6])\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"<!--|<script\b([^>]{0,500})>", re.IGNORECASE)
_LINKED = re.compile(r"ld\+json", re.IGNORECASE)
_CLOSING = re.compile(r"</script", re.IGNORECASE)

# What people leave around their JSON-LD: comments, CDATA, a semicolon; and what JSON does not allow inside texts.
_WRAPPING = re.compile(r"\A\s*(?:<!--|//<!\[CDATA\[|<!\[CDATA\[)?\s*|\s*(?:-->|//\]\]>|\]\]>|;)?\s*\Z")
_CONTROL = re.compile(r"[\x00-\x1f]+")
_TRAILING = re.compile(r",(?=\s{0,100}[}\]])")


class Document:
    """A page and what was made of it so far.

    Without `functools.cached_property`: before Python 3.12 it holds one lock for all instances, and pages that are read
    in several threads would wait for each other.
    """

    __slots__ = (
        "_blocks",
        "_excerpt",
        "_ld",
        "_origin",
        "_parts",
        "_scripts",
        "_sought",
        "_text",
        "_tree",
        "besides",
        "hosts",
        "page",
        "place",
        "url",
    )

    def __init__(
        self, page: Page, url: str = "", parts: tuple[Part, ...] = (), hosts: Mapping[str, str] | None = None
    ) -> None:
        self.page = page
        self.hosts = hosts or {}
        self.place: tuple[int, int] | None = None
        """Of the record that is being read: its number, and how many there are."""
        self.besides: dict[int, Any] = {}
        """What was read of the whole page for its records, by its reader."""
        self._parts = parts
        self._excerpt: Excerpt | None = None
        self._sought: set[bytes] = set()
        self.url = page.url or page.ask.url or url
        self._text: str | None = None
        self._tree: LexborHTMLParser | None = None
        self._ld: dict[str, Any] = {}
        self._blocks: Iterator[Any] | None = None
        self._scripts: list[tuple[str, str]] | None = None
        self._origin: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        """The page as text; bytes that are none are replaced, never fatal."""
        if self._text is None:
            self._text = self.page.text or self.page.body.decode(errors="replace")
        return self._text

    @property
    def tree(self) -> LexborHTMLParser:
        """The page, or its excerpt, as HTML; `Drifted` where it is nested beyond measure."""
        if self._tree is None:
            whole = self.page.body if self.page.is_utf8 else self.text.encode(errors="replace")
            self._excerpt = excerpt(whole, self._parts) if self._parts else None
            html = whole if self._excerpt is None else self._excerpt.page
            if html.count(b"<") > MANY_TAGS and _depth(html) > DEEPEST_TAGS:
                raise Drifted(f"{self.page.ask.endpoint}: the page is nested more than {DEEPEST_TAGS:,} deep")
            self._tree = LexborHTMLParser(html)
        return self._tree

    def placed(self, records: Sequence[Any]) -> Iterator[Any]:
        """Records one after the other, each knowing its place."""
        before = self.place
        try:
            for at, each in enumerate(records):
                self.place = at, len(records)
                yield each
        finally:
            self.place = before

    @property
    def is_excerpt(self) -> bool:
        """Whether the tree is that of an excerpt."""
        return self._excerpt is not None

    def seek(self, record: Any, signs: tuple[bytes, ...]) -> None:
        """Note what must not stand outside of the excerpt, for it was not found there, or all of it is wanted."""
        self._sought.update(signs if record is self._tree else filter(None, signs))

    @property
    def is_overlooked(self) -> bool:
        """Whether something that was sought in the excerpt may stand outside of it; without a sign nobody can say."""
        if self._excerpt is None or not self._sought:
            return False
        rest = self._excerpt.rest.lower()
        return any(not sign or sign in rest for sign in self._sought)

    @property
    def origin(self) -> tuple[str, str]:
        """The page's own scheme, and scheme with host; empty where its address has none."""
        if self._origin is None:
            parts = urlsplit(self.url)
            whole = parts.scheme in ("http", "https") and parts.hostname
            self._origin = (parts.scheme, f"{parts.scheme}://{parts.netloc}") if whole else ("", "")
        return self._origin

    @property
    def lenient(self) -> Any:
        """The page as JSON; nothing where it is none, as where only its text is wanted."""
        try:
            return self.data
        except (Drifted, Unavailable):
            return None

    @property
    def data(self) -> Any:
        """The page as JSON; `Drifted` where it is none, `Unavailable` where it is cut off."""
        body = self.page.body.strip()
        if not body.endswith((b"}", b"]")):
            raise Unavailable(f"{self.page.ask.endpoint}: the answer is cut off, or is no JSON")
        try:
            return json.loads(body)
        except Invalid:
            pass
        try:
            return json.loads(body.decode(errors="replace"))
        except Invalid as error:
            raise Drifted(f"{self.page.ask.endpoint}: the answer is not JSON", hint=str(error)[:200]) from error

    def linked(self, kind: str) -> Any:
        """The first JSON-LD object of this type, or `NOTHING`; no more of the page is looked through than it takes."""
        if self._blocks is None:
            self._blocks = _blocks(self.text)
        while kind not in self._ld and (block := next(self._blocks, END)) is not END:
            for each in _objects(block, 0):
                kinds = each.get("@type")
                for name in kinds if isinstance(kinds, list) else [kinds]:
                    if isinstance(name, str):
                        self._ld.setdefault(name, each)
        return self._ld.get(kind, NOTHING)

    def scripted(self, name: str) -> Any:
        """The JSON of the script of that id, or of the variable of that name."""
        if self._scripts is None:
            self._scripts = list(scripted.scripts(self.text))
        return scripted.said(self._scripts, name)


def _depth(html: bytes) -> int:
    depth = deepest = 0
    for closing in _CONTAINER.findall(html):
        depth += -1 if closing else 1
        deepest = max(deepest, depth)
    return deepest


def _blocks(text: str) -> Iterator[Any]:
    """What the JSON-LD scripts of a page hold, comments skipped; a broken one is as good as none."""
    at = 0
    for _ in range(MOST_BLOCKS * 20):
        found = _OPENING.search(text, at)
        if found is None:
            return
        if found[1] is None:
            at = text.find("-->", found.end())
            if at < 0:
                return
            continue
        closing = _CLOSING.search(text, found.end())
        if closing is None:
            return
        if _LINKED.search(found[1]):
            yield _loads(text[found.end() : closing.start()])
        at = closing.end()


def _loads(text: str) -> Any:
    """JSON, then JSON with the mistakes that shops make: raw line breaks in texts, wrappings, a comma too many."""
    for mend in (str, _unwrapped, lambda raw: _TRAILING.sub("", _unwrapped(raw))):
        try:
            return json.loads(mend(text))
        except (Invalid, msgspec.MsgspecError):
            continue
    return None


def _unwrapped(text: str) -> str:
    return _CONTROL.sub(" ", _WRAPPING.sub("", text))


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _objects(each, depth + 1)
    elif isinstance(value, dict):
        yield value
        yield from _objects(value.get("@graph"), depth + 1)
