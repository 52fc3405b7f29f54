"""The pictures of products as rows: read, locked and replaced in bulk, put in order and declared by a person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bobusang.catalog.tables.images import REASON_LENGTH, ImageState, Rights, product_images
from bobusang.catalog.tables.records import SYSTEM_LENGTH
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Row, Tx

TAKEN_OUT = "taken out by a person"
"""The reason that no later run overrules."""

PLACED = "placed by a person"
"""The reason of a picture that is shown where it is because a person said so: no later run moves it."""

OF = Statement("""
    select product_id, source_url, url_hash, sha256, state, reason, rights, rights_source from product_images
    where product_id in (:ids...) order by product_id, position""")
LOCK = Statement(
    "select id, coalesce(model, product_id) as related from products where id in (:ids...) order by id for update",
    sqlite="select id, coalesce(model, product_id) as related from products where id in (:ids...) order by id",
)
CLEAR = Statement("delete from product_images where product_id in (:ids...)")
SHARED = Statement("""
    select distinct i.sha256, coalesce(p.model, p.product_id) as related
    from product_images i join products p on p.id = i.product_id
    where i.sha256 in (:addresses...)""")
SHOWING = Statement(
    "select distinct product_id as value from product_images where sha256 in (:addresses...) order by product_id"
)

_ROWS = Bulk(
    product_images,
    (
        *("product_id", "position", "source_url", "url_hash", "sha256", "state", "reason", "rights", "rights_source"),
        "updated_at",
    ),
)


@dataclass(frozen=True, slots=True)
class ProductImage:
    """One picture of a product; its place is its place in the tuple, so there are no gaps."""

    source_url: str
    url_hash: str
    state: ImageState
    sha256: str | None = None
    """Of the original; of a refused one, what was refused."""
    reason: str | None = None
    rights: Rights = Rights.UNKNOWN
    rights_source: str | None = None

    @property
    def is_ready(self) -> bool:
        return self.state is ImageState.READY


def said(reason: str) -> str:
    """A reason as every database keeps it: strangers' words come in it, with NULs and halves of characters."""
    return "".join(filter(str.isprintable, reason))[:REASON_LENGTH]


async def of(tx: Tx, product_ids: Sequence[int]) -> dict[int, tuple[ProductImage, ...]]:
    """The pictures of each product in their order; an empty tuple for one without."""
    found: dict[int, list[ProductImage]] = {id: [] for id in product_ids}
    for row in await tx.fetch(OF, ids=sorted(found)) if found else ():
        found[row["product_id"]].append(_image(row))
    return {id: tuple(images) for id, images in found.items()}


async def lock(tx: Tx, product_ids: Sequence[int]) -> dict[int, str]:
    """Nobody else changes the pictures of these products until the transaction ends.

    By product what it is related by: products of one model may share a picture, others hardly. Those that do not exist
    are left out.
    """
    rows = await tx.fetch(LOCK, ids=sorted(set(product_ids))) if product_ids else ()
    return {row["id"]: row["related"] for row in rows}


async def put(tx: Tx, changed: Mapping[int, Sequence[ProductImage]]) -> None:
    """Replace the pictures of products that are locked."""
    if not changed:
        return
    await tx.execute(CLEAR, ids=sorted(changed))
    rows = [_row(id, place, image, tx) for id in sorted(changed) for place, image in enumerate(changed[id], start=1)]
    try:
        await tx.insert(_ROWS, rows)
    except Duplicate as error:
        raise Contended(f"pictures were put by someone else meanwhile: {error}") from error


async def shared(tx: Tx, addresses: Sequence[str]) -> dict[str, set[str]]:
    """By picture, what the products that show it, or were refused it, are related by."""
    found: dict[str, set[str]] = {}
    for row in await tx.fetch(SHARED, addresses=sorted(set(addresses))) if addresses else ():
        found.setdefault(row["sha256"], set()).add(row["related"])
    return found


async def order(tx: Tx, product_id: int, positions: Sequence[int]) -> tuple[ProductImage, ...]:
    """A person says which pictures stand in which order; what is ready and not named is taken out for good."""
    before = await _one(tx, product_id)
    ready = [place for place, image in enumerate(before, start=1) if image.is_ready]
    wrong = [place for place in positions if place not in ready]
    if wrong or len(set(positions)) != len(positions):
        raise Invalid(
            f"the pictures of product {product_id} cannot be ordered by {list(positions)}",
            hint=f"each at most once, out of {ready}",
            field="positions",
        )
    first = [replace(before[place - 1], reason=PLACED) for place in positions]
    out = [before[place - 1] for place in ready if place not in positions]
    rest = [image for image in before if not image.is_ready]
    refused = [replace(image, state=ImageState.REFUSED, reason=TAKEN_OUT) for image in out]
    after = (*first, *refused, *rest)
    await put(tx, {product_id: after})
    return after


async def renew_cover(tx: Tx, product_id: int, sha256: str) -> tuple[ProductImage, ...]:
    """A person takes another picture as the cover, at its address; where it stood before it stands no more."""
    cover, *others = await _one(tx, product_id)
    new = replace(cover, state=ImageState.READY, sha256=sha256, reason=PLACED)
    after = (new, *(image for image in others if not image.is_ready or image.sha256 != sha256))
    await put(tx, {product_id: after})
    return after


async def declare(tx: Tx, product_id: int, rights: Rights, *, by: str) -> None:
    """A person says by what right all pictures of a product are shown."""
    before = await _one(tx, product_id)
    await put(tx, {product_id: [replace(image, rights=rights, rights_source=by[:SYSTEM_LENGTH]) for image in before]})


async def showing(tx: Tx, addresses: Sequence[str]) -> list[int]:
    """The products that show one of these pictures, or were refused it."""
    rows = await tx.fetch(SHOWING, addresses=sorted(set(addresses))) if addresses else ()
    return [row["value"] for row in rows]


async def _one(tx: Tx, product_id: int) -> tuple[ProductImage, ...]:
    if not await lock(tx, [product_id]):
        raise Missing(f"there is no product {product_id}")
    return (await of(tx, [product_id]))[product_id]


def _image(row: Row) -> ProductImage:
    return ProductImage(
        row["source_url"],
        row["url_hash"],
        ImageState(row["state"]),
        row["sha256"],
        row["reason"],
        Rights(row["rights"]),
        row["rights_source"],
    )


def _row(product_id: int, place: int, image: ProductImage, tx: Tx) -> tuple[object, ...]:
    told = (image.state.value, image.reason, image.rights.value, image.rights_source)
    return (product_id, place, image.source_url, image.url_hash, image.sha256, *told, tx.now)
