"""The sandbox remembers: stopped or killed, it goes on where it was, and what was under way is done."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import ClientSession

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.server import Sandbox
from bobusang.sandbox.world import World
from bobusang.testing.sandbox import process, running
from tests.integration.sandbox.seller import NOW, OUT, TOKEN, Receiver, body, post, receiving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bobusang.testing.sandbox import Door

AT = datetime.fromisoformat(NOW)
AT_ONCE = Behaviour(delay=0, now=AT, hour_limit=0, day_limit=0)
NAME = "NIKE ニット REF-1"
SMALL = ("--seed", "5", "--size", "300", "--market-delay", "0")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sandbox.jsonl"


def begun(
    file: Path, url: str = "", behaviour: Behaviour = AT_ONCE, port: int = 0
) -> AbstractAsyncContextManager[Door]:
    return running(World(5, 300), keep=file, port=port, behaviour=behaviour, account=Account(webhook_url=url))


async def seen(http: ClientSession, door: Door) -> dict[str, Any]:
    """All that can be seen of a world and its market."""
    world = await door.world()
    async with http.get(f"{door.buyma}/r/-O3/AB1234-567/") as answer:
        search = await answer.text()
    async with http.get(f"{door.buyma}/api/v1/orders.json", headers=TOKEN) as answer:
        orders = await answer.json()
    return {
        "world": {name: value for name, value in world.items() if name not in ("pid", "cpu_seconds")},
        "nike": await door.truth("okmall", brand="NIKE"),
        "market": await door.market(),
        "effects": await door.effects(),
        "search": search,
        "orders": orders,
    }


async def test_what_became_of_world_and_market_outlives_them(http: ClientSession, file: Path) -> None:
    async with begun(file) as door:
        key = (await door.truth("okmall", brand="NIKE"))["items"][0]["key"]
        await door.override("okmall", key, price=1000, stocks={"1": 3})
        await door.advance(30)
        await door.drift(40)
        await door.account(token="second", seller_id=77)
        await door.rivals("AB1234-567", [{"price": 30_000, "seller_name": "rival"}])
        for reference in ("REF-1", "REF-2", "REF-3"):
            await post(http, door, body(door, reference))
        await door.order("REF-1", "White", "S")
        await post(http, door, {"reference_number": "REF-2", **OUT}, "products/variants.json")
        await post(http, door, {"control": "delete", "reference_number": "REF-3"})
        await door.decide("REF-2", "admin_suspended")
        await post(http, door, {"reference_number": "REF-X", **OUT}, "products/variants.json")
        await door.settle()
        before = await seen(http, door)

    async with begun(file) as door:
        after = await seen(http, door)

    assert before["market"]["states"] == {"public": 1, "admin_suspended": 1, "buyer_deleted": 1}
    assert after == before


async def test_what_follows_goes_on_from_there(http: ClientSession, file: Path) -> None:
    async with begun(file) as door:
        await door.advance(24)
        await post(http, door, body(door))
        await post(http, door, body(door, "REF-2", name="another"))
        id = (await door.market(reference="REF-1"))["listings"][0]["id"]
        await post(http, door, body(door, "REF-2", id=id, name=NAME))  # by id: the reference is taken from the other

    async with begun(file) as door:
        hours = await door.advance(24)
        await post(http, door, body(door, "REF-2", price=9800, name=NAME))
        await post(http, door, body(door))
        market = await door.market()

    told = [(one["id"] - id, one["references"], one["price"], one["edits"]) for one in market["listings"]]
    assert hours == 48
    assert told == [(0, ["REF-1", "REF-2"], 9800, 2), (1, ["REF-2"], 22_500, 0), (4, ["REF-1"], 22_500, 0)]


async def test_what_was_accepted_is_done_and_told_after_the_restart(http: ClientSession, file: Path) -> None:
    receiver = Receiver()
    async with begun(file, behaviour=Behaviour(delay=3600, now=AT)) as door:
        _, answer = await post(http, door, body(door), settle=False)
        before, port = await door.market(), int(door.url.rpartition(":")[2])

    async with receiving(receiver) as url, begun(file, url, port=port) as door:
        await door.settle()
        after, effects = await door.market(), await door.effects()

    id = after["listings"][0]["id"]
    assert (before["pending"], before["listings"]) == (1, [])
    assert (after["pending"], after["created"], after["fetches"], after["webhooks"]) == (0, 1, 2, {"200": 1})
    assert effects == {answer["request_uid"]: {"outcome": "created", "effects": 1, "listing": id, "stock": False}}
    assert receiver.events == ["product/create"]


async def test_a_webhook_that_nobody_took_yet_is_sent_again(http: ClientSession, file: Path) -> None:
    receiver = Receiver(failing=1)
    patient = Behaviour(delay=0, now=AT, retry_seconds=3600)
    async with receiving(receiver) as url:
        async with begun(file, url, patient) as door:
            await post(http, door, body(door), settle=False)
            await until(lambda: _counts(door, {"503": 1}))
        async with begun(file) as door:
            await door.settle()
            (sent,), market = await door.webhooks(), await door.market()

    assert (sent["event"], sent["attempt"], sent["status"]) == ("product/create", 2, 200)
    assert (receiver.events, market["webhooks"]) == (["product/create"], {"503": 1, "200": 1})


async def test_a_reset_is_remembered_and_the_accounts_stay(http: ClientSession, file: Path) -> None:
    async with begun(file) as door:
        await door.account(token="second", webhook_url="http://127.0.0.1:9/second")
        fresh = await seen(http, door)
        await door.advance(5)
        await post(http, door, body(door))
        await until(lambda: _holds(file, "REF-1"))
        await door.reset()
    async with begun(file) as door:
        after, second = await seen(http, door), await door.account(token="second")

    assert after == fresh
    assert second["webhook_url"] == "http://127.0.0.1:9/second"


async def test_calls_of_before_still_count(http: ClientSession, file: Path) -> None:
    few = Behaviour(delay=0, now=AT, hour_limit=3, day_limit=2)
    async with begun(file, behaviour=few) as door:
        first = await post(http, door, body(door))
    async with begun(file, behaviour=few) as door:
        second = await post(http, door, body(door))
        third = await post(http, door, body(door))

    assert (first[0], second[0], third[0]) == (201, 201, 429)


async def test_a_process_that_is_told_to_stop_or_killed_loses_nothing_that_was_kept(
    http: ClientSession, file: Path
) -> None:
    until_day = f"{datetime.now(UTC) + timedelta(days=30):%Y/%m/%d}"
    async with process(*SMALL, "--keep", str(file)) as door:
        await door.advance(7)
        await post(http, door, body(door, available_until=until_day))
        stopped = await door.market()  # at once, so that only the end can have kept it
    async with process(*SMALL, "--keep", str(file)) as door:
        found = await door.market()
        await post(http, door, body(door, "REF-2", available_until=until_day))
        await until(lambda: _holds(file, "REF-2"))
        os.kill((await door.world())["pid"], signal.SIGKILL)
    async with process(*SMALL, "--keep", str(file)) as door:
        after = await door.market()
        await post(http, door, body(door, "REF-2", available_until=until_day, price=9800))
        edited, hours = await door.market(), (await door.world())["hours"]

    assert found["listings"] == stopped["listings"]
    assert [one["reference"] for one in after["listings"]] == ["REF-1", "REF-2"]
    assert [(one["price"], one["made"]) for one in edited["listings"]] == [(22_500, 1), (9800, 1)]
    assert (hours, edited["made_again"], edited["same_goods"]) == (7, {}, [])


async def test_a_last_line_that_is_not_whole_is_left_out(http: ClientSession, file: Path) -> None:
    async with begun(file) as door:
        await post(http, door, body(door))
        before = await door.market()
    with file.open("ab") as torn:
        torn.write(b'{"market":{"listings":{"9')
    async with begun(file) as door:
        after = await door.market()

    assert after == before
    assert text(file).endswith("}}\n")


async def test_a_file_that_was_taken_away_is_written_anew(http: ClientSession, file: Path) -> None:
    async with begun(file) as door:
        await post(http, door, body(door))
        await until(lambda: _holds(file, "REF-1"))
        before = await door.market()
        await asyncio.to_thread(file.unlink)
    async with begun(file) as door:
        assert await door.market() == before


async def test_a_folder_that_is_away_for_a_while_costs_nothing(http: ClientSession, tmp_path: Path) -> None:
    file = tmp_path / "folder" / "kept"
    await asyncio.to_thread(file.parent.mkdir)
    async with begun(file) as door:
        await asyncio.to_thread(shutil.rmtree, file.parent)
        await post(http, door, body(door))
        await until(lambda: _is_broken(door))
        before, broken = (await door.market())["listings"], (await door.market())["broken"]
        await asyncio.to_thread(file.parent.mkdir)
    async with begun(file) as door:
        after = (await door.market())["listings"]

    hint = "name a file with --keep that can be written"
    assert set(broken) == {f"cannot keep the sandbox in {file}: No such file or directory ({hint})"}
    assert (after, len(after)) == (before, 1)


async def test_who_ends_with_its_starter_keeps_the_last_too(file: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "bobusang.sandbox", "--tied", *SMALL, "--keep", str(file)]
    found = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert found.stdout is not None
    assert found.stdin is not None
    url = json.loads(await found.stdout.readline())["url"]
    async with ClientSession() as http, http.post(f"{url}/admin/advance", json={"hours": 9}):
        found.stdin.close()
        code = await found.wait()
    async with begun(file) as door:
        hours = (await door.world())["hours"]

    assert (code, hours) == (0, 9)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (
            '{"sandbox":1,"seed":6,"size":300,"brands":28}',
            "is of seed 6, size 300 and 28 brands, not of seed 5, size 300 and 28 brands (start with --seed 6",
        ),
        (
            '{"sandbox":0,"seed":5,"size":300,"brands":28}',
            "was written by a sandbox of another version (name another file with --keep, or move this one away)",
        ),
        ("<html>", "line 1: not what a sandbox keeps (JSON is malformed: invalid character (byte 0))"),
        ('{"sandbox":1,"seed":5,"size":300,"brands":28}\n{"market":1}', "line 2: not what a sandbox keeps (Expected"),
    ],
)
async def test_a_file_of_something_else_is_refused_and_stays_as_it_is(file: Path, head: str, why: str) -> None:
    await asyncio.to_thread(file.write_text, f"{head}\n", "utf-8")

    with pytest.raises(Invalid) as refused:
        async with begun(file):
            pass

    assert why in str(refused.value)
    assert text(file) == f"{head}\n"


async def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"cannot keep the sandbox in .*/nowhere/file: No such file or directory"):
        async with Sandbox(World(5, 300), keep=tmp_path / "nowhere" / "file"):
            pass


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for it, and no longer than it takes."""
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110  (a file rings for nobody)
            await asyncio.sleep(0.02)


def text(file: Path) -> str:
    return file.read_text("utf-8")


async def _holds(file: Path, reference: str) -> bool:
    return reference in await asyncio.to_thread(text, file)


async def _is_broken(door: Door) -> bool:
    return bool((await door.market())["broken"])


async def _counts(door: Door, webhooks: dict[str, int]) -> bool:
    return bool((await door.market())["webhooks"] == webhooks)
