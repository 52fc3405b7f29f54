"""The Celery application: one no-op task, acknowledged late, no results; what both the producer and the worker load."""

import os
from typing import Any

from celery import Celery  # type: ignore[import-not-found]

from bench.peers.stopwatch import Marks

BROKER = "BOBUSANG_BENCH_BROKER"
PREFETCH = "BOBUSANG_BENCH_PREFETCH"
QUEUE = "bench"

marks = Marks()


def application(broker: str, prefetch: int) -> Any:
    """Celery with everything a no-op does not need switched off, and a crash-safe acknowledgement."""
    made = Celery("bench", broker=broker)
    made.conf.update(
        task_default_queue=QUEUE,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        worker_prefetch_multiplier=prefetch,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={"visibility_timeout": 3600},
    )
    return made


app = application(os.environ.get(BROKER, "memory://"), int(os.environ.get(PREFETCH, "1")))


def _noop() -> None:
    marks.mark()


# Called rather than used as a decorator: Celery has no types, and an untyped decorator takes the function's away.
noop = app.task(name="noop", ignore_result=True, acks_late=True)(_noop)
