"""Starting to collect: one job a target, once for a key, and only from a source that a person has enabled."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from bobusang.engine import jobs, targets, workflows
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobType
from bobusang.flows.collect.register import WORKFLOW
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid
from bobusang.stages.collect import decisions
from bobusang.stages.collect.model import RunMode
from bobusang.stages.collect.source import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.source import Source

INDEX = Target("index", "all")
JOB_TYPES = {RunMode.FULL: JobType.FULL, RunMode.PARTIAL: JobType.INCREMENTAL}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to collect: the kind and key of a target, and what people call it."""

    kind: str
    key: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The job of a target, and whether this call made it."""

    job_id: int
    target: str
    is_new: bool


async def ready(tx: Tx, collector: Collector, name: str) -> Source:
    """The source of that name, if it may be collected: a person has enabled it, and nobody has to agree to its code."""
    source = collector.source(name)
    if not await decisions.is_enabled(tx, name):
        raise Conflict(
            f"{name} is off: nobody has decided that it may be collected",
            hint=f'`bobusang source enable {name} --why "…"` says why it may be',
        )
    if not source.policy.trusted:
        raise Conflict(f"{name} contains code that nobody has agreed to run", hint="read its hooks.py, then trust it")
    return source


async def start(
    tx: Tx,
    engine: Engine,
    collector: Collector,
    name: str,
    wanted: Sequence[Wanted],
    *,
    mode: RunMode = RunMode.FULL,
    key: str = "",
) -> list[Started]:
    """Start a job for each of them. With a `key`, whoever comes again with the same finds the jobs of the first time.

    Raises Conflict when the source is off, Invalid for a kind of target that it is not collected by.
    """
    source = await ready(tx, collector, name)
    workflow_id = int((await workflows.find(tx, WORKFLOW))["id"])
    found = []
    for one in wanted:
        target_id, target = await _target(tx, source, one)
        new = NewJob(workflow_id, target_id=target_id, job_type=JOB_TYPES[mode], key=key_of(name, target, key))
        found.append(Started(*_made(await jobs.create(tx, engine.books, engine.hooks, new), target)))
    return found


async def start_index(tx: Tx, engine: Engine, collector: Collector, name: str, *, key: str = "") -> Started:
    """Collect what a mall says it has: its brands, which are then proposed in `mall_brands`."""
    source = await ready(tx, collector, name)
    _must_begin(source, INDEX)
    workflow_id = int((await workflows.find(tx, WORKFLOW))["id"])
    new = NewJob(
        workflow_id,
        input={"source": name, "kind": INDEX.kind, "key": INDEX.key},
        key=key_of(name, INDEX, key),
    )
    return Started(*_made(await jobs.create(tx, engine.books, engine.hooks, new), INDEX))


def key_of(source: str, target: Target, key: str) -> str | None:
    """What makes a job the only one of its target for a caller's key; None without one."""
    if not key:
        return None
    # A digest of the parts: put together as text, `a:b` with `c` would be `a` with `b:c`.
    parts = json.dumps([source, target.kind, target.key, key])
    return f"collect:{blake2b(parts.encode(), digest_size=32).hexdigest()}"


def _made(made: tuple[int, bool], target: Target) -> tuple[int, str, bool]:
    return made[0], target.name, made[1]


def _must_begin(source: Source, target: Target) -> None:
    """Refuse now what the plan of the job could only fail with."""
    if not list(source.seeds(target)):
        raise Invalid(f"{source.name} has nothing to ask for {target.name}", hint="look at its streams", field="keys")


async def _target(tx: Tx, source: Source, wanted: Wanted) -> tuple[int, Target]:
    """The target as it is known, which may hold data of its own; made where there is none."""
    kind, key = wanted.kind, wanted.key
    known = await targets.known(tx, kind=kind, key=key, source=source.name)
    target = Target(kind, key, known[1] if known else {})
    _must_begin(source, target)
    if known is not None:
        return known[0], target
    return await targets.put(tx, kind=kind, key=key, source=source.name, name=wanted.name), target
