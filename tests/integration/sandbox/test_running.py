"""The sandbox as a process, its admin doors, and its command."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Unavailable
from bobusang.sandbox.server import Sandbox
from bobusang.sandbox.world import World
from bobusang.testing.sandbox import process

if TYPE_CHECKING:
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

    assert {name: sum(brands.values()) for name, brands in world["malls"].items()} == {"okmall": 300, "mustit": 300}
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
    program = "import sys; from bobusang.entry.cli import main; sys.exit(main())"
    line = ["sandbox", "--port", "0", "--size", "60", "--seed", "9", "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as found:
        assert found.stdout is not None
        ready = json.loads(found.stdout.readline())
        found.send_signal(signal.SIGINT)
        code = found.wait(30)

    assert (ready["pid"], ready["seed"], ready["size"], code) == (found.pid, 9, 60, 0)
