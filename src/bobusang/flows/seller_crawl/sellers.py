"""Sellers with their targets and schedules in the engine, changed together or not at all."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import sellers
from bobusang.catalog.model import SellerStatus
from bobusang.engine import schedules, targets
from bobusang.engine.model import ScheduleType
from bobusang.engine.schedules import ScheduleSpec
from bobusang.flows.collect.register import WORKFLOW
from bobusang.kit.errors import Conflict
from bobusang.platform.alerting import settle_alerts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.catalog.sellers import NewSeller, Seller
    from bobusang.engine.model import Run
    from bobusang.kit.db import Tx

KIND = "seller"
UNWELL = "seller.unwell"
"""The rule of the alert that a seller was paused by itself."""
ADAPTS = 4
"""An adaptive cadence lies between a quarter and four times of the one that was asked for."""


async def add(tx: Tx, workflow_id: int, new: NewSeller) -> Seller:
    """Add a seller: it is crawled on its cadence from the next instant on. One that is known from products alone is
    taken over, with what is known of it."""
    known = await sellers.find(tx, new.mall, new.seller_id)
    if known is not None and known.schedule_id is None:
        told = {name: value for name in sorted(sellers.EDITABLE) if (value := getattr(new, name)) is not None}
        await sellers.change(tx, known.id, told)
    id = known.id if known is not None and known.schedule_id is None else await sellers.create(tx, new)
    seller = await sellers.get(tx, id)
    target_id = await targets.put(tx, kind=KIND, key=seller.seller_id, source=seller.mall, name=seller.name)
    schedule_id = await schedules.create(tx, spec_of(seller, workflow_id, target_id))
    return await sellers.bind(tx, id, target_id=target_id, schedule_id=schedule_id)


async def change(tx: Tx, workflow_id: int, id: int, values: Mapping[str, Any]) -> Seller:
    """Change a seller; another cadence counts from the next fire, which stays where it is planned.

    Anything else leaves its schedule alone: an adaptive one would forget what it has learned.
    """
    before = await sellers.get(tx, id)
    seller = await sellers.change(tx, id, values)
    moved = (before.cadence_minutes, before.adaptive) != (seller.cadence_minutes, seller.adaptive)
    if moved and seller.schedule_id is not None and seller.target_id is not None:
        await schedules.change(tx, seller.schedule_id, spec_of(seller, workflow_id, seller.target_id))
    return seller


async def pause(tx: Tx, id: int, reason: str) -> Seller:
    """Crawl it no more until it is resumed."""
    seller = await sellers.pause(tx, id, reason)
    await _switch(tx, seller, on=False)
    return seller


async def resume(tx: Tx, id: int) -> Seller:
    """Crawl it again, also when it was disabled."""
    seller = await sellers.resume(tx, id)
    await _switch(tx, seller, on=True)
    await settle_alerts(tx, [alert_of(seller)])
    return seller


async def disable(tx: Tx, id: int) -> Seller:
    """Crawl it no more: only a person undoes that."""
    seller = await sellers.disable(tx, id)
    await _switch(tx, seller, on=False)
    await settle_alerts(tx, [alert_of(seller)])
    return seller


async def remove(tx: Tx, id: int) -> Seller:
    """Delete a seller with its schedule; what its runs told stays."""
    seller = await sellers.get(tx, id)
    await sellers.remove(tx, id)
    if seller.schedule_id is not None:
        await schedules.delete(tx, seller.schedule_id)
    await settle_alerts(tx, [alert_of(seller)])
    return seller


async def of_run(tx: Tx, run: Run) -> Seller | None:
    """The seller that a run crawls; None when it is not about a seller that we know."""
    if run.plan.name != WORKFLOW or run.target.get("type") != KIND:
        return None
    return await sellers.find(tx, str(run.target["source"]), str(run.target["key"]))


def must_be_crawled(seller: Seller) -> None:
    """Refuse to start what a person or trouble has stopped."""
    if seller.status is not SellerStatus.ACTIVE:
        why = f": {seller.paused_reason}" if seller.paused_reason else ""
        raise Conflict(
            f"seller {seller.mall}/{seller.seller_id} is {seller.status.value.lower()}{why}",
            hint=f"`bobusang seller resume {seller.id}` lets it be crawled again",
        )


def target_name(seller: Seller) -> str:
    """What runs and counts call it (`stages.collect.source.Target.name`)."""
    return f"{KIND}:{seller.seller_id}"


def alert_of(seller: Seller) -> str:
    """The key of its alert."""
    return f"{UNWELL}:{seller.id}"


async def _switch(tx: Tx, seller: Seller, *, on: bool) -> None:
    if seller.schedule_id is None:
        return
    row = await schedules.get(tx, seller.schedule_id)
    if bool(row["is_active"]) is not on:
        await (schedules.resume if on else schedules.pause)(tx, seller.schedule_id)


def spec_of(seller: Seller, workflow_id: int, target_id: int) -> ScheduleSpec:
    """The schedule of a seller: its cadence, learning from what changes where it is adaptive."""
    cadence = timedelta(minutes=seller.cadence_minutes)
    factor = ADAPTS if seller.adaptive else 1
    return ScheduleSpec(
        name=f"seller {seller.id}: {seller.mall}/{seller.seller_id}"[:100],
        workflow_id=workflow_id,
        type=ScheduleType.DYNAMIC,
        target_id=target_id,
        interval=cadence,
        min_interval=cadence / factor,
        max_interval=cadence * factor,
    )
