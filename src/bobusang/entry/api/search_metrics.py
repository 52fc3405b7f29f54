"""Prometheus series of searching: how far the index is behind, and how answers came about in this process."""

from __future__ import annotations

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from bobusang.flows.indexing import watching
from bobusang.kit.db import Tx
from bobusang.platform.caching import Counts


async def families(tx: Tx, counts: Counts) -> list[Metric]:
    """All of them; `served="away"` are answers made without the cache, which could not be reached."""
    lag = await watching.lag(tx)
    answers = CounterMetricFamily("bobusang_search_answers", "Answers by how they came about", labels=["served"])
    for served, count in counts.served.items():
        answers.add_metric([served.value], count)
    seconds = "Age of the oldest change that the search index lacks"
    return [
        GaugeMetricFamily("bobusang_search_lag_seconds", seconds, value=lag.seconds),
        GaugeMetricFamily("bobusang_search_waiting", "Changes on their way to the search index", value=lag.waiting),
        answers,
    ]
