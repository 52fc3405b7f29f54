"""The product sync: suppliers' goods to the markets, started now; what it does is shown as any job is."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Operator
from bobusang.entry.api.fields import Form
from bobusang.entry.api.resource import Resource
from bobusang.flows.product_sync import register
from bobusang.kit.db import Tx

router = Resource("suppliers", "/product-sync")

Supplier = Annotated[str, Field(min_length=1, max_length=50, examples=["acme"])]


class SyncForm(Form):
    """Whose goods; without names those of all active suppliers."""

    suppliers: Annotated[list[Supplier], Field(max_length=100, default_factory=list)]


class SyncStarted(BaseModel):
    """The job that syncs; one that was running already is not new."""

    job_id: int
    is_new: bool


@router.post("", summary="Sync suppliers' goods to the markets now", status_code=202)
async def start_sync(desk: Operator, form: SyncForm) -> SyncStarted:
    """Collect, normalise, enrich, sync. By itself it runs every six hours (the schedule `product sync`)."""

    async def work(tx: Tx) -> SyncStarted:
        made = await register.start(tx, desk.engine, form.suppliers)
        if made.is_new:
            await desk.note(tx, "product_sync.start", "job", made.job_id, after={"suppliers": form.suppliers})
        return SyncStarted(job_id=made.job_id, is_new=made.is_new)

    return await desk.write(work)
