"""The names an operator knows, over the tables that make the queue fast (ADR 2).

`crawling_tasks` shows a claimed task as RUNNING, `crawling_queues` shows where each entry stands, and
`v_job_statistics` sums up seven days of jobs.
"""

from __future__ import annotations

from bobusang.engine.model import PRIORITY_PENALTY, QUEUE_PENALTY, QueueType
from bobusang.kit.sql import Dialect

# Which entries a claim holds: the JSON is [[task_id, job_id, lane, due, queue, priority, attempt, dispatches], …].
_CLAIMED = {
    Dialect.SQLITE: """
        select c.token, c.worker_id, c.claimed_at,
          json_extract(e.value, '$[0]') as task_id, json_extract(e.value, '$[1]') as job_id,
          json_extract(e.value, '$[3]') as due, json_extract(e.value, '$[4]') as queue,
          json_extract(e.value, '$[5]') as priority, json_extract(e.value, '$[6]') as attempt
        from queue_claims c, json_each(c.entries) e""",
    Dialect.POSTGRES: """
        select c.token, c.worker_id, c.claimed_at,
          (e.value->>0)::bigint as task_id, (e.value->>1)::bigint as job_id, (e.value->>3)::bigint as due,
          (e.value->>4)::smallint as queue, (e.value->>5)::smallint as priority, (e.value->>6)::smallint as attempt
        from queue_claims c, jsonb_array_elements(c.entries::jsonb) as e(value)""",
    Dialect.MARIADB: """
        select c.token, c.worker_id, c.claimed_at, e.task_id, e.job_id, e.due, e.queue, e.priority, e.attempt
        from queue_claims c, json_table(c.entries, '$[*]' columns (
          task_id bigint path '$[0]', job_id bigint path '$[1]', due bigint path '$[3]',
          queue smallint path '$[4]', priority smallint path '$[5]', attempt smallint path '$[6]')) as e""",
}

_FROM_MS = {
    Dialect.SQLITE: "strftime('%Y-%m-%d %H:%M:%f000', ({ms}) / 1000.0, 'unixepoch')",
    Dialect.POSTGRES: "to_timestamp(({ms}) / 1000.0)",
    Dialect.MARIADB: "from_unixtime(({ms}) / 1000.0)",
}

_TASKS = """
    select t.id, t.job_id, t.step_id, t.target_url, t.task_type,
      case when c.task_id is not null then 'RUNNING' else t.status end as status,
      t.outcome, t.retry_count, t.sequence_number, t.task_key, t.input_data, t.output_data,
      coalesce(c.claimed_at, t.started_at) as started_at, t.completed_at, t.response_time_ms, t.error_message,
      t.created_at, t.updated_at, c.worker_id, c.token
    from tasks t left join claimed_tasks c on c.task_id = t.id"""

_NAMES = " ".join(f"when {queue.value} then '{queue.name}'" for queue in QueueType)
_PENALTY = " ".join(f"when {int(queue)} then {ms}" for queue, ms in QUEUE_PENALTY.items())


def _queues(dialect: Dialect) -> str:
    """Waiting, delayed, held, claimed and dead entries as one list; a finished one is not kept."""
    ready_at = _FROM_MS[dialect].format(
        ms=f"q.due - (case q.queue {_PENALTY} end) - {PRIORITY_PENALTY} * (10 - q.priority)"
    )
    names = f"case q.queue {_NAMES} end"
    head = f"select q.task_id as id, {names} as queue_type, q.job_id, q.task_id, q.priority"
    parts = (
        (f"{head}, 'WAITING' as status, {ready_at} as scheduled_for, q.attempt as attempt_count", "queue_ready"),
        (f"{head}, 'WAITING' as status, q.run_at as scheduled_for, q.attempt as attempt_count", "queue_delayed"),
        (f"{head}, 'WAITING' as status, q.until as scheduled_for, q.attempt as attempt_count", "queue_held"),
        (f"{head}, 'PROCESSING' as status, q.claimed_at as scheduled_for, q.attempt as attempt_count", "claimed_tasks"),
        (f"{head}, 'FAILED' as status, q.created_at as scheduled_for, q.dispatches as attempt_count", "dead_letters"),
    )
    return " union all ".join(
        f"{columns}, t.input_data as payload, t.created_at, t.updated_at "
        f"from {table} q join tasks t on t.id = q.task_id"
        for columns, table in parts
    )


_DAY = {Dialect.SQLITE: "date(created_at)", Dialect.POSTGRES: "(created_at at time zone 'UTC')::date"}
_SECONDS = {
    Dialect.SQLITE: "(julianday(completed_at) - julianday(started_at)) * 86400.0",
    Dialect.POSTGRES: "extract(epoch from completed_at - started_at)::double precision",
    Dialect.MARIADB: "timestampdiff(microsecond, started_at, completed_at) / 1000000.0",
}
_WEEK = {
    Dialect.SQLITE: "strftime('%Y-%m-%d %H:%M:%f000', 'now', '-7 days')",
    Dialect.POSTGRES: "now() - interval '7 days'",
    Dialect.MARIADB: "utc_timestamp(6) - interval 7 day",
}


def _statistics(dialect: Dialect) -> str:
    day = _DAY.get(dialect, "date(created_at)")
    return f"""
    select {day} as job_date, workflow_id, count(*) as total_jobs,
      sum(case when status = 'SUCCESS' then 1 else 0 end) as success_jobs,
      avg({_SECONDS[dialect]}) as avg_duration_sec, sum(processed_items) as total_items_processed
    from crawling_jobs where created_at >= {_WEEK[dialect]}
    group by {day}, workflow_id"""


NAMES = ("claimed_tasks", "crawling_tasks", "crawling_queues", "v_job_statistics")


def definitions(dialect: Dialect) -> dict[str, str]:
    """View name → select, in the order they have to be made."""
    return dict(zip(NAMES, (_CLAIMED[dialect], _TASKS, _queues(dialect), _statistics(dialect)), strict=True))
