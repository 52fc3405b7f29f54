"""The image stage's SQL: files by content, addresses and what they gave, and the list of what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.tables.images import REASON_LENGTH
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.image.look import Look
from bobusang.stages.image.model import Derivative, File, Known
from bobusang.stages.image.recipe import ORIGINAL
from bobusang.stages.image.rules import url_hash
from bobusang.stages.image.tables import (
    ETAG_LENGTH,
    MODIFIED_LENGTH,
    WHO_LENGTH,
    image_blocks,
    image_fetches,
    image_files,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Row, Tx

AT_MOST = 300
"""Look-alikes that are weighed for one batch: the alarm is a hint, not a proof."""

KNOWN = Statement(f"""
    select a.url_hash, a.sha256 as address, a.etag, a.last_modified, a.reason, f.sha256, f.media, f.width, f.height,
      f.bytes, f.phash, f.colours
    from image_fetches a left join image_files f on f.made_from = a.sha256 and f.recipe = '{ORIGINAL}'
    where a.url_hash in (:hashes...)""")
FILES = Statement(f"""
    select sha256, media, width, height, bytes, phash, colours from image_files
    where made_from in (:addresses...) and recipe = '{ORIGINAL}'""")
DERIVATIVES = Statement("""
    select made_from, recipe, sha256, media, width, height, bytes from image_files
    where made_from in (:addresses...) and recipe = :recipe""")
SAME_SHAPE = Statement(f"""
    select sha256, phash, colours from image_files where phash in (:shapes...) and recipe = '{ORIGINAL}'
    limit {AT_MOST}""")
BLOCKS = Statement("select phash, colours, reason from image_blocks order by created_at, phash, colours")
UNBLOCK = Statement("delete from image_blocks where phash = :phash and colours = :colours")
FORGET = Statement("delete from image_fetches where url_hash in (:hashes...)")
MEDIA = Statement("select media as value from image_files where sha256 = :address limit 1")
MADE_FROM = Statement(
    "select made_from as value from image_files where sha256 = :address order by case when made_from = :address then 0 "
    "else 1 end, made_from limit 1"
)
OURS = Statement("select distinct sha256 from image_files where sha256 in (:addresses...)")

_FILES = Bulk(
    image_files,
    ("made_from", "recipe", "sha256", "media", "width", "height", "bytes", "phash", "colours", "created_at"),
    keep=True,
)
_FETCHES = Bulk(
    image_fetches, ("url_hash", "source_url", "sha256", "etag", "last_modified", "reason", "fetched_at"), keep=True
)
_BLOCKS = Bulk(image_blocks, ("phash", "colours", "reason", "created_by", "created_at"), keep=True)


async def known(tx: Tx, urls: Iterable[str]) -> dict[str, Known]:
    """By address what it gave, for those that were fetched before."""
    by_hash = {url_hash(url): url for url in urls}
    rows = await tx.fetch(KNOWN, hashes=sorted(by_hash)) if by_hash else ()
    found = (_known(by_hash[row["url_hash"]], row) for row in rows)
    return {one.url: one for one in found if one.file is not None or one.reason}


async def files(tx: Tx, addresses: Iterable[str]) -> dict[str, File]:
    """The originals among these, by content."""
    asked = sorted(set(addresses))
    rows = await tx.fetch(FILES, addresses=asked) if asked else ()
    return {row["sha256"]: _file(row) for row in rows}


async def derivatives(tx: Tx, addresses: Iterable[str], recipe: str) -> dict[str, Derivative]:
    """By original what this recipe has made of it."""
    asked = sorted(set(addresses))
    rows = await tx.fetch(DERIVATIVES, addresses=asked, recipe=recipe) if asked else ()
    return {row["made_from"]: _derivative(row) for row in rows}


async def same_shape(tx: Tx, looks: Iterable[Look]) -> dict[str, Look]:
    """By content the originals that have exactly one of these shapes."""
    shapes = sorted({look.phash for look in looks})
    rows = await tx.fetch(SAME_SHAPE, shapes=shapes) if shapes else ()
    return {row["sha256"]: Look(row["phash"], row["colours"]) for row in rows}


async def keep(tx: Tx, originals: Iterable[File], made: Iterable[Derivative]) -> None:
    """Write files down; what is written already stays."""
    rows = {(file.sha256, ORIGINAL): _original_row(file) for file in originals}
    rows |= {(one.made_from, one.recipe): _derivative_row(one) for one in made}
    await tx.insert(_FILES, [(*rows[name], tx.now) for name in sorted(rows)])


async def remember(tx: Tx, fetched: Sequence[Known], *, again: frozenset[str]) -> None:
    """Write down what addresses gave; `again` names those of which something else is written already."""
    hashes = sorted(url_hash(one.url) for one in fetched if one.url in again)
    if hashes:
        await tx.execute(FORGET, hashes=hashes)
    rows = {url_hash(one.url): one for one in fetched}
    await tx.insert(_FETCHES, [(name, *_fetch_row(rows[name]), tx.now) for name in sorted(rows)])


async def blocks(tx: Tx) -> tuple[tuple[Look, str], ...]:
    """What must not be shown, and why."""
    return tuple((Look(row["phash"], row["colours"]), row["reason"]) for row in await tx.fetch(BLOCKS))


async def original(tx: Tx, address: str) -> str:
    """The original of a picture, which may be named by what was made of it: that is what markets show."""
    found: str | None = await tx.value(MADE_FROM, address=address)
    if found is None:
        hint = "`bobusang picture list PRODUCT` shows those of a product"
        raise Missing(f"there is no picture {address[:80]}", hint=hint)
    return found


async def block(tx: Tx, sha256: str, reason: str, *, by: str) -> Look:
    """A person says that whatever looks like this picture must not be shown; it holds from the next run on."""
    if not reason.strip():
        raise Invalid("a picture is blocked for a reason", field="reason")
    file = (await files(tx, [sha256])).get(sha256)
    if file is None:
        raise Missing(f"there is no picture {sha256[:80]}", hint="name an original by its sha256")
    if not file.look.is_telling:
        raise Invalid(
            "this picture is too plain to be told from others by its look",
            hint="take it out of the products that show it",
        )
    row = (file.look.phash, file.look.colours, reason.strip()[:REASON_LENGTH], by[:WHO_LENGTH], tx.now)
    await tx.insert(_BLOCKS, [row])
    return file.look


async def unblock(tx: Tx, look: Look) -> None:
    """Allow what looks like this again."""
    if not await tx.execute(UNBLOCK, phash=look.phash, colours=look.colours):
        raise Missing("nothing that looks like this is blocked")


async def media(tx: Tx, address: str) -> str | None:
    """The type of a file that may be handed to the world; None for whatever is no picture of ours."""
    found: str | None = await tx.value(MEDIA, address=address)
    return found


async def ours(tx: Tx, addresses: Sequence[str]) -> set[str]:
    """Those of these that are pictures of ours; raw pages and whatever else the store keeps are not."""
    return {row["sha256"] for row in await tx.fetch(OURS, addresses=sorted(set(addresses)))}


def _known(url: str, row: Row) -> Known:
    file = _file(row) if row["sha256"] is not None else None
    return Known(url, row["address"], file, row["reason"] or "", row["etag"] or "", row["last_modified"] or "")


def _file(row: Row) -> File:
    look = Look(row["phash"], row["colours"])
    return File(row["sha256"], row["media"], row["width"], row["height"], row["bytes"], look)


def _derivative(row: Row) -> Derivative:
    size = (row["width"], row["height"], row["bytes"])
    return Derivative(row["made_from"], row["recipe"], row["sha256"], row["media"], *size)


def _original_row(file: File) -> tuple[object, ...]:
    size = (file.width, file.height, file.bytes)
    return (file.sha256, ORIGINAL, file.sha256, file.media, *size, file.look.phash, file.look.colours)


def _derivative_row(one: Derivative) -> tuple[object, ...]:
    return (one.made_from, one.recipe, one.sha256, one.media, one.width, one.height, one.bytes, None, None)


def _fetch_row(one: Known) -> tuple[object, ...]:
    etag, modified = _short(one.etag, ETAG_LENGTH), _short(one.last_modified, MODIFIED_LENGTH)
    return (one.url, one.sha256, etag, modified, one.reason[:REASON_LENGTH] or None)


def _short(header: str, length: int) -> str | None:
    """A header that can be sent back as it came; half of one is none."""
    clean = header.isprintable() and header.isascii()
    return header if clean and 0 < len(header) <= length else None
