"""The seller crawl of design [B] over the sandbox: cadence, quality, states of tasks, throttling, and self-healing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import sellers as catalog
from bobusang.catalog.model import SellerStatus
from bobusang.engine import schedules
from bobusang.flows.seller_crawl import healing, sellers
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict
from bobusang.platform.alerting import open_alerts
from bobusang.sandbox.world import World
from bobusang.stages.collect import decisions, roster
from bobusang.stages.collect.tables import IdentityState
from bobusang.testing.workshop import Workshop
from bobusang.views import crawl as view
from bobusang.views.crawl import CrawlFilter, CrawlState
from tests.integration.flows.turning import Mill, turning

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.catalog.sellers import Seller


@pytest.fixture
async def mill(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Mill]:
    async with turning(empty_sqlite, tmp_path, World(seed=1, size=300)) as found:
        yield found


async def known(mill: Mill, seller: Seller) -> Seller:
    """The seller as it is now."""
    async with mill.app.engine.db.read() as tx:
        return await catalog.get(tx, seller.id)


async def states(mill: Mill, seller: Seller, **wanted: Any) -> list[tuple[str, str]]:
    """Endpoint and state of its tasks, the newest first."""
    async with mill.app.engine.db.read() as tx:
        found = await view.listed(tx, CrawlFilter(seller=seller, **wanted), None, 500)
    return [(task.endpoint, task.status.value) for task in found.tasks]


async def plan(mill: Mill, seller: Seller) -> tuple[Any, int]:
    """When its schedule fires next, and its interval in minutes."""
    assert seller.schedule_id is not None
    async with mill.app.engine.db.read() as tx:
        row = await schedules.get(tx, seller.schedule_id)
    return utc(row["next_run_at"]), row["interval_s"] // 60


async def alerts(mill: Mill) -> list[tuple[str, int]]:
    async with mill.app.engine.db.read() as tx:
        return [(alert.key, alert.count) for alert in await open_alerts(tx)]


async def probes(mill: Mill) -> list[tuple[int, str]]:
    """Number and status of the probes."""
    rows = await mill.shop.rows("select input, status from crawling_jobs where input like '%probe%' order by id")
    return [(json.loads(row["input"])["probe"], row["status"]) for row in rows]


async def test_a_seller_that_products_told_of_is_taken_over_once(mill: Mill) -> None:
    new = catalog.NewSeller("mustit", "s-1", company="Acme", cadence_minutes=60)
    found = await mill.shop.do(lambda tx: catalog.create(tx, catalog.NewSeller("mustit", "s-1", email="a@example.com")))

    added = await mill.shop.do(lambda tx: sellers.add(tx, mill.workflow_id, new))

    assert (added.id, added.company, added.email, added.cadence_minutes) == (found, "Acme", "a@example.com", 60)
    assert added.schedule_id is not None
    with pytest.raises(Conflict, match="has a seller 's-1' already"):
        await mill.shop.do(lambda tx: sellers.add(tx, mill.workflow_id, new))


async def test_a_crawl_goes_from_list_to_detail_to_options_and_is_graded(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    assert await mill.crawl(seller) == "SUCCESS"

    truth = await mill.door.truth("mustit", seller=seller.seller_id)
    listed = sum(1 for item in truth["items"] if item["listed"])
    found = await states(mill, seller)
    assert {state for _, state in found} == {"SUCCESS"}
    assert [sum(1 for name, _ in found if name == wanted) for wanted in ("detail", "options")] == [listed, listed]
    quality = (await known(mill, seller)).quality
    assert {name: quality[name] for name in ("score", "items", "completeness", "freshness", "consistency")} == {
        "score": 100.0,
        "items": listed,
        "completeness": 1.0,
        "freshness": 1.0,
        "consistency": 1.0,
    }


async def test_a_task_is_unique_in_its_run_and_a_second_run_has_its_own(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    first, second = await mill.start(seller), await mill.start(seller)
    assert (await mill.until_ended(first), await mill.until_ended(second)) == ("SUCCESS", "SUCCESS")

    rows = await mill.shop.rows("select job_id, task_key from tasks where pool is not null")
    keys = {(row["job_id"], row["task_key"]) for row in rows}
    assert len(keys) == len(rows)
    lists = [{key for job, key in keys if job == run and key.startswith("list")} for run in (first, second)]
    assert lists[0] == lists[1]


async def test_one_key_is_one_job_and_what_is_stopped_is_not_started(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    job = await mill.start(seller, key="2026-01-27T03")
    assert await mill.start(seller, key="2026-01-27T03") == job
    assert await mill.start(seller, key="2026-01-27T04") != job

    await mill.shop.do(lambda tx: decisions.decide(tx, "mustit", enabled=False, why="they asked", by="minji"))
    with pytest.raises(Conflict, match="the source mustit is off"):
        await mill.start(seller)
    await mill.shop.do(lambda tx: sellers.pause(tx, seller.id, "holidays"))
    with pytest.raises(Conflict, match="is paused: holidays"):
        await mill.start(await known(mill, seller))
    assert await mill.start(await known(mill, seller), key="2026-01-27T03") == job


async def test_another_cadence_counts_from_the_next_fire(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest(), cadence_minutes=24 * 60)
    planned, _ = await plan(mill, seller)
    assert planned == mill.clock.now() + timedelta(days=1)

    await mill.shop.do(lambda tx: sellers.change(tx, mill.workflow_id, seller.id, {"cadence_minutes": 60}))
    assert await plan(mill, seller) == (planned, 60)
    mill.clock.set(planned)
    assert await mill.shop.fire() == 1
    after, _ = await plan(mill, seller)
    assert timedelta(minutes=50) <= after - planned <= timedelta(minutes=70)


async def test_an_adaptive_cadence_follows_what_changes_and_a_steady_one_does_not(mill: Mill) -> None:
    names = sorted((await mill.door.world())["sellers"].items(), key=lambda pair: pair[1])[-2:]
    adaptive = await mill.seller(names[0][0], cadence_minutes=240, adaptive=True)
    steady = await mill.seller(names[1][0], cadence_minutes=240)
    seen = []
    for _ in range(3):
        mill.clock.set(max([(await plan(mill, one))[0] for one in (adaptive, steady)]))
        await mill.shop.fire()
        rows = await mill.shop.rows("select id from crawling_jobs where status in ('PENDING', 'RUNNING')")
        for row in rows:
            assert await mill.until_ended(row["id"]) == "SUCCESS"
        seen.append((await plan(mill, adaptive))[1])
        assert (await plan(mill, steady))[1] == 240

    assert seen[0] < 240  # all was new
    assert seen[0] < seen[1] < seen[2]  # then nothing changed
    # A new name does not make it forget what it has learned.
    await mill.shop.do(lambda tx: sellers.change(tx, mill.workflow_id, adaptive.id, {"name": "새 이름"}))
    assert (await plan(mill, adaptive))[1] == seen[2]


async def test_a_429_waits_uses_no_attempt_and_costs_the_identity_its_token(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    await mill.door.fault("mustit", "list", "http_429", count=1)
    job = await mill.start(seller)
    await mill.turn()

    assert await states(mill, seller, status=CrawlState.RETRY) == [("list", "RETRY")]
    (task,) = await mill.shop.rows("select retry_count, error_message from tasks where pool is not null")
    assert task["retry_count"] == 0
    async with mill.app.engine.db.read() as tx:
        hit = [one for one in await roster.show(tx, "mustit") if one.throttles]
    assert [(one.state, one.has_session, one.throttles) for one in hit] == [(IdentityState.DISABLED, False, 1)]

    assert await mill.until_ended(job) == "SUCCESS"
    counts = await mill.shop.row("select sum(throttled) as throttled, sum(retries) as retries from fetch_counts")
    assert counts == {"throttled": 1, "retries": 0}
    assert await mill.shop.value("select max(retry_count) from tasks") == 0


async def test_a_third_5xx_puts_the_task_among_the_dead_letters_as_failed(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    truth = await mill.door.truth("mustit", seller=seller.seller_id)
    bad = next(item["key"] for item in truth["items"] if item["listed"])
    await mill.door.fault("mustit", "detail", "http_503", match=bad)
    assert await mill.crawl(seller) == "FAILED"

    assert await states(mill, seller, status=CrawlState.FAILED) == [("detail", "FAILED")]
    letter = await mill.shop.row(
        "select d.reason_class, t.retry_count from dead_letters d join tasks t on t.id = d.task_id"
    )
    assert letter == {"reason_class": "TRANSPORT", "retry_count": 3}
    counts = await mill.shop.row("select sum(failure) as failure, sum(retries) as retries from fetch_counts")
    assert counts == {"failure": 1, "retries": 2}


async def test_a_task_whose_worker_died_is_shown_as_timeout_and_runs_again(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    job = await mill.start(seller)
    plan_batch = await mill.shop.claimed(handler="collect.plan")
    outcomes = await plan_batch.handler.work(plan_batch.tasks)
    await mill.shop.finish(plan_batch, lambda _: outcomes[0])
    await mill.shop.fold()
    assert await states(mill, seller) == [("list", "PUBLISHED")]
    await mill.shop.claimed(handler="collect.fetch", deadline=timedelta(minutes=10))
    assert await states(mill, seller) == [("list", "RUNNING")]
    mill.clock.advance(minutes=11)
    assert await mill.shop.rescue() == 1
    assert await states(mill, seller) == [("list", "TIMEOUT")]
    async with mill.app.engine.db.read() as tx:
        (run,) = await view.progress(tx, seller, None, 10)
    assert (run.job_id, run.states, run.ratios) == (job, {CrawlState.TIMEOUT: 1}, {CrawlState.TIMEOUT: 1.0})
    mill.shop = Workshop(mill.app.engine)  # another worker claims
    assert await mill.until_ended(job) == "SUCCESS"


async def test_a_seller_whose_every_page_fails_is_paused_probed_and_resumed(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    await mill.door.fault("mustit", "list", "http_503")
    job = await mill.start(seller)
    assert await mill.until_ended(job) == "FAILED"

    ill = await known(mill, seller)
    assert (ill.status, ill.paused_reason) == (
        SellerStatus.PAUSED,
        f"self-healing, job {job}: 3 requests failed and none succeeded",
    )
    assert await alerts(mill) == [(f"seller.unwell:{seller.id}", 1)]
    assert await probes(mill) == [(1, "PENDING")]

    last = await mill.shop.value("select max(id) from crawling_jobs")
    assert await mill.until_ended(last, step=60) == "FAILED"
    assert await probes(mill) == [(1, "FAILED"), (2, "PENDING")]
    assert await alerts(mill) == [(f"seller.unwell:{seller.id}", 1)]

    await mill.door.clear()
    assert await mill.until_ended(last + 1, step=60) == "SUCCESS"
    healed = await known(mill, seller)
    assert (healed.status, healed.paused_reason, await alerts(mill)) == (SellerStatus.ACTIVE, None, [])
    assert await mill.until_ended(last + 2) == "SUCCESS"  # what the failed crawl should have seen
    assert (await known(mill, seller)).quality["score"] == 100.0


async def test_what_a_person_has_paused_or_resumed_no_probe_touches(mill: Mill) -> None:
    seller = await mill.seller(await mill.smallest())
    await mill.door.fault("mustit", "list", "http_503", count=3)
    await mill.crawl(seller)
    probe = await mill.shop.value("select max(id) from crawling_jobs")
    await mill.shop.do(lambda tx: sellers.pause(tx, seller.id, "we talk to them"))

    assert await mill.until_ended(probe, step=60) == "SUCCESS"
    stays = await known(mill, seller)
    assert (stays.status, stays.paused_reason) == (SellerStatus.PAUSED, "we talk to them")

    await mill.shop.do(lambda tx: sellers.resume(tx, seller.id))
    assert await alerts(mill) == []
    await mill.door.fault("mustit", "list", "http_503", count=3)
    second = await mill.start(await known(mill, seller))
    assert await mill.until_ended(second) == "FAILED"
    assert healing.is_paused_for(await known(mill, seller), second)
    assert await probes(mill) == [(1, "SUCCESS"), (1, "PENDING")]
