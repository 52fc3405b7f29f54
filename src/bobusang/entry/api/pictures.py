"""Pictures: looks that are not shown, and what a person should decide on."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field, StringConstraints

from bobusang.catalog.tables.images import REASON_LENGTH
from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import LARGEST_ID, Form
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.stages.image import deciding, revisits, store
from bobusang.stages.image.look import Look
from bobusang.views import pictures as view
from bobusang.views.pictures import BlockLine, DoubtLine

router = Resource("pictures", "/pictures")

Address = Annotated[
    str, Field(pattern=r"^[0-9a-f]{64}$", description="of a picture, or of what a market was given of it")
]
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=REASON_LENGTH),
    Field(examples=["the mall's hot-link banner"]),
]


class PictureForm(Form):
    """Which picture."""

    sha256: Address


class BlockForm(PictureForm):
    """Which picture, and why nothing that looks like it may be shown."""

    reason: Reason


class Revisited(BaseModel):
    """A picture that was decided on, and how many products the next FULL looks at again for it."""

    sha256: str
    products: int


@router.get("/blocks", summary="List looks that are not shown")
async def list_picture_blocks(desk: Viewer) -> Page[BlockLine]:
    """Newest first, each by a picture that has it."""
    async with desk.read() as tx:
        return Page(items=await view.blocks(tx), next=None)


@router.post("/block", summary="Refuse what looks like a picture")
async def block_picture(desk: Operator, form: BlockForm) -> Revisited:
    """A banner, a placeholder, or what there is no right to. Every picture that looks like it is refused from now on;
    where one is shown, the next FULL takes it off and tells the market. Blocked again, products are looked up again."""

    async def work(tx: Tx) -> tuple[str, Look]:
        address = await store.original(tx, form.sha256)
        look = await deciding.block(tx, address, form.reason, by=desk.actor)
        await desk.note(tx, "picture.block", "picture", address, after={"reason": form.reason})
        return address, look

    address, look = await desk.write(work)
    return Revisited(sha256=address, products=await revisits.like(desk.engine.db, look))


@router.post("/unblock", summary="Allow again what looks like a picture")
async def unblock_picture(desk: Operator, form: PictureForm) -> Revisited:
    """The next FULL shows it again where its source does."""

    async def work(tx: Tx) -> tuple[str, list[Look]]:
        address = await store.original(tx, form.sha256)
        gone = await deciding.unblock(tx, address)
        await desk.note(tx, "picture.unblock", "picture", address, before={"reasons": [why for _, why in gone]})
        return address, [look for look, _ in gone]

    address, looks = await desk.write(work)
    return Revisited(sha256=address, products=sum([await revisits.like(desk.engine.db, look) for look in looks]))


@router.get("/doubts", summary="List pictures that a person should look at")
async def list_picture_doubts(desk: Viewer, query: Annotated[Paged, Query()]) -> Page[DoubtLine]:
    """What stands on many unrelated products (SHARED), looks like pictures of others (LIKE), or is a cover whose
    address gives another picture now (COVER), newest first. Each is over when somebody has decided."""
    before = unpack("doubts", query.cursor)
    async with desk.read() as tx:
        found = await view.doubts(tx, LARGEST_ID if before is None else before, query.limit + 1)
    return page("doubts", found, query.limit, lambda one: one.id)


@router.post("/allow", summary="Let a picture stand on many products")
async def allow_picture(desk: Operator, form: PictureForm) -> Revisited:
    """Somebody has looked: it is refused no more, and nobody is asked about it again."""

    async def work(tx: Tx) -> Revisited:
        address = await store.original(tx, form.sha256)
        found = await deciding.allow(tx, address, by=desk.actor)
        await desk.note(tx, "picture.allow", "picture", address, after={"products": found})
        return Revisited(sha256=address, products=found)

    return await desk.write(work)
