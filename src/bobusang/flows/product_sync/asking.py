"""Asking suppliers for what is new: by windows of time, and wholly at the pace at which prices grow old; others come by
themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.flows.collect import starting, syncing
from bobusang.flows.collect.starting import Wanted
from bobusang.flows.inbound import register as inbound
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.stages.collect import events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.suppliers import Supplier
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.policy import Policy

TARGETS = "targets"
"""The setting of a supplier that names what its API is asked for."""
REFRESH = "refresh_hours"
"""The setting of a supplier that says how often it is collected whole."""
REFRESHED = ("price", "stock")
OFTEN = timedelta(0)
"""Of a source that says nothing of how old its prices may become: whole each time."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The jobs that collect a supplier, or why there are none."""

    jobs: tuple[int, ...] = ()
    why: str = ""


async def chosen(tx: Tx, names: Sequence[str] = ()) -> list[Supplier]:
    """The active suppliers, or those among them that are named; Missing for a name that nobody has."""
    active = await suppliers.listed(tx, active=True)
    if not names:
        return active
    for name in names:
        if not any(one.name == name for one in active):
            known = await suppliers.get(tx, name)
            hint = f"`bobusang supplier resume {name}` lets it go on"
            raise Conflict(f"the supplier {known.name} is paused", hint=hint, field="suppliers")
    return [one for one in active if one.name in names]


async def ask(tx: Tx, engine: Engine, collector: Collector, supplier: Supplier, *, key: str = "") -> Begun:
    """Begin to collect a supplier. What hinders it is told, and hinders nobody else."""
    try:
        match supplier.kind:
            case SupplierKind.API:
                return await _api(tx, engine, collector, supplier, key)
            case SupplierKind.WEBHOOK:
                return await _webhooks(tx, engine, supplier)
            case SupplierKind.EXCEL:
                return Begun(why="its files are imported as they come")
    except (Conflict, Invalid, Missing) as error:
        return Begun(why=str(error))


async def _api(tx: Tx, engine: Engine, collector: Collector, supplier: Supplier, key: str) -> Begun:
    named = supplier.settings.get(TARGETS) or []
    wanted = [Wanted(*str(one).split(":", 1)) for one in named]
    refresh = pace(supplier.settings, collector.source(supplier.name).policy)
    return _begun(await syncing.start(tx, engine, collector, supplier.name, wanted, key=key, refresh=refresh))


def pace(settings: Mapping[str, Any], policy: Policy) -> timedelta:
    """How old what a supplier said of price and stock may become: as it is set, else as its source says. What is
    followed by windows of time tells of what is new; not every source tells of what has changed."""
    if REFRESH in settings:
        return timedelta(hours=settings[REFRESH])
    return min((policy.freshness[group].most for group in REFRESHED if group in policy.freshness), default=OFTEN)


def _begun(started: Sequence[starting.Started]) -> Begun:
    return Begun(tuple(dict.fromkeys(one.job_id for one in started)))


async def _webhooks(tx: Tx, engine: Engine, supplier: Supplier) -> Begun:
    if supplier.name not in await events.waiting(tx):
        return Begun(why="its webhooks are read as they come, and none waits")
    job = await inbound.started(tx, engine, supplier.name)
    return Begun((job,)) if job is not None else Begun(why="its webhooks are being read")
