"""Prometheus metrics: fed from what upkeep measured and stored, so that a scrape costs one small read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from fastapi import Request
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.responses import Response

from bobusang.entry.api import batch_metrics, fetch_metrics, search_metrics
from bobusang.entry.api.desk import bearer, caller
from bobusang.entry.api.fetch_metrics import FetchTotals
from bobusang.entry.api.resource import Resource
from bobusang.views import statistics
from bobusang.views.statistics import Figure
from bobusang.wiring import App

router = Resource("health")

BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)

# What is stored → the series, its label, and what it says.
SERIES = {
    "job_success_rate": ("bobusang_job_success_rate", "workflow", "Share of jobs that succeeded in the last hour"),
    "job_seconds_average": ("bobusang_job_seconds_average", "workflow", "Average run of a job in the last hour"),
    "retry_rate": ("bobusang_retry_rate", "workflow", "Retries per task in the last hour"),
    "items_processed": ("bobusang_items_processed", "workflow", "Tasks that ended in jobs of the last hour"),
    "queue_depth": ("bobusang_queue_depth", "queue", "Tasks that could run now"),
    "oldest_wait_seconds": ("bobusang_queue_oldest_wait_seconds", "queue", "How long the oldest of them has waited"),
    "handler_depth": ("bobusang_handler_depth", "handler", "Tasks that could run now"),
    "dead_letters": ("bobusang_dead_letters", "class", "Dead letters"),
    "held": ("bobusang_held_tasks", "reason", "Tasks held by a pause, a barrier or a wait"),
    "delayed": ("bobusang_delayed_tasks", "", "Tasks whose time has not come"),
    "running_tasks": ("bobusang_running_tasks", "", "Tasks that workers hold"),
    "workers": ("bobusang_workers", "", "Workers that are alive"),
}
JOBS = "jobs_"


class Metrics:
    """What this process counts itself: requests, memory, garbage; and what it knows of fetches."""

    def __init__(self) -> None:
        self.fetches = FetchTotals()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._requests = Histogram(
            "bobusang_http_seconds",
            "Requests and how long they took",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=BUCKETS,
        )
        self._series: dict[tuple[str, str, int], Histogram] = {}

    def seen(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; routes are patterns, so the number of series stays bounded."""
        known = method if method in ("GET", "POST", "PUT", "PATCH", "DELETE") else "OTHER"
        found = self._series.get((known, route, status))
        if found is None:
            found = self._series[known, route, status] = self._requests.labels(known, route, str(status))
        found.observe(seconds)

    def text(
        self, accept: str, figures: Sequence[Figure], age: float | None, more: Sequence[Metric] = ()
    ) -> tuple[bytes, str]:
        """All of it, and `more`, in the format the scraper prefers."""
        encode, kind = choose_encoder(accept)
        return encode(_Both(self._registry, figures, age, more)), kind


class _Both(Collector):
    """The stored figures and this process's own numbers."""

    def __init__(
        self, own: CollectorRegistry, figures: Sequence[Figure], age: float | None, more: Sequence[Metric]
    ) -> None:
        self._own = own
        self._figures = figures
        self._age = age
        self._more = more

    def collect(self) -> Iterator[Metric]:
        yield from families(self._figures, self._age)
        yield from self._more
        yield from self._own.collect()


def families(figures: Iterable[Figure], age: float | None) -> Iterator[Metric]:
    """The stored figures as series; `age` is how long ago they were measured."""
    found = {
        name: GaugeMetricFamily(series, words, labels=[label] if label else [])
        for name, (series, label, words) in SERIES.items()
    }
    jobs = GaugeMetricFamily("bobusang_jobs", "Jobs that ended in the last hour", labels=["workflow", "status"])
    for figure in figures:
        if figure.name in found:
            labels = [figure.label] if SERIES[figure.name][1] else []
            found[figure.name].add_metric(labels, figure.value)
        elif figure.name.startswith(JOBS):
            jobs.add_metric([figure.label, figure.name.removeprefix(JOBS).upper()], figure.value)
    yield from found.values()
    yield jobs
    if age is not None:
        words = "How long ago the figures were measured; upkeep does it every 15 seconds"
        yield GaugeMetricFamily("bobusang_statistics_age_seconds", words, value=age)


def age_of(measured_at: datetime | None, now: datetime) -> float | None:
    """Seconds since the figures were measured."""
    return None if measured_at is None else max(0.0, (now - measured_at).total_seconds())


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    openapi_extra={"security": [{bearer.scheme_name: []}]},
)
async def metrics(request: Request) -> Response:
    """By key, or open where `BOBUSANG_METRICS_OPEN` says so."""
    app: App = request.app.state.bobusang
    if not app.settings.metrics_open:
        await caller(request, await bearer(request))
    own: Metrics = request.app.state.metrics
    async with app.engine.db.read() as tx:
        measured_at, figures = await statistics.stored(tx)
        age = age_of(measured_at, tx.now)
        more = [*await fetch_metrics.families(tx, own.fetches), *await batch_metrics.families(tx)]
        more += await search_metrics.families(tx, app.finder.searching.counts)
    body, kind = own.text(request.headers.get("accept", ""), figures, age, more)
    return Response(body, headers={"Content-Type": kind})
