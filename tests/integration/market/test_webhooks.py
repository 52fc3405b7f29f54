"""The webhook door over real HTTP: stored first, answered at once, and what is not signed changes nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.market.inbox import AT_ONCE, apply
from bobusang.kit import json
from bobusang.kit.money import yen
from bobusang.stages.register import accounts, inbox
from tests.integration.market.stall import Stall, selling
from tests.integration.register.shop import Shop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx

SECRET = "sandbox-client-secret"
INBOX = "select state, genuine, times, note from webhook_inbox order by id"


@pytest.fixture
async def stall(url: str, tmp_path: Path) -> AsyncIterator[Stall]:
    async with selling(url, tmp_path) as found:
        yield found


@pytest.fixture
async def small(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Stall]:
    async with selling(empty_sqlite, tmp_path) as found:
        yield found


def hook(told: object, secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    headers, body = Shop.hook("product/update", json.loads(json.dumps(told)), secret)
    return body, {name.replace("-", "_"): value for name, value in headers.items()}


async def test_a_verdict_wakes_who_waits_for_it(stall: Stall) -> None:
    settled = await stall.go(*stall.coats(3))
    keys = sorted(one.key for one in settled)
    await stall.waiting(*keys)
    await stall.door.settle()
    before = await stall.woken()
    moved = await apply(stall.shop.db, stall.register).run()

    assert (before, moved, await stall.woken()) == ([], 3, keys)
    assert await stall.rows("select distinct state from listings") == [{"state": "LIVE"}]


async def test_a_verdict_before_the_wait_is_kept_for_it(stall: Stall) -> None:
    [settled] = await stall.go(*stall.coats(1))
    await stall.door.settle()
    await apply(stall.shop.db, stall.register).run()
    await stall.waiting(settled.key)

    assert await stall.woken() == [settled.key]


async def test_a_webhook_rings_for_upkeep(small: Stall) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with small.shop.db.listen(heard.put_nowait):
        body, headers = hook({"id": 1, "reference_number": "nobody's", "status": "public"})
        status = await small.post(body, **headers)
        async with asyncio.timeout(10):
            while await heard.get() != inbox.DOORBELL:
                pass
    await apply(small.shop.db, small.register).run()

    assert (status, apply(small.shop.db, small.register).rings) == (200, frozenset({inbox.DOORBELL}))
    assert [row["state"] for row in await small.rows(INBOX)] == ["UNMATCHED"]


async def test_forged_doubled_and_changed_webhooks(small: Stall) -> None:
    body, headers = hook({"id": 1, "reference_number": "x", "status": "public"})
    forged, wrong = hook({"id": 1, "reference_number": "x", "status": "public"}, "another secret")
    statuses = [
        await small.post(forged, **wrong),
        await small.post(body, **headers),
        await small.post(body, **headers),
        await small.post(body + b" ", **headers),
        await small.post(body),
    ]
    await apply(small.shop.db, small.register).run()

    assert statuses == [401, 200, 200, 401, 401]
    assert [(row["state"], row["genuine"], row["times"]) for row in await small.rows(INBOX)] == [
        ("FORGED", 0, 1),
        ("UNMATCHED", 1, 2),
        ("FORGED", 0, 1),
        ("FORGED", 0, 1),
    ]
    assert await small.rows("select * from listings") == []


async def test_many_at_once_get_each_its_own_answer(stall: Stall) -> None:
    """They are stored together; a forged one, or one that is nobody's, does no harm to the others."""
    true = [hook({"id": number, "reference_number": f"R{number}", "status": "public"}) for number in range(40)]
    wrong, forged = hook({"id": 1}, "another secret")
    odd, headers = hook({"id": 2})
    posts = [
        *(stall.post(body, **signed) for body, signed in true),
        *(stall.post(wrong, **forged) for _ in range(5)),
        *(stall.post(wrong, f"nobody-{number}", **forged) for number in range(5)),
        stall.post(odd, **{**headers, "X_Note": "x" * 5000}),
    ]
    statuses = await asyncio.gather(*posts)

    assert statuses == [*[200] * 40, *[401] * 5, *[404] * 5, 200]
    kept = "select state, count(*) as n, sum(times) as t from webhook_inbox group by state order by state"
    assert await stall.rows(kept) == [
        {"state": "FORGED", "n": 1, "t": 5},
        {"state": "RECEIVED", "n": 41, "t": 41},
    ]


async def test_a_flood_of_forged_ones_keeps_no_genuine_one_out(stall: Stall) -> None:
    true = [hook({"id": number, "status": "public"}) for number in range(20)]
    forged = [hook({"id": number}, "another secret") for number in range(100)]
    statuses = await asyncio.gather(*(stall.post(body, **signed) for body, signed in [*forged, *true]))

    assert statuses == [*[401] * 100, *[200] * 20]
    kept = "select state, count(*) as n, sum(times) as t from webhook_inbox group by state order by state"
    assert await stall.rows(kept) == [
        {"state": "FORGED", "n": inbox.MOST_FORGED + 1, "t": 100},
        {"state": "RECEIVED", "n": 20, "t": 20},
    ]


async def test_a_crowd_takes_effect_in_one_go_by_short_transactions(small: Stall) -> None:
    crowd = [hook({"id": number, "status": "public"}) for number in range(2 * AT_ONCE + 1)]

    async def store(tx: Tx) -> None:
        for body, headers in crowd:
            signed = {name.replace("_", "-"): value for name, value in headers.items()}
            assert await small.register.receive(tx, small.account, signed, body)

    await small.shop.do(store)
    await apply(small.shop.db, small.register).run()

    assert await small.rows(
        "select state, count(*) as n, count(distinct applied_at) as t from webhook_inbox group by state"
    ) == [{"state": "UNMATCHED", "n": len(crowd), "t": 3}]


async def test_who_is_unknown_and_what_is_too_large_leave_no_trace(small: Stall) -> None:
    body, headers = hook({"id": 1})
    huge = b"x" * (inbox.LARGEST + 1)

    async def drip() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield huge[: inbox.LARGEST // 10]

    streamed = await small.http.post("/webhooks/buyma/main", content=drip(), headers={"x-buyma-event": "x"})

    assert await small.post(body, "nobody", **headers) == 404
    assert (await small.http.post("/webhooks/qoo10/main", content=body)).status_code == 404
    assert (await small.post(huge, **headers), streamed.status_code) == (413, 413)
    assert (await small.http.get("/webhooks/buyma/main")).status_code == 405
    assert await small.rows(INBOX) == []


async def test_without_its_secret_an_account_asks_to_be_told_again(small: Stall, tmp_path: Path) -> None:
    lost = replace(small.account, name="second", secret_ref="env:BOBUSANG_NO_SUCH_SECRET")
    await small.shop.do(lambda tx: accounts.add(tx, lost))
    body, headers = hook({"id": 1})
    answer = await small.http.post("/webhooks/buyma/second", content=body, headers=headers)

    assert (answer.status_code, "NO_SUCH_SECRET" in answer.text) == (503, False)
    assert await small.rows(INBOX) == []


@pytest.mark.parametrize("mishap", ["doubled", "forged", "reordered", "late"])
async def test_whatever_befalls_a_webhook_its_listing_is_right(small: Stall, mishap: str) -> None:
    await small.door.fault("buyma", "webhook", mishap, seconds=0.2)
    [coat] = small.coats(1)
    duty = apply(small.shop.db, small.register)
    for price in (22_500, 23_000):
        await small.go(replace(coat, price=yen(price)))
        await small.door.settle()
        await duty.run()

    assert await small.rows("select state, open_call from listings") == [{"state": "LIVE", "open_call": None}]
    assert await small.rows("select state, count(*) as n from market_calls group by state") == [
        {"state": "CONFIRMED", "n": 2}
    ]
