"""The sandbox as a process, its admin doors, and its command."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Unavailable
from bobusang.sandbox.server import Sandbox
from bobusang.sandbox.world import FIRST_NO, World
from bobusang.testing.sandbox import process

if TYPE_CHECKING:
    from pathlib import Path

    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door


async def test_a_process_of_its_own_shows_the_same_world(door: Door) -> None:
    async with process("--seed", "5", "--size", "300", "--fault", "okmall:*:http_500:2") as other:
        world, faults = await other.world(), await other.faults()
        theirs = await other.truth("okmall", brand="NIKE")

    assert (world["seed"], world["size"], world["hours"], world["cpu_seconds"] > 0) == (5, 300, 0.0, True)
    assert [(one["mall"], one["kind"], one["count"]) for one in faults] == [("okmall", "http_500", 2)]
    assert theirs == await door.truth("okmall", brand="NIKE")


async def test_the_world_tells_its_products(door: Door) -> None:
    world = await door.world()

    assert {name: sum(brands.values()) for name, brands in world["malls"].items()} == dict.fromkeys(FIRST_NO, 300)
    assert sum(world["sellers"].values()) == 300


async def test_the_clock_is_advanced_and_everything_is_reset(http: ClientSession, door: Door) -> None:
    before = await door.truth("okmall", brand="NIKE")
    await door.fault("*", "*", "http_500")
    await door.drift(1)
    async with http.get(f"{door.okmall}/"):
        hours = await door.advance(500)
    later = await door.truth("okmall", brand="NIKE")
    await door.reset()

    assert hours == 500
    assert later["items"] != before["items"]
    assert await door.truth("okmall", brand="NIKE") == before
    assert (await door.faults(), await door.log(), (await door.world())["drifted"]) == ([], [], False)


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("advance", {"hours": -1}, 400, "cannot be advanced by -1 hours"),
        ("advance", {"days": 1}, 400, "unknown field `days`"),
        ("faults", {"kind": "nonsense"}, 400, "there is no fault 'nonsense'"),
        ("faults", {"kind": "reset", "mal": "okmall"}, 400, "unknown field `mal`"),
        ("override", {"mall": "okmall", "key": "1"}, 404, "okmall has no product 1"),
    ],
)
async def test_a_mistake_at_an_admin_door_is_named(
    http: ClientSession, door: Door, path: str, body: dict[str, object], status: int, message: str
) -> None:
    async with http.post(f"{door.url}/admin/{path}", json=body) as answer:
        told = await answer.json()

    assert answer.status == status
    assert message in told["error"]["message"]


async def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            async with Sandbox(World(1, 28), port=port):
                pass


def test_the_command_says_where_it_is_and_stops_at_ctrl_c() -> None:
    line = ["sandbox", "--port", "0", "--size", "60", "--seed", "9", "--json"]
    with commanded(*line) as found:
        assert found.stdout is not None
        ready = json.loads(found.stdout.readline())
        found.send_signal(signal.SIGINT)
        code = found.wait(30)

    assert (ready["pid"], ready["seed"], ready["size"], code) == (found.pid, 9, 60, 0)


def test_the_command_sets_the_market_and_says_how_a_shop_sells_there(tmp_path: Path) -> None:
    kept, hook = tmp_path / "kept", "http://127.0.0.1:9/webhooks/buyma/main"
    market = ["--webhook-url", hook, "--market-delay", "0.5", "--market-limits", "70", "0", "--keep", str(kept)]
    with commanded("sandbox", "--lang", "en", "--port", "0", "--size", "60", *market) as found:
        assert found.stderr is not None
        said = [found.stderr.readline().rstrip("\n") for _ in range(16)]
        url = said[0].partition(": ")[2]
        with urllib.request.urlopen(f"{url}/admin/market/behaviour", timeout=30) as answer:
            behaviour = json.load(answer)
        found.send_signal(signal.SIGTERM)
        code = found.wait(30)

    assert said[3:11] == [
        f"  malls     {url}/wconcept/display/  {url}/musinsa/",
        f"  shops     {url}/cafe24/product/list.html?cate_no=24  {url}/shopify/",
        f"  suppliers {url}/ownerclan/v1/graphql  {url}/domeggook/ssl/api/; name, password and key are sandbox",
        f"  others    {url}/news/list  {url}/feed/items.json  {url}/plain/list",
        f"  BUYMA     {url}/buyma/api/v1/products.json; what it lists is in {url}/admin/market",
        f"  a shop    BOBUSANG_SANDBOX_URL={url} bobusang up",
        "  secrets   an account's are sandbox:token (--token-ref) and sandbox:secret (--secret-ref)",
        f"  webhooks  go to {hook}",
    ]
    assert said[14:] == [f"  kept in   {kept}", "Ctrl-C stops it."]
    assert [behaviour[name] for name in ("delay", "hour_limit", "day_limit")] == [0.5, 70, 0]
    assert (code, hook in kept.read_text("utf-8")) == (0, True)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["--market-limits", "5000", "-1"], "a limit is a number of calls"),
        (["--seed", "2", "--size", "60"], "is of seed 1, size 60 and 28 brands, not of seed 2, size 60 and 28 brands"),
    ],
)
def test_the_command_names_what_is_wrong(tmp_path: Path, line: list[str], why: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text('{"sandbox":1,"seed":1,"size":60,"brands":28}\n', "utf-8")
    with commanded("sandbox", "--lang", "en", "--port", "0", "--keep", str(kept), *line) as found:
        _, said = found.communicate(timeout=30)

    assert found.returncode != 0
    assert (why in said, "Traceback" in said) == (True, False)


def commanded(*line: str) -> subprocess.Popen[str]:
    program = "import sys; from bobusang.entry.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *line]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
