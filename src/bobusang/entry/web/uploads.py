"""Forms with a file, as browsers send them (`multipart/form-data`): fields, and the bytes of what was chosen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

KIND = "multipart/form-data"
MOST_PARTS = 100
LONGEST_HEAD = 4_000
LONGEST_FIELD = 100_000
AROUND = 64_000
"""Bytes that a form may put around its file."""

_BOUNDARY = re.compile(r"""boundary=(?:"([^"\r\n]{1,70})"|([^\s";,]{1,70}))""", re.IGNORECASE)
_NAMED = re.compile(rb'[; ](name|filename)="([^"\r\n]*)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was chosen."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Sent:
    """What was filled in, and the files by the name of their field."""

    pairs: list[tuple[str, str]]
    files: dict[str, Upload]


def parsed(body: bytes, content_type: str) -> Sent:
    """The parts of a form. A field for a file in which none was chosen is as if it were not there."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise Invalid("the form cannot be read: it does not say what stands between its parts")
    sent = Sent([], {})
    for head, start, end in _parts(body, (found[1] or found[2]).encode("latin-1", "replace")):
        named = {key.lower(): value.replace(b"%22", b'"') for key, value in _NAMED.findall(head)}
        field = _text(named.get(b"name", b""))
        if (name := named.get(b"filename")) is None:
            if end - start > LONGEST_FIELD:
                raise Invalid(f"the form cannot be read: {field[:50]} is too long")
            sent.pairs.append((field, _text(body[start:end])))
        elif name or end > start:
            sent.files[field] = Upload(_text(name), body[start:end])
    return sent


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The head of each part, and where its content begins and ends."""
    line = b"--" + boundary
    at = len(line)
    if not body.startswith(line):
        raise Invalid("the form cannot be read: it does not begin with a part")
    for _ in range(MOST_PARTS):
        if body.startswith(b"--", at):
            return
        start = body.find(b"\r\n\r\n", at, at + LONGEST_HEAD)
        end = body.find(b"\r\n" + line, start + 2)  # an empty content shares its line end with the head
        if start < 0 or end < 0:
            raise Invalid("the form breaks off", hint="send it again")
        yield body[at:start], start + 4, max(start + 4, end)
        at = end + 2 + len(line)
    raise Invalid(f"the form has more than {MOST_PARTS} parts")


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"the form cannot be read: {error.reason}") from None
