"""A sample: one page of a shop that is not known yet, and how it was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from bobusang.kit import json
from bobusang.kit.encoding import decoded
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, as a person gave it."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    secrets: tuple[str, ...] = ()
    """Headers that were left out, because they open a door: cookies, keys, tokens."""

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.url).query, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class Sample:
    """The page that came."""

    request: Request
    content: bytes
    status: int = 200
    media: str = ""
    """Its Content-Type."""
    saved: bool = False
    """From a file: nothing was fetched."""

    @property
    def text(self) -> str:
        return decoded(self.content, self.media).text

    @property
    def is_json(self) -> bool:
        return self.content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")

    def data(self) -> Any:
        """The answer as JSON; None where it is none."""
        try:
            return json.loads(self.text)
        except Invalid:
            return None
