"""Files opened by what they are, not by what they are called; each that cannot be is refused in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.connectors.sources.sheets import book, old, packed, separated
from bobusang.connectors.sources.sheets.grid import LARGEST_FILE, Refused

if TYPE_CHECKING:
    from bobusang.connectors.sources.sheets.grid import Grid

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_HTML = (b"<html", b"<table", b"<!doctype html", b"<meta", b"<?xml")


def opened(
    data: bytes, name: str, *, sheet: str | int | None = None, encoding: str = "", weighed: bool = False
) -> Grid:
    """A sheet of a file: by its name, by its number among the visible ones, or the first that has something in it.

    `weighed`: these very bytes were opened before, so what they cost is known.
    """
    if len(data) > LARGEST_FILE:
        raise Refused(f"the file has {len(data) >> 20:,} MB, at most {LARGEST_FILE >> 20} MB are read")
    if not data.strip(b"\0\r\n\t \xef\xbb\xbf"):
        raise Refused("the file is empty")
    if data.startswith(_ZIP):
        if not weighed:
            packed.checked(data)
        return book.opened(data, "xlsx", sheet)
    if data.startswith(_OLE):
        if _LOCKED in data:
            raise Refused("the file is protected by a password", hint="save it without one")
        return old.opened(data, sheet)
    if data.lstrip(b"\xef\xbb\xbf\r\n\t ")[:20].lower().startswith(_HTML):
        raise Refused("the file is a web page with the name of a spreadsheet", hint="open it and save it as .xlsx")
    if data.startswith((b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b")):
        raise Refused("the file is no spreadsheet", hint="XLSX, XLS, CSV and TSV are read")
    return separated.opened(data, name, encoding=encoding)
