"""What a process remembers between transactions: ids, lanes, plans and runs. All of it could be read again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from bobusang.engine.grammar.mapping import compile_mapping
from bobusang.engine.lanes import Lanes
from bobusang.engine.model import ErrorHandling, JobType, Plan, QueueType, Run, Step, StepMode, StepType
from bobusang.kit import json
from bobusang.kit.errors import Missing
from bobusang.kit.ids import Ids
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.kit.db import Row, Tx

MAX_RUNS = 10_000
PAYLOAD_LIMIT = 1 << 20

WORKFLOW = Statement("select workflow_name, tolerance from crawling_workflows where id = :id")
STEPS = Statement("""
    select * from workflow_steps where workflow_id = :id and workflow_version = :version order by step_order""")
RUNS = Statement("""
    select j.id, j.workflow_id, j.workflow_version, j.job_type, j.priority, j.queue, j.input,
      t.id as target_id, t.target_key, t.name as target_name, t.data as target_data, y.name as target_type,
      s.name as source, s.base_url, p.max_parallel_tasks, p.resource_pool
    from crawling_jobs j left join crawl_targets t on t.id = j.target_id
    left join crawl_sources s on s.id = t.source_id
    left join target_types y on y.id = t.target_type_id
    left join parallel_execution_config p on p.workflow_id = j.workflow_id
    where j.id in (:ids...)""")


class Books:
    """One a process; shared by its workers, duties and doors."""

    def __init__(self, *, payload_limit: int = PAYLOAD_LIMIT) -> None:
        self.task_ids = Ids("task")
        self.lanes = Lanes()
        self.payload_limit = payload_limit
        self._plans: dict[tuple[int, int], Plan] = {}
        self._runs: OrderedDict[int, Run] = OrderedDict()

    async def plan(self, tx: Tx, workflow_id: int, version: int) -> Plan:
        """A workflow version; it never changes, so it is read once."""
        found = self._plans.get((workflow_id, version))
        if found is None:
            found = await _read_plan(tx, workflow_id, version)
            self._plans[workflow_id, version] = found
        return found

    def forget_plans(self, workflow_id: int) -> None:
        """A workflow's limits have changed."""
        self._plans = {key: plan for key, plan in self._plans.items() if key[0] != workflow_id}

    def forget_run(self, job_id: int) -> None:
        """A job was not committed after all, or is gone."""
        self._runs.pop(job_id, None)

    async def runs(self, tx: Tx, job_ids: Iterable[int]) -> dict[int, Run]:
        """What these jobs run with."""
        wanted = set(job_ids)
        missing = [job_id for job_id in wanted if job_id not in self._runs]
        if missing:
            for row in await tx.fetch(RUNS, ids=missing):
                plan = await self.plan(tx, row["workflow_id"], row["workflow_version"])
                self._runs[row["id"]] = _run(row, plan)
            while len(self._runs) > max(MAX_RUNS, len(wanted)):
                self._runs.popitem(last=False)
        return {job_id: self._runs[job_id] for job_id in wanted if job_id in self._runs}

    async def run(self, tx: Tx, job_id: int) -> Run:
        """What this job runs with."""
        found = await self.runs(tx, [job_id])
        if job_id not in found:
            raise Missing(f"there is no job {job_id}")
        return found[job_id]


async def _read_plan(tx: Tx, workflow_id: int, version: int) -> Plan:
    workflow = await tx.first(WORKFLOW, id=workflow_id)
    if workflow is None:
        raise Missing(f"there is no workflow {workflow_id}")
    rows = await tx.fetch(STEPS, id=workflow_id, version=version)
    return Plan(
        workflow_id=workflow_id,
        name=workflow["workflow_name"],
        version=version,
        steps=tuple(_step(row) for row in rows),
        tolerance=workflow["tolerance"],
    )


def _step(row: Row) -> Step:
    return Step(
        id=row["id"],
        order=row["step_order"],
        name=row["step_name"],
        type=StepType(row["step_type"]),
        handler=row["handler"],
        mode=StepMode(row["mode"]),
        gather=bool(row["gather"]),
        on_error=ErrorHandling(row["error_handling"]),
        max_retries=row["max_retries"],
        pool=row["resource_pool"],
        queue=None if row["queue"] is None else QueueType(row["queue"]),
        config=_document(row["config"]) or {},
        input=compile_mapping(mapping) if (mapping := _document(row["input_mapping"])) else None,
        output=compile_mapping(mapping) if (mapping := _document(row["output_mapping"])) else None,
    )


def _run(row: Row, plan: Plan) -> Run:
    target: dict[str, Any] = {}
    if row["target_id"] is not None:
        target = {
            **(_document(row["target_data"]) or {}),
            "id": row["target_id"],
            "key": row["target_key"],
            "name": row["target_name"],
            "type": row["target_type"],
            "source": row["source"],
            "base_url": row["base_url"],
        }
    return Run(
        job_id=row["id"],
        plan=plan,
        job_type=JobType(row["job_type"]),
        priority=row["priority"],
        queue=QueueType(row["queue"]),
        input=_document(row["input"]) or {},
        target=target,
        limited=row["max_parallel_tasks"] is not None,
        pool=row["resource_pool"],
    )


def _document(text: str | None) -> Any:
    return None if text is None else json.loads(text)
