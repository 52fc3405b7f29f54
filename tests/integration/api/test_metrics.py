"""Metrics and health, on all three databases."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
from prometheus_client.parser import text_string_to_metric_families

from bobusang.engine import statistics
from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import Park, Retry
from bobusang.entry.api import create_app
from bobusang.kit.db import connect
from bobusang.kit.schema import metadata
from bobusang.kit.sql import Statement
from bobusang.testing.workshop import Workshop
from bobusang.wiring import build
from tests.integration.api.door import opened, settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.api.door import Door

APART = ("bobusang_http_", "bobusang_search_")
"""Series with tests of their own."""

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def measured(door: Door) -> None:
    """What upkeep does every fifteen seconds."""
    engine = door.app.engine
    async with engine.db.read() as tx:
        figures = await statistics.measure(tx, engine.pace.dead_after)
    await engine.db.transact(lambda tx: statistics.store(tx, figures))


def samples(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_metrics_tell_what_was_measured(door: Door) -> None:
    shop = Workshop(door.app.engine)
    await door.workflow("장터")
    for page in range(4):
        await door.job("장터", input={"page": page})
    await shop.finish(await shop.claimed(1, handler="echo"))
    await shop.finish(await shop.claimed(1, handler="echo"), Park(ReasonClass.DRIFTED, "no price"))
    await shop.finish(await shop.claimed(1, handler="echo"), Retry("503"))
    await shop.fold()
    await measured(door)

    answer = await door.viewer.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain")
    found = samples(answer.text)
    workflow = (("workflow", "장터"),)
    ours = {key: value for key, value in found.items() if key[0].startswith("bobusang_")}
    assert {key: value for key, value in ours.items() if not key[0].startswith(APART)} == {
        ("bobusang_job_success_rate", workflow): 0.5,
        ("bobusang_job_seconds_average", workflow): found["bobusang_job_seconds_average", workflow],
        ("bobusang_retry_rate", workflow): 0.0,
        ("bobusang_items_processed", workflow): 2.0,
        ("bobusang_jobs", (("status", "SUCCESS"), *workflow)): 1.0,
        ("bobusang_jobs", (("status", "FAILED"), *workflow)): 1.0,
        ("bobusang_queue_depth", (("queue", "HIGH_PRIORITY"),)): 0.0,
        ("bobusang_queue_depth", (("queue", "NORMAL"),)): 1.0,
        ("bobusang_queue_depth", (("queue", "LOW_PRIORITY"),)): 0.0,
        ("bobusang_queue_oldest_wait_seconds", (("queue", "HIGH_PRIORITY"),)): 0.0,
        ("bobusang_queue_oldest_wait_seconds", (("queue", "NORMAL"),)): found[
            "bobusang_queue_oldest_wait_seconds", (("queue", "NORMAL"),)
        ],
        ("bobusang_queue_oldest_wait_seconds", (("queue", "LOW_PRIORITY"),)): 0.0,
        ("bobusang_handler_depth", (("handler", "echo"),)): 1.0,
        ("bobusang_dead_letters", (("class", "DRIFTED"),)): 1.0,
        ("bobusang_delayed_tasks", ()): 1.0,
        ("bobusang_running_tasks", ()): 0.0,
        ("bobusang_workers", ()): 1.0,
        ("bobusang_statistics_age_seconds", ()): found["bobusang_statistics_age_seconds", ()],
    }
    assert found["process_resident_memory_bytes", ()] > 0
    requests = ("bobusang_http_seconds_count", (("method", "POST"), ("route", "/jobs"), ("status", "201")))
    assert found[requests] == 4.0

    seen = await door.get("/statistics")
    assert seen["measured_at"].endswith("Z")
    assert {(one["name"], one["label"]): one["value"] for one in seen["figures"]}["queue_depth", "NORMAL"] == 1.0
    (day,) = seen["days"]
    assert (day["workflow"], day["total_jobs"], day["success_jobs"], day["total_items_processed"]) == ("장터", 4, 1, 2)


async def test_metrics_are_open_only_by_setting(small: Door, empty_sqlite: str, tmp_path: Path) -> None:
    assert (await small.stranger.get("/metrics")).status_code == 401
    async with opened(empty_sqlite, tmp_path, metrics_open=True) as door:
        assert (await door.stranger.get("/metrics")).status_code == 200
        assert (await door.stranger.get("/jobs")).status_code == 401


SCRAPED = {
    *("api_keys", "engine_statistics", "fetch_counts", "held_writes", "crawl_agents"),
    *("pipeline_batches", "pipeline_control"),
    *(
        "subscriptions",
        "deliveries",
        "outbox",
    ),  # how far searching is behind: the first that waits, and a bounded count
}


async def test_a_scrape_looks_at_a_few_small_tables_alone(empty_postgres: str, tmp_path: Path) -> None:
    """Every other table is locked: whoever looked there would wait."""
    others = ", ".join(sorted(table.name for table in metadata.sorted_tables if table.name not in SCRAPED))
    async with opened(empty_postgres, tmp_path) as door:
        keeper = await connect(empty_postgres, pool=1)
        async with keeper.begin() as tx, asyncio.timeout(10):
            await tx.execute(Statement(f"lock table {others} in access exclusive mode"))
            assert (await door.viewer.get("/metrics")).status_code == 200
        await keeper.close()


async def test_health_tells_who_works(small: Door) -> None:
    idle = await small.stranger.get("/health")
    assert (idle.status_code, idle.json()["status"], idle.json()["leader"], idle.json()["workers"]) == (
        200,
        "degraded",
        None,
        0,
    )
    assert (await small.stranger.get("/health/ready")).json()["status"] == "ok"


async def test_it_lives_but_is_not_ready_without_its_tables(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    db = await connect(url)
    transport = httpx.ASGITransport(create_app(build(settings(url, tmp_path), db)))
    async with httpx.AsyncClient(transport=transport, base_url="http://door") as client:
        live, ready = await client.get("/health/live"), await client.get("/health/ready")
    await db.close()

    assert live.status_code == 200
    assert (ready.status_code, ready.json()["code"], ready.json()["hint"]) == (
        503,
        "unavailable",
        "run `bobusang db upgrade`",
    )


async def test_it_lives_but_is_not_ready_when_the_database_is_away(fresh_postgres: str, tmp_path: Path) -> None:
    db = await connect(fresh_postgres)
    transport = httpx.ASGITransport(create_app(build(settings(fresh_postgres, tmp_path), db)))
    await db.close()
    async with httpx.AsyncClient(transport=transport, base_url="http://door") as client:
        live, ready = await client.get("/health/live"), await client.get("/health/ready")

    assert live.status_code == 200
    assert (ready.status_code, ready.json()["code"]) == (503, "unavailable")
    assert ready.headers["retry-after"] == "1"
