"""The raw archive: every answer kept by its content, indexed with how it came, thrown away when nobody refers to it.

The bytes are durable before the transaction that refers to them begins; a page seen again, even as a 304, is indexed
again, so what is still being seen never grows old.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.kit.ids import sequence
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.collect.tables import raw_pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Database, Row, Tx
    from bobusang.kit.http import Answer
    from bobusang.platform.blob import Blobs
    from bobusang.stages.collect.model import Fetched

KEEP = timedelta(days=30)
AT_ONCE = 500
SECRET = frozenset({"set-cookie", "cookie", "authorization", "proxy-authorization"})
"""Headers that are never archived."""
ASKABLE = frozenset({200, 304})
VALIDATORS = frozenset({"etag", "last-modified"})
"""A later request may be conditional on a page that came well and with one of these."""
BINARY = "application/octet-stream"

_URL_LENGTH, _ETAG_LENGTH, _MEDIA_LENGTH = 2000, 300, 200
_ROWS = Bulk(raw_pages, tuple(column.name for column in raw_pages.columns))

LATEST = Statement("""
    select r.url_hash, r.id, r.sha256, r.etag, r.headers, r.media from raw_pages r
    join (select url_hash, max(id) as id from raw_pages where url_hash in (:hashes...) group by url_hash) newest
      on newest.id = r.id""")
ONE = Statement("select * from raw_pages where id = :id")
OLD = Statement("""
    select r.id, r.sha256 from raw_pages r where r.id > :after and r.fetched_at < :before
      and not exists (select 1 from data_lineage l where l.raw_id = r.id)
      and not exists (select 1 from held_writes h where h.raw_id = r.id)
    order by r.id limit :limit""")
DROP = Statement("delete from raw_pages where id in (:ids...)")
# Another page, or a webhook that nobody has read yet, may have the same bytes.
NEEDED = Statement("""
    select sha256 as value from raw_pages where sha256 in (:addresses...)
    union select sha256 from inbound_events where state in ('RECEIVED', 'FAILED') and sha256 in (:addresses...)""")


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server may be asked by: has it changed since this page?"""

    sha256: str
    """Where the page's bytes are: what a 304 stands for."""
    media: str = ""
    etag: str = ""
    last_modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a conditional request; empty when the server gave nothing to ask by."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True, slots=True)
class RawPage:
    """An archived answer: the evidence behind a value."""

    id: int
    source: str
    endpoint: str
    url: str
    sha256: str
    status: int
    headers: Mapping[str, str]
    media: str
    size: int
    fetched_at: datetime
    job_id: int | None
    task_id: int | None


@dataclass(frozen=True, slots=True)
class Pruned:
    """How much was thrown away."""

    pages: int = 0
    blobs: int = 0


class Archive:
    """The archive in a blob store."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def keep(self, answers: Sequence[Answer]) -> list[str]:
        """Archive the bytes of answers, before the transaction; their addresses in order."""
        return await self._blobs.put_many([(answer.body, media_of(answer.headers)) for answer in answers])

    async def get(self, sha256: str) -> bytes:
        """The bytes of an archived page; Missing when it was thrown away."""
        return await self._blobs.get(sha256)

    async def index(self, tx: Tx, pages: Sequence[Fetched], *, good: bool = True) -> list[int]:
        """Write down how archived pages came; their ids in order.

        A page that could not be read (`good=False`) is kept for whoever mends the reader, but no later request is made
        conditional on it: a 304 would hide the page for ever.
        """
        ids = await sequence(tx, "raw_page").take(tx, len(pages))
        await tx.insert(_ROWS, [_row(id_, page, good) for id_, page in zip(ids, pages, strict=True)])
        return ids

    async def prune(self, db: Database, older_than: timedelta = KEEP, *, at_once: int = AT_ONCE) -> Pruned:
        """Throw away pages that are older and that no version, field change or held write refers to.

        First the row, then the bytes that no other row needs: dying in between wastes space, and never loses evidence.
        """
        pages, gone, after = 0, 0, 0
        while found := await db.transact(partial(_drop, older_than=older_than, after=after, limit=at_once)):
            async with db.read() as tx:
                needed = {row["value"] for row in await tx.fetch(NEEDED, addresses=sorted(set(found.values())))}
            free = sorted(set(found.values()) - needed)
            await self._blobs.delete(free)
            pages, gone, after = pages + len(found), gone + len(free), max(found)
        return Pruned(pages, gone)


async def validators(tx: Tx, urls: Sequence[str]) -> dict[str, Validators]:
    """By address: what to ask the server by, for those of which a good page is archived."""
    by_hash = {_hash(url): url for url in urls}
    rows = await tx.fetch(LATEST, hashes=list(by_hash)) if by_hash else ()
    return {by_hash[row["url_hash"]]: _validators(row) for row in rows}


async def page(tx: Tx, raw_id: int) -> RawPage:
    """One archived answer; Missing when it was thrown away."""
    row = await tx.first(ONE, id=raw_id)
    if row is None:
        raise Missing(f"there is no raw page {raw_id}", hint="unreferenced pages are thrown away after some time")
    return RawPage(
        row["id"],
        row["source"],
        row["endpoint"],
        row["url"],
        row["sha256"],
        row["status"],
        json.loads(row["headers"]),
        row["media"],
        row["size"],
        utc(row["fetched_at"]),
        row["job_id"],
        row["task_id"],
    )


def cell_of(page: RawPage, key: str, field: str) -> str:
    """Where a value stood, of a page that was part of a spreadsheet (`단가표!D5`); empty for any other page."""
    told = page.headers
    if "sheet" not in told or "columns" not in told:
        return ""
    column = json.loads(told["columns"]).get(field, "")
    row = json.loads(told["rows"]).get(key, "")
    return f"{told['sheet']}!{column}{row}" if row else ""


def media_of(headers: Mapping[str, str]) -> str:
    """The media type that an answer names."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() or BINARY


async def _drop(tx: Tx, *, older_than: timedelta, after: int, limit: int) -> dict[int, str]:
    rows = await tx.fetch(OLD, before=tx.now - older_than, after=after, limit=limit)
    found = {row["id"]: row["sha256"] for row in rows}
    if found:
        await tx.execute(DROP, ids=list(found))
    return found


def _row(id_: int, page: Fetched, good: bool) -> tuple[object, ...]:
    headers = {name: _clean(value) for name, value in page.headers.items() if name not in SECRET}
    etag = headers.get("etag", "")
    return (
        id_,
        page.source,
        page.ask.endpoint,
        page.url[:_URL_LENGTH],
        _hash(page.url) if good and page.status in ASKABLE and VALIDATORS & headers.keys() else None,
        page.sha256,
        page.status,
        json.dumps(headers),
        page.media[:_MEDIA_LENGTH],
        page.size,
        page.fetched_at,
        page.job_id or None,
        page.task_id or None,
        etag if 0 < len(etag) <= _ETAG_LENGTH else None,
    )


def _validators(row: Row) -> Validators:
    modified = json.loads(row["headers"]).get("last-modified", "")
    return Validators(row["sha256"], row["media"], row["etag"] or "", modified)


def _hash(url: str) -> str:
    return hashlib.sha256(url.encode(errors="replace")).hexdigest()


def _clean(value: str) -> str:
    """A header as a database keeps it; bytes that are no text come as lone surrogates."""
    return value.replace("\0", "").encode(errors="replace").decode()
