"""Requests with `{names}` in them, filled from a closed set: no expressions, no surprises in an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bobusang.connectors.sources.declared.known import Flaw
from bobusang.kit import json
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NAME = re.compile(r"\{([^{}]*)\}")
# In a body and a query other braces are text: GraphQL is full of them.
_WORD = re.compile(r"\{([A-Za-z_]\w*)\}")
_UNFIT = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Request:
    """Method, path, query, headers and body, with names in braces."""

    method: str = "GET"
    path: str = "/"
    host: str = ""
    """Which of the shop's hosts; empty: its base."""
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None
    """A text, or what is sent as JSON."""
    form: tuple[tuple[str, str], ...] = ()

    def url(self, values: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> str:
        """Path and query with the names filled in; `extra` are further parameters, such as the page."""
        path = _filled(self.path, values, _quoted)
        query = [f"{_quoted(name)}={_quoted(worded(value, values))}" for name, value in self.query]
        query += [f"{_quoted(name)}={_quoted(str(value))}" for name, value in (extra or {}).items()]
        return f"{path}?{'&'.join(query)}" if query else path

    def sent_headers(self, values: Mapping[str, Any]) -> dict[str, str]:
        media = self._media
        if not self.headers:
            return {"Content-Type": media} if media else {}
        found = {name: _UNFIT.sub("", filled(value, values)) for name, value in self.headers}
        if media and not any(name.lower() == "content-type" for name in found):
            found["Content-Type"] = media
        return found

    @property
    def _media(self) -> str:
        if self.form:
            return "application/x-www-form-urlencoded"
        return "" if self.body is None or isinstance(self.body, str) else "application/json"

    def sent_body(self, values: Mapping[str, Any]) -> str | None:
        """A form, a text as it is, anything else as JSON; names are filled in only inside texts. A text of JSON that is
        nothing but a name becomes the value itself: a number, a list, or null."""
        if self.form:
            return "&".join(f"{_quoted(name)}={_quoted(worded(value, values))}" for name, value in self.form)
        if self.body is None:
            return None
        return worded(self.body, values) if isinstance(self.body, str) else json.dumps(_deep(self.body, values))


def check_names(text: str, known: set[str], *, braces: bool = False) -> None:
    """A `Flaw` for a name in braces that nobody gives; with `braces` only for one that is all of the text."""
    alone = _WORD.fullmatch(text)
    for name in [alone[1]] if alone else [] if braces else _NAME.findall(text):
        if name not in known:
            raise Flaw(f"unknown placeholder {{{name[:50]}}}", did_you_mean(name, known))


def filled(text: str, values: Mapping[str, Any]) -> str:
    """A text with its names filled in."""
    return _filled(text, values, str)


def worded(text: str, values: Mapping[str, Any]) -> str:
    """The same where braces may be text: only names that somebody gives are filled in."""
    if "{" not in text:
        return text

    def fill(found: re.Match[str]) -> str:
        try:
            return _text(values[found[1]])
        except KeyError:
            return found[0]

    return _WORD.sub(fill, text)


def _text(value: Any) -> str:
    """As it stands inside a text: of a list its elements with commas, of nothing nothing."""
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _filled(text: str, values: Mapping[str, Any], write: Callable[[str], str]) -> str:
    pieces = _pieces(text)
    if len(pieces) == 1:
        return text
    return "".join([write(_text(values[each])) if at % 2 else each for at, each in enumerate(pieces)])


@lru_cache(maxsize=1024)
def _pieces(text: str) -> tuple[str, ...]:
    """What stands between the names, and every second the name itself."""
    return tuple(_NAME.split(text))


def _quoted(text: str) -> str:
    return text if text.isascii() and text.isalnum() else quote(text, safe="")


def _deep(value: Any, values: Mapping[str, Any]) -> Any:
    match value:
        case str():
            alone = _WORD.fullmatch(value)
            return values[alone[1]] if alone and alone[1] in values else worded(value, values)
        case list():
            return [_deep(each, values) for each in value]
        case dict():
            return {name: _deep(each, values) for name, each in value.items()}
    return value


def texts(value: Any, visit: Callable[[str], None]) -> None:
    """Show every text inside a body to `visit`."""
    match value:
        case str():
            visit(value)
        case list():
            for each in value:
                texts(each, visit)
        case dict():
            for each in value.values():
                texts(each, visit)
