"""Alarms: pure rules from what was measured to what a person should be told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.calendar.misfire import overdue
from bobusang.engine.calendar.timetable import Timetable
from bobusang.engine.model import ScheduleType
from bobusang.kit.clock import utc
from bobusang.platform.notifier import Level, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row

RULES = ("failure_rate", "queue_depth", "oldest_wait", "retry_rate", "overdue_schedule", "halted", "dead_letters")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When to call a person."""

    failure_rate: float = 0.20
    failed_jobs: int = 1
    queue_depth: int = 100_000
    oldest_wait: timedelta = timedelta(minutes=30)
    retry_rate: float = 0.5
    retried_items: int = 20
    dead_letters: int = 100


def judge(figures: Mapping[tuple[str, str], float], limits: Thresholds) -> Iterator[Notice]:
    """What the figures say."""
    for (name, label), value in figures.items():
        match name:
            case "job_success_rate":
                failed = figures.get(("jobs_failed", label), 0)
                if 1 - value > limits.failure_rate and failed >= limits.failed_jobs:
                    yield Notice(
                        f"failure_rate:{label}",
                        Level.CRITICAL,
                        f"{label}: {1 - value:.0%} of its jobs failed in the last hour",
                        f"{failed:.0f} failed; more than {limits.failure_rate:.0%} is too many. "
                        "See `bobusang job list --status FAILED`.",
                    )
            case "queue_depth" if value > limits.queue_depth:
                yield Notice(
                    f"queue_depth:{label}",
                    Level.WARNING,
                    f"{label}: {value:,.0f} tasks are waiting",
                    f"More than {limits.queue_depth:,}. Start more workers, or find out what they wait for.",
                )
            case "oldest_wait_seconds" if value > limits.oldest_wait.total_seconds():
                yield Notice(
                    f"oldest_wait:{label}",
                    Level.WARNING,
                    f"{label}: a task has been waiting for {timedelta(seconds=int(value))}",
                    f"Longer than {limits.oldest_wait}. Are workers running, and is a pool blocked?",
                )
            case "retry_rate" if value > limits.retry_rate:
                if value * figures.get(("items_processed", label), 0) >= limits.retried_items:
                    yield Notice(
                        f"retry_rate:{label}",
                        Level.WARNING,
                        f"{label}: {value:.0%} retries per task in the last hour",
                        "Something answers badly. See `bobusang task list --status RETRYING`.",
                    )
            case "dead_letters" if value >= limits.dead_letters:
                yield Notice(
                    f"dead_letters:{label}",
                    Level.WARNING,
                    f"{value:,.0f} dead letters of class {label}",
                    "See `bobusang dlq list --group-by cause`.",
                )


def late_schedules(rows: Sequence[Row], now: datetime) -> Iterator[Notice]:
    """The watchdog: an active schedule that has not fired for two periods means that nobody fires."""
    for row in rows:
        planned = utc(row["next_run_at"])
        if planned is None or planned > now:
            continue
        if row["schedule_type"] == ScheduleType.DYNAMIC:
            period: timedelta | None = timedelta(seconds=row["interval_s"])
        else:
            period = Timetable(row["cron_expression"], row["timezone"]).period(planned)
        if period is not None and overdue(planned, period, now):
            yield Notice(
                f"overdue_schedule:{row['id']}",
                Level.CRITICAL,
                f"schedule '{row['name']}' is overdue since {planned:%Y-%m-%d %H:%M} UTC",
                "No scheduler fires it. Is `bobusang up` or `bobusang scheduler` running?",
            )


def halted_pools(rows: Sequence[Row]) -> Iterator[Notice]:
    """Pools that a handler halted, or a person blocked for good."""
    for row in rows:
        reason = row["reason"] or "no reason was given"
        # Who blocks a pool for reasons of its own knows its own way back, and says it.
        advice = "" if "`bobusang" in reason else f". When that is mended: `bobusang queue resume {row['pool']}`."
        yield Notice(f"halted:{row['pool']}", Level.CRITICAL, f"{row['pool']} is halted", f"{reason}{advice}")


def halted_jobs(rows: Sequence[Row]) -> Iterator[Notice]:
    """Jobs that one of their tasks halted, because there was no pool to block."""
    for row in rows:
        yield Notice(
            f"halted:job {row['id']}",
            Level.CRITICAL,
            f"job {row['id']} is halted",
            f"{row['pause_reason']}. When that is mended: `bobusang job resume {row['id']}`.",
        )
