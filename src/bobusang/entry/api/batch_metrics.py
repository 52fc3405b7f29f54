"""Prometheus series of batches: how many brands of those that run stand where."""

from __future__ import annotations

from prometheus_client.core import GaugeMetricFamily, Metric

from bobusang.flows.conveyor import watching
from bobusang.kit.db import Tx


async def families(tx: Tx) -> list[Metric]:
    """The series, by one small read."""
    words = "Brands of running batches by stage and status"
    brands = GaugeMetricFamily("bobusang_batch_brands", words, labels=["mode", "stage", "status"])
    for mode, stage, status, count in await watching.running(tx):
        brands.add_metric([mode, stage, status], count)
    return [brands]
