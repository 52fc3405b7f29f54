"""A mall that gives no sessions, let alone pages, or no pictures: its brands are given up after a while, told, and gone
on with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import retrying
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.collect import switch
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import MUSTIT, calls, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NO_SESSIONS = Statement("update crawl_agents set token = null, cookies = null, token_expires_at = null")
SINCE, CALLS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), re.compile(r"\d+ of \d+ calls")
WHY = "mustit {} has not answered since THEN UTC: ALL calls were not answered: HTTP 500: their fault"
PAGES, PICTURES = WHY.format("search"), WHY.format("pictures")
REGISTERS = """
    select t.outcome from tasks t join workflow_steps s on s.id = t.step_id where s.step_name = 'register'"""


@pytest.fixture
async def bare(tmp_path: Path, database_url: str) -> AsyncIterator[Shop]:
    """On each database, working; malls are waited for only a moment."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=6, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "database_url": database_url,
        "silent_seconds": 0.5,
    }
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        yield shop


@pytest.fixture
async def shop(bare: Shop) -> Shop:
    """With a brand listed."""
    assert await bare.run(Mode.FULL, [MUSTIT]) == "COMPLETED"
    return bare


async def told(shop: Shop, batch: str) -> list[tuple[str, str, str | None]]:
    rows = await shop.yard.rows(
        "select stage, status, error_msg from pipeline_control where batch_id = :id order by id", id=batch
    )
    return [(row["stage"], row["status"], row["error_msg"] and plain(row["error_msg"])) for row in rows]


async def alerts(shop: Shop) -> dict[str, str]:
    rows = await shop.yard.rows("select alert_key, text from alerts where resolved_at is null order by id")
    return {row["alert_key"]: plain(row["text"]) for row in rows}


def plain(text: str) -> str:
    return CALLS.sub("ALL calls", SINCE.sub("THEN", text))


async def resumed(shop: Shop, batch: str) -> str:
    """The mall answers by now, and somebody lets the batch go on; how it ends."""
    app = shop.yard.app
    await shop.door.clear()
    await shop.yard.db.transact(lambda tx: switch.resume(tx, app.collector.pools, "mustit", by="test"))
    await shop.yard.db.transact(lambda tx: retrying.retry(tx, app.engine, batch))
    return await shop.ended(batch)


@pytest.mark.timeout(300)
async def test_a_mall_without_sessions_is_given_up_told_and_gone_on_with(shop: Shop) -> None:
    before = await shelves(shop), await calls(shop.door)
    await shop.yard.db.transact(lambda tx: tx.execute(NO_SESSIONS))
    await shop.door.fault("mustit", "*", "http_500")

    batch = await shop.start(Mode.FULL, [MUSTIT])
    assert await shop.ended(batch, patience=60) == "FAILED"

    assert (await shelves(shop), await calls(shop.door)) == before
    cancelled = "its job was cancelled"
    assert await told(shop, batch) == [
        ("COLLECT", "ERROR", PAGES),
        *((stage, "ERROR", cancelled) for stage in ("CONVERT", "IMAGE", "PRICE", "REGISTER")),
    ]
    found = await alerts(shop)
    assert found["conveyor.stage:COLLECT:mustit:NIKE"] == (
        f"COLLECT: {PAGES}. When it answers: `bobusang run retry {batch}`. `bobusang run show {batch}` tells more."
    )
    assert PAGES in found["conveyor.batch:FULL"]

    assert await resumed(shop, batch) == "COMPLETED"
    assert {status for _, status, _ in await told(shop, batch)} == {"DONE"}
    assert (await shelves(shop), await alerts(shop)) == (before[0], {})


@pytest.mark.timeout(300)
async def test_a_mall_without_pictures_is_given_up_once_what_has_its_own_is_registered(bare: Shop) -> None:
    """Nobody gave it up: its breaker opened, and its products waited for ever, for a probe now and then."""
    before = [Stage.COLLECT, Stage.CONVERT, Stage.IMAGE]
    assert await bare.run(Mode.FULL, [MUSTIT], stages=before, limit=2) == "COMPLETED"
    await bare.door.behave(delay=5.0)
    await bare.door.fault("mustit", "image", "http_500")

    batch = await bare.start(Mode.FULL, [MUSTIT])
    assert await bare.ended(batch, patience=60) == "FAILED"

    cancelled = "its job was cancelled"
    assert await told(bare, batch) == [
        ("COLLECT", "DONE", None),
        ("CONVERT", "DONE", None),
        ("IMAGE", "ERROR", PICTURES),
        *((stage, "ERROR", cancelled) for stage in ("PRICE", "REGISTER")),
    ]
    assert await bare.yard.rows(REGISTERS) == [{"outcome": "DONE"}, {"outcome": "DONE"}]
    assert {one["status"] for one in (await shelves(bare)).values()} == {"public"}
    found = await alerts(bare)
    assert found["conveyor.stage:IMAGE:mustit:NIKE"] == (
        f"IMAGE: {PICTURES}. When it answers: `bobusang run retry {batch}`. `bobusang run show {batch}` tells more."
    )
    assert PICTURES in found["conveyor.batch:FULL"]

    await bare.door.behave(delay=0.0)
    assert await resumed(bare, batch) == "COMPLETED"
    assert {status for _, status, _ in await told(bare, batch)} == {"DONE"}
    assert (len(await shelves(bare)), await alerts(bare)) == (5, {})  # the sixth has no category
