"""Musinsa's daily crawl: shipped for six in the morning of Seoul, crawl → validate → load, once a morning."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import brands
from bobusang.catalog.brands import Proposal
from bobusang.catalog.model import Review
from bobusang.engine import schedules
from bobusang.engine.jobs import NewJob
from bobusang.flows.daily import scheduling
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.sandbox.world import World
from bobusang.testing.clock import ManualClock
from bobusang.testing.workshop import Workshop
from tests.integration.flows.turning import HANDLERS, Mill, turning

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx

NIGHT = datetime(2026, 1, 26, 20, 30, tzinfo=UTC)
"""Half past five in the morning of the 27th in Seoul."""
SOURCE, BRAND = "musinsa", "nike"
STEPS = ("crawl", "validate", "load")


@pytest.fixture
async def mill(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Mill]:
    async with turning(empty_sqlite, tmp_path, World(seed=5, size=60, brands=6)) as found:
        yield found


async def accepted(mill: Mill) -> None:
    """A person has accepted a brand."""

    async def work(tx: Tx) -> None:
        await brands.propose(tx, SOURCE, [Proposal(BRAND, "나이키", "NIKE")])
        await brands.review(tx, [one.id for one in await brands.listed(tx, SOURCE)], Review.ACCEPTED)

    await mill.shop.do(work)


async def crawled(mill: Mill, source: str) -> dict[str, Any]:
    """The daily crawl of a source to its end: its status, and what each of its steps said last."""
    workflow = await mill.shop.value("select id from crawling_workflows where workflow_name = 'daily-crawl'")
    job, _ = await mill.app.engine.submit(NewJob(workflow, input={"source": source}))
    for _ in range(300):
        await _turn(mill)
        status = await mill.shop.status(job)
        if status not in ("PENDING", "RUNNING"):
            return {"status": status, "job": job} | await _said(mill, job)
        mill.clock.advance(seconds=5)
        await mill.shop.start()
        await mill.shop.promote()
        for relay in mill.app.relays:
            await relay.step()
    raise AssertionError(await mill.shop.places())


async def _turn(mill: Mill) -> None:
    for name in (*HANDLERS, "daily.crawl", "daily.validate", "daily.load"):
        while (batch := await mill.shop.claim(64, handler=name)) is not None:
            outcomes = dict(zip(batch.ids, await batch.handler.work(batch.tasks), strict=True))
            await mill.shop.finish(batch, lambda task, found=outcomes: found[task.id])  # type: ignore[misc]
            await mill.shop.fold()


async def _said(mill: Mill, job: int) -> dict[str, Any]:
    rows = await mill.shop.rows(
        """select s.step_name, t.status, t.error_message, t.output_data from tasks t
            join workflow_steps s on s.id = t.step_id where t.job_id = :job order by t.id""",
        job=job,
    )
    return {
        row["step_name"]: json.loads(row["output_data"]) if row["output_data"] else row["error_message"] for row in rows
    }


async def test_the_schedule_is_shipped_once_and_stays_as_a_person_leaves_it(empty_sqlite: str) -> None:
    async with Workshop.opened(empty_sqlite, clock=ManualClock(NIGHT)) as shop:
        await scheduling.install(shop.engine)
        [found] = await shop.rows("select id, name, cron_expression, timezone, next_run_at from crawling_schedules")
        await shop.do(lambda tx: schedules.pause(tx, found["id"]))
        await scheduling.install(shop.engine)
        [again] = await shop.rows("select id, is_active, input from crawling_schedules")

    assert (found["name"], found["cron_expression"], found["timezone"]) == ("musinsa daily", "0 6 * * *", "Asia/Seoul")
    assert utc(found["next_run_at"]) == datetime(2026, 1, 26, 21, tzinfo=UTC), "six o'clock in Seoul"
    assert (again["id"], again["is_active"], json.loads(again["input"])) == (found["id"], 0, {"source": "musinsa"})


async def test_its_steps_are_those_of_the_design() -> None:
    found = [line.split()[-1] for line in scheduling.definition().splitlines() if "- name:" in line]

    assert tuple(found) == STEPS


async def test_it_crawls_what_was_accepted_says_what_is_believed_and_tells_when_all_is_found(mill: Mill) -> None:
    await accepted(mill)
    truth = [one for one in (await mill.door.truth(SOURCE, brand="NIKE"))["items"] if one["listed"]]
    told = await crawled(mill, SOURCE)

    assert told["status"] == "SUCCESS"
    assert told["validate"] | {"mark": 0, "since": ""} == {
        "source": SOURCE,
        "runs": 1,
        "proved": 1,
        "listed": len(truth),
        "new": len(truth),
        "changed": told["validate"]["changed"],
        "held": 0,
        "absent": 0,
        "wrong": [],
        "mark": 0,
        "since": "",
    }
    assert {name: told["load"][name] for name in ("products", "in_stock", "search_behind")} == {
        "products": len(truth),
        "in_stock": sum(not one["sold_out"] for one in truth),
        "search_behind": 0,
    }


async def test_where_nothing_is_accepted_it_says_so_and_ends_well(mill: Mill) -> None:
    told = await crawled(mill, SOURCE)

    assert told["status"] == "SUCCESS"
    assert told["crawl"] == f"{SOURCE} has no target: accept a brand of it, or collect a category or a keyword once"


async def test_a_list_that_cannot_be_read_calls_a_person_and_a_good_morning_ends_that(mill: Mill) -> None:
    await accepted(mill)
    await mill.door.fault(SOURCE, "list", "http_500")
    bad = await crawled(mill, SOURCE)
    alerts = await mill.shop.rows("select alert_key, resolved_at from alerts where rule = 'daily.unwell'")
    await mill.door.clear()
    mill.clock.advance(hours=24)
    good = await crawled(mill, SOURCE)
    [alert] = await mill.shop.rows("select resolved_at from alerts where rule = 'daily.unwell'")

    assert (bad["status"], good["status"]) == ("FAILED", "SUCCESS")
    assert [(one["alert_key"], one["resolved_at"]) for one in alerts] == [(f"daily.unwell:{SOURCE}", None)]
    assert alert["resolved_at"] is not None
