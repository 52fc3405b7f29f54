"""A mall of pictures for these tests: what stands at which address, who asked for it, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.catalog.tables import products
from bobusang.kit.errors import BobusangError
from bobusang.kit.http import Answer
from bobusang.kit.sql import Bulk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database
    from bobusang.stages.image.model import Request

_PRODUCTS = Bulk(products, ("id", "mall", "product_id", "model", "version", "created_at", "updated_at"))


@dataclass
class Mall:
    """The fetch port: an answer or an error for each request."""

    shown: dict[str, bytes | int | BobusangError] = field(default_factory=dict)
    banner: bytes | None = None
    """What is sent to who comes without a Referer."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(source, address) of each request."""
    conditional: int = 0
    largest: int = 0

    def put(self, name: str, what: bytes | int | BobusangError) -> str:
        url = f"https://img.example.com/{name}.jpg"
        self.shown[url] = what
        return url

    async def __call__(self, requests: Sequence[Request], /) -> list[Answer | BobusangError]:
        self.largest = max(self.largest, len(requests))
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Answer | BobusangError:
        call = request.call
        self.asked.append((request.source, call.url))
        what = self.shown[call.url]
        if isinstance(what, BobusangError):
            return what
        if isinstance(what, int):
            return Answer(call.url, what, {"content-type": "text/html"}, b"<html>")
        if self.banner is not None and "Referer" not in call.headers:
            what = self.banner
        tag = f'"{hash(what)}"'
        if call.headers.get("If-None-Match") == tag:
            self.conditional += 1
            return Answer(call.url, 304, {"etag": tag}, b"")
        return Answer(call.url, 200, {"content-type": "application/octet-stream", "etag": tag}, what)


async def stock(db: Database, *ids: int, models: dict[int, str] | None = None) -> None:
    """Products to give pictures to."""
    async with db.begin() as tx:
        rows: list[tuple[Any, ...]] = [
            (id, "okmall", f"P{id}", (models or {}).get(id), 1, tx.now, tx.now) for id in ids
        ]
        await tx.insert(_PRODUCTS, rows)
