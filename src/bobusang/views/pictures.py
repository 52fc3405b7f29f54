"""Pictures as people look at them: those of a product, what is not to be shown, and what somebody should decide."""

from dataclasses import dataclass
from datetime import datetime

from bobusang.catalog import images
from bobusang.catalog import products as catalog
from bobusang.catalog.tables.images import ImageState, Rights
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.image import store
from bobusang.stages.image.recipe import ORIGINAL
from bobusang.stages.image.tables import Doubt

BLOCKED = Statement(f"""
    select b.reason, b.created_by, b.created_at,
      (select min(f.sha256) from image_files f
        where f.phash = b.phash and f.colours = b.colours and f.recipe = '{ORIGINAL}') as sha256
    from image_blocks b order by b.created_at desc, b.phash, b.colours""")
DOUBTED = Statement("""
    select d.id, d.kind, d.sha256, d.reason, d.raised_at, p.id as product_id, p.mall, p.product_id as mall_id, p.name
    from image_doubts d left join products p on p.id = case when d.product_id > 0 then d.product_id else
      (select min(i.product_id) from product_images i where i.sha256 = d.sha256) end
    where d.allowed_at is null and d.id < :before order by d.id desc limit :limit""")


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureLine:
    """A picture of a product; `position` is what markets are told, of those that are ready."""

    position: int
    state: ImageState
    reason: str | None
    rights: Rights
    rights_source: str | None
    sha256: str | None
    width: int | None
    height: int | None
    bytes: int | None
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLine:
    """A look that is not shown, by a picture that has it."""

    sha256: str | None
    reason: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtLine:
    """A picture that a person should look at, with one of the products that have it."""

    id: int
    kind: Doubt
    sha256: str
    reason: str
    product: int | None
    mall: str | None
    mall_id: str | None
    name: str | None
    raised_at: datetime


async def of_product(tx: Tx, id: int) -> list[PictureLine]:
    """In their order."""
    await catalog.get(tx, id)
    found = (await images.of(tx, [id]))[id]
    files = await store.files(tx, [one.sha256 for one in found if one.sha256])
    lines = []
    for place, one in enumerate(found, start=1):
        file = files.get(one.sha256 or "")
        lines.append(
            PictureLine(
                position=place,
                state=one.state,
                reason=one.reason,
                rights=one.rights,
                rights_source=one.rights_source,
                sha256=one.sha256,
                width=None if file is None else file.width,
                height=None if file is None else file.height,
                bytes=None if file is None else file.bytes,
                address=one.source_url,
            )
        )
    return lines


async def blocks(tx: Tx) -> list[BlockLine]:
    """All of them, newest first."""
    return [
        BlockLine(
            sha256=row["sha256"],
            reason=row["reason"],
            created_by=row["created_by"],
            created_at=utc(row["created_at"]),
        )
        for row in await tx.fetch(BLOCKED)
    ]


async def doubts(tx: Tx, before: int, limit: int) -> list[DoubtLine]:
    """Those that nobody has decided on, newest first."""
    return [_doubt(row) for row in await tx.fetch(DOUBTED, before=before, limit=limit)]


def _doubt(row: Row) -> DoubtLine:
    return DoubtLine(
        id=row["id"],
        kind=Doubt(row["kind"]),
        sha256=row["sha256"],
        reason=row["reason"],
        product=row["product_id"],
        mall=row["mall"],
        mall_id=row["mall_id"],
        name=row["name"],
        raised_at=utc(row["raised_at"]),
    )
