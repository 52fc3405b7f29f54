"""The engine's tables. Names and columns follow design [E]; what a fast queue needs besides stands with its reason.

`crawling_tasks` and `crawling_queues` are views (see `engine/views.py`): a task row is written twice in its life, when
made and when ended, and a queue row is gone once claimed (ADR 2).
"""

from bobusang.engine.tables.jobs import (
    crawling_jobs,
    crawling_jobs_archive,
    job_contexts,
    job_deltas,
    job_dependencies,
    job_steps,
    job_sweeps,
    workflow_executions,
)
from bobusang.engine.tables.queue import (
    budgets,
    lane_pools,
    lanes,
    queue_claims,
    queue_delayed,
    queue_held,
    queue_ready,
    waits,
)
from bobusang.engine.tables.schedules import crawling_schedules, schedule_fires
from bobusang.engine.tables.targets import crawl_sources, crawl_targets, target_types
from bobusang.engine.tables.tasks import dead_letters, task_attempts, tasks
from bobusang.engine.tables.workers import engine_history, engine_statistics, id_blocks, leaders, workers
from bobusang.engine.tables.workflows import (
    crawling_workflows,
    parallel_execution_config,
    target_workflow_mappings,
    workflow_steps,
    workflow_versions,
)

__all__ = [
    "budgets",
    "crawl_sources",
    "crawl_targets",
    "crawling_jobs",
    "crawling_jobs_archive",
    "crawling_schedules",
    "crawling_workflows",
    "dead_letters",
    "engine_history",
    "engine_statistics",
    "id_blocks",
    "job_contexts",
    "job_deltas",
    "job_dependencies",
    "job_steps",
    "job_sweeps",
    "lane_pools",
    "lanes",
    "leaders",
    "parallel_execution_config",
    "queue_claims",
    "queue_delayed",
    "queue_held",
    "queue_ready",
    "schedule_fires",
    "target_types",
    "target_workflow_mappings",
    "task_attempts",
    "tasks",
    "waits",
    "workers",
    "workflow_executions",
    "workflow_steps",
    "workflow_versions",
]
