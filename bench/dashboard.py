"""The screen: what pages weigh in a browser beside Prefect's and Airflow's, what they cost the server, how they bear
five hundred who look at once, and a million products."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httpx
import psutil
from selectolax.lexbor import LexborHTMLParser

from bench import crowding
from bench.browsing import Sight, costs
from bench.onlookers import Onlookers
from bench.peers import dashboards
from bench.report import Line, at_most
from bobusang.kit import json, log
from bobusang.kit.db import connect
from tests.e2e.program import patiently, up
from tests.servers.server import ROOT
from tests.web import addresses, shop
from tests.web import screen as screens
from tests.web.coming_in import signed_in
from tests.web.counting import statements
from tests.web.screen import COOKIE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.e2e.program import Up
    from tests.web.screen import Screen

VISITS = {"quick": 5, "full": 11}
ROUNDS = {"quick": 40, "full": 200}
ONLOOKERS = {"quick": 500, "full": 500}
LOOKING_SECONDS = {"quick": 20.0, "full": 60.0}
MANY = {"quick": (100_000, 20_000), "full": (1_000_000, 100_000)}
FEW = (1_000, 500)
MOST_GROWTH = 1.5
TRIES = 3
"""Of a page that seems to grow: what other work on the machine did to its p95 does not come back, growth does."""
WARMING = 3
"""Visits that are not counted: templates are compiled by the first."""
DEMO_SIZE = "1000"
KILOBYTE, MEGABYTE = 1e3, 1e6
PATIENCE = 900.0
READY = """() => document.querySelectorAll(".belt tbody tr").length > 0 && document.querySelector("canvas")
    && document.getElementById("live")?.classList.contains("live")"""


def run(size: str) -> Iterator[Line]:
    with TemporaryDirectory(prefix="bobusang-bench-") as folder, Path(os.devnull).open("w") as nowhere:
        log.configure(format="json", stream=nowhere)  # a line a request is part of it
        home = made(Path(folder))
        yield from in_a_browser(home, Path(folder), VISITS[size])
        yield from asyncio.run(pages(shop.copied(home, Path(folder) / "asked"), ROUNDS[size]))
        yield from crowded(home, Path(folder), MANY[size], ROUNDS[size])
        yield from looked_at(Path(folder), ONLOOKERS[size], LOOKING_SECONDS[size])


def made(folder: Path) -> Path:
    """The demo's shop after its runs."""
    done = patiently(PATIENCE, "demo", "--size", "220", "--home", shop.HOME, "--quiet", cwd=folder)
    if done.code:
        raise RuntimeError(f"the demo failed: {done.err}")
    return folder / shop.HOME


def in_a_browser(
    home: Path, folder: Path, visits: int, peers: Sequence[dashboards.Dashboard] = dashboards.ALL
) -> Iterator[Line]:
    """The first visit of the overview, and of the front pages of others, in the same browser and in turn."""
    with ExitStack() as stack:
        running = stack.enter_context(_up(home, folder / "browsed"))
        ours = Sight("ours", f"{running.url}/ui/", READY, signed_in(running)["admin"])
        sights = [ours]
        for one in peers:
            place = folder / one.package
            place.mkdir()
            sights.append(Sight(one.name, stack.enter_context(dashboards.running(one, place)), one.ready))
        found = costs(sights, visits)
    mine = found.pop("ours")
    yield at_most("overview, first visit: on the wire", mine.bytes / KILOBYTE, 80, "kB")
    yield at_most("overview, first visit: requests", mine.requests, 12, "")
    yield at_most(
        "overview, first visit: until rows, chart and live channel are there", mine.interactive / 1000, 1, "s"
    )
    yield Line("overview: heap of scripts", f"{mine.heap / MEGABYTE:.1f} MB")
    for name, cost in found.items():
        yield Line(
            f"{name}, first visit of its front page, empty",
            f"{cost.bytes / KILOBYTE:,.0f} kB, {cost.requests:.0f} requests, {cost.interactive / 1000:.2f} s, "
            f"heap {cost.heap / MEGABYTE:.1f} MB",
        )


async def pages(home: Path, rounds: int) -> list[Line]:
    """CPU of the process and statements a page, one page after another, without a network."""
    lines: list[Line] = []
    async with screens.opened(home) as screen:
        taken = {}
        for path, address in (await _walked(screen)).items():
            with statements(screen) as count:
                await screen.admin.get(address)
                asked = count()
            taken[path] = median([await _cpu(screen, address) for _ in range(rounds)]) * 1000, asked
    for path, (cpu, asked) in sorted(taken.items(), key=lambda one: -one[1][0]):
        ok = cpu <= 10 and asked <= 8
        lines.append(Line(f"{path}: CPU p50, statements", f"{cpu:.1f} ms, {asked}", "≤ 10 ms, ≤ 8", ok))
    return lines


def crowded(home: Path, folder: Path, many: tuple[int, int], rounds: int) -> Iterator[Line]:
    """Each page over few products and over many, in turn."""
    places = {}
    for name, wanted in (("few", FEW), ("many", many)):
        places[name] = shop.copied(home, folder / name)
        begun = time.perf_counter()
        found = asyncio.run(_crowded(places[name], wanted))
        took = time.perf_counter() - begun
        yield Line(f"{found[0]:,} products, {found[1]:,} listings", f"copied in {took:.0f} s")
    yield from asyncio.run(_compared(places["few"], places["many"], rounds))


async def _crowded(home: Path, wanted: tuple[int, int]) -> tuple[int, int]:
    db = await connect(f"sqlite:///{home / 'bobusang.db'}")
    try:
        return await crowding.crowd(db, *wanted)
    finally:
        await db.close()


async def _compared(few: Path, many: Path, rounds: int) -> list[Line]:
    lines = []
    async with screens.opened(few) as small, screens.opened(many) as large:
        for path, address in (await _walked(small)).items():
            tries: list[tuple[float, float]] = []
            while len(tries) < TRIES and not (tries and _grows(tries[-1]) <= MOST_GROWTH):
                tries.append(await _waits((small, large), address, rounds))
            p95 = min(tries, key=_grows)
            value = f"{p95[1]:.1f} ms for {p95[0]:.1f} ({_grows(p95):.2f}×)"
            ok = _grows(p95) <= MOST_GROWTH
            lines.append(Line(f"{path}: p95 with many for p95 with few", value, f"≤ {MOST_GROWTH}×", ok))
    return lines


async def _waits(screens_: tuple[Screen, Screen], address: str, rounds: int) -> tuple[float, float]:
    """The p95 of a page, in milliseconds, over few and over many."""
    waits: tuple[list[float], list[float]] = ([], [])
    for screen in screens_:
        for _ in range(WARMING):
            await _asked(screen, address)
    for _ in range(rounds):
        for screen, taken in zip(screens_, waits, strict=True):
            begun = time.perf_counter()
            await _asked(screen, address)
            taken.append(time.perf_counter() - begun)
    few, many = (quantiles(taken, n=20)[18] * 1000 for taken in waits)
    return few, many


def _grows(p95: tuple[float, float]) -> float:
    return p95[1] / p95[0]


def looked_at(folder: Path, count: int, seconds: float) -> Iterator[Line]:
    """The overview while a run moves: the screen in a process of its own, beside the one that works."""
    place = folder / "looked-at"
    place.mkdir()
    with up(place, BOBUSANG_HOME=shop.HOME, BOBUSANG_LOG_LEVEL="ERROR") as working:
        cookies = signed_in(working)
        _begin(working, str(cookies["admin"][0]["value"]))
        cookie = f"{COOKIE}={cookies['viewer'][0]['value']}"
        with _screen(place / shop.HOME) as (url, process):
            httpx.get(f"{url}/ui/", headers={"cookie": cookie}, timeout=60).raise_for_status()
            alone, _ = _spent(url, cookie, process, 1, seconds)
            weight = process.memory_info().rss
            cpu, peak = _spent(url, cookie, process, count, seconds)
    yield at_most(f"{count} who look at the overview of a run: memory", (peak - weight) / MEGABYTE, 40, "MB")
    yield at_most(f"{count} who look at the overview of a run: CPU", cpu * 100, 8, "% of a core")
    yield Line("one who looks at it: CPU", f"{alone * 100:.1f} % of a core")


def _spent(url: str, cookie: str, process: psutil.Process, count: int, seconds: float) -> tuple[float, int]:
    """CPU seconds a second, and the most memory, of who serves so many."""
    crowd = Onlookers(url, cookie, count)
    crowd.wait(PATIENCE)
    begun, at = sum(process.cpu_times()[:2]), time.perf_counter()
    crowd.look(seconds)
    spent = (sum(process.cpu_times()[:2]) - begun) / (time.perf_counter() - at)
    weight = process.memory_info().rss
    seen = crowd.end()
    if seen.lost or seen.messages < count:
        raise RuntimeError(f"the page did not move: {seen}")
    return spent, weight


def _begin(working: Up, token: str) -> None:
    """Load the demo as an admin does on the first page, and wait until its run moves."""
    with httpx.Client(base_url=working.url, headers={"cookie": f"{COOKIE}={token}"}, timeout=60) as client:
        found = LexborHTMLParser(client.get("/ui/start").text).css_first('input[name="csrf"]')
        assert found is not None
        answer = client.post("/ui/start/demo", data={"csrf": found.attributes["value"], "size": DEMO_SIZE})
        assert answer.headers["location"] == "/ui/start", answer.text
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if 'class="belt' in client.get("/ui/").text:
                    return
            except httpx.HTTPError:
                pass  # it is started anew
            time.sleep(0.5)  # a page is asked again: nobody rings
    raise RuntimeError("the demo does not move")


@contextmanager
def _screen(home: Path) -> Iterator[tuple[str, psutil.Process]]:
    argv = [sys.executable, "-m", "bench.screen_server", str(home), f"sqlite:///{home / 'bobusang.db'}"]
    server = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        yield told["url"], psutil.Process(told["pid"])
    finally:
        server.terminate()
        server.wait(30)


@contextmanager
def _up(home: Path, folder: Path) -> Iterator[Up]:
    folder.mkdir()
    shop.copied(home, folder)
    with up(folder, BOBUSANG_HOME=shop.HOME, BOBUSANG_LOG_LEVEL="ERROR") as running:
        yield running


async def _walked(screen: Screen) -> dict[str, str]:
    def get(path: str) -> Any:
        return screen.admin.client.get(f"/ui{path}", follow_redirects=True)

    found = (await addresses.found(get)).pages
    return {path: address for path, address in found.items() if address not in addresses.CHOSEN}


async def _cpu(screen: Screen, address: str) -> float:
    begun = time.process_time()
    await _asked(screen, address)
    return time.process_time() - begun


async def _asked(screen: Screen, address: str) -> None:
    """One page by the protocol itself, as a browser asks for it: what a client in this process takes does not count."""
    path, _, query = address.partition("?")
    headers = {
        "host": "shop.test",
        "cookie": f"{COOKIE}={screen.admin.client.cookies[COOKIE]}",
        "accept-encoding": "gzip",
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "https",
        "path": f"/ui{unquote(path)}",
        "raw_path": f"/ui{path}".encode(),
        "query_string": query.encode(),
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 443),
        "state": {},
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    said: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)

    await screen.api(scope, receive, send)
    if said[0]["status"] != 200:
        raise RuntimeError(f"{address}: {said[0]}")
