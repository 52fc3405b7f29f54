"""Prometheus series of collecting: counters by source, endpoint and outcome, held writes, identities by state.

The counters are sums of `fetch_counts`, which all processes append to. Each scrape reads only what was appended since
the last one; the first one of a process sums up all there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from bobusang.kit.db import Tx
from bobusang.stages.collect import roster
from bobusang.stages.collect.counts import Counts
from bobusang.stages.collect.tables import IdentityState
from bobusang.views import collect_statistics, held

LAG = timedelta(seconds=15)
"""A count may be committed a little after a later one: what is younger than this is left for the next scrape."""
BEGIN_AGAIN = timedelta(days=1)
"""Counts are folded after two days. Who was not scraped for so long sums up everything again."""
OUTCOMES = ("success", "failure", "retries", "throttled", "not_modified")
SERIES = {
    "items": ("bobusang_collect_items", "Items read from pages"),
    "changed": ("bobusang_collect_changes", "Items that changed"),
    "bytes": ("bobusang_collect_bytes", "Bytes received"),
}


class FetchTotals:
    """What was fetched so far, by source and endpoint, as one process knows it."""

    def __init__(self) -> None:
        self.sums: collect_statistics.Sums = {}
        self._last = 0
        self._asked: datetime | None = None

    async def renew(self, tx: Tx) -> None:
        """Add what was counted since the last time."""
        if self._asked is None or tx.now - self._asked > BEGIN_AGAIN:
            self.sums, self._last = {}, 0
        upto = await collect_statistics.settled(tx, self._last, tx.now - LAG)
        if upto is not None:
            added = await collect_statistics.sums(tx, self._last, upto)
            keys = sorted({*self.sums, *added})
            self.sums = {key: self.sums.get(key, Counts()) + added.get(key, Counts()) for key in keys}
            self._last = upto
        self._asked = tx.now


async def families(tx: Tx, totals: FetchTotals) -> list[Metric]:
    """All series of collecting."""
    await totals.renew(tx)
    return [
        *_fetches(totals.sums),
        _held(await held.open_by_guard(tx)),
        _identities(Counter((one.source, one.state) for one in await roster.show(tx))),
    ]


def _fetches(sums: collect_statistics.Sums) -> Iterator[Metric]:
    fetches = CounterMetricFamily(
        "bobusang_fetches",
        "Requests to malls; not_modified is a part of success",
        labels=["source", "endpoint", "outcome"],
    )
    for (source, endpoint), counts in sums.items():
        for outcome in OUTCOMES:
            fetches.add_metric([source, endpoint, outcome], getattr(counts, outcome))
    yield fetches
    for name, (series, words) in SERIES.items():
        family = CounterMetricFamily(series, words, labels=["source", "endpoint"])
        for (source, endpoint), counts in sums.items():
            family.add_metric([source, endpoint], getattr(counts, name))
        yield family


def _held(found: dict[tuple[str, str], int]) -> Metric:
    family = GaugeMetricFamily("bobusang_held_writes", "Held writes that wait for a person", labels=["source", "guard"])
    for labels, count in found.items():
        family.add_metric(list(labels), count)
    return family


def _identities(found: Counter[tuple[str, IdentityState]]) -> Metric:
    family = GaugeMetricFamily("bobusang_identities", "Identities by state", labels=["source", "state"])
    for source in sorted({source for source, _ in found}):
        for state in IdentityState:
            family.add_metric([source, state.value], found[source, state])
    return family
