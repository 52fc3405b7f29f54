"""A mall that gives no sessions, let alone pages: its brands are given up after a while, told, and gone on with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import retrying
from bobusang.flows.conveyor.model import Mode
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
SINCE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
WHY = "mustit search has not answered since THEN UTC: 5 of 5 calls were not answered: HTTP 500: their fault"


@pytest.fixture
async def shop(tmp_path: Path, database_url: str) -> AsyncIterator[Shop]:
    """On each database, working, a brand listed; malls are waited for only a moment."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=6, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "database_url": database_url,
        "silent_seconds": 0.5,
    }
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        assert await shop.run(Mode.FULL, [MUSTIT]) == "COMPLETED"
        yield shop


async def told(shop: Shop, batch: str) -> list[tuple[str, str, str | None]]:
    rows = await shop.yard.rows(
        "select stage, status, error_msg from pipeline_control where batch_id = :id order by id", id=batch
    )
    return [(row["stage"], row["status"], row["error_msg"] and SINCE.sub("THEN", row["error_msg"])) for row in rows]


async def alerts(shop: Shop) -> dict[str, str]:
    rows = await shop.yard.rows("select alert_key, text from alerts where resolved_at is null order by id")
    return {row["alert_key"]: SINCE.sub("THEN", row["text"]) for row in rows}


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
        ("COLLECT", "ERROR", WHY),
        *((stage, "ERROR", cancelled) for stage in ("CONVERT", "IMAGE", "PRICE", "REGISTER")),
    ]
    found = await alerts(shop)
    assert found["conveyor.stage:COLLECT:mustit:NIKE"] == (
        f"COLLECT: {WHY}. When it answers: `bobusang run retry {batch}`. `bobusang run show {batch}` tells more."
    )
    assert WHY in found["conveyor.batch:FULL"]

    await shop.door.clear()
    app = shop.yard.app
    await shop.yard.db.transact(lambda tx: switch.resume(tx, app.collector.pools, "mustit", by="test"))
    await shop.yard.db.transact(lambda tx: retrying.retry(tx, app.engine, batch))
    assert await shop.ended(batch) == "COMPLETED"
    assert {status for _, status, _ in await told(shop, batch)} == {"DONE"}
    assert (await shelves(shop), await alerts(shop)) == (before[0], {})
