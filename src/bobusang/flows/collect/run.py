"""What a job collects: source, target and mode, as its target and input say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine.model import JobType
from bobusang.kit.errors import Invalid
from bobusang.stages.collect.model import RunMode
from bobusang.stages.collect.source import Target

if TYPE_CHECKING:
    from bobusang.engine.model import Run


def source_of(run: Run) -> str:
    """The source's name: that of the target, or of the job's input where there is no target."""
    found = run.target.get("source") or run.input.get("source")
    if not found:
        raise Invalid(
            f"job {run.job_id} does not say which source it collects",
            hint="give it a target of a source, or an input with `source`",
        )
    return str(found)


def target_of(run: Run) -> Target:
    """What is collected; a job without a target collects what the source has (its index)."""
    if not run.target:
        kind, key = str(run.input.get("kind", "index")), str(run.input.get("key", source_of(run)))
        return Target(kind, key)
    data = {name: value for name, value in run.target.items() if name not in ("source", "base_url")}
    data |= run.input.get("data") or {}
    return Target(str(run.target["type"]), str(run.target["key"]), data)


def mode_of(run: Run) -> RunMode:
    """An incremental job refreshes price and stock of what is known; any other takes everything. What the input says
    counts for more: a job that is run again is of the type RETRY, and has forgotten which of both it was."""
    if said := run.input.get("mode"):
        return RunMode(str(said))
    return RunMode.PARTIAL if run.job_type is JobType.INCREMENTAL else RunMode.FULL
