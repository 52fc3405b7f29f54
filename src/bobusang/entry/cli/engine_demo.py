"""Runs the engine's demo: its site, a worker and upkeep in this process, and the API to start and watch a job with."""

from __future__ import annotations

import asyncio
import shlex
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import typer

from bobusang.entry.api import create_app
from bobusang.entry.cli.client import answer
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.main_job import us
from bobusang.entry.cli.options import Options
from bobusang.entry.cli.pages import Site, serving
from bobusang.entry.cli.place import prepare, quietly, settings
from bobusang.entry.cli.watching import ENDED, LOOK_SECONDS, belt, ended_of
from bobusang.entry.worker import Part
from bobusang.flows import demo
from bobusang.wiring import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.entry.cli.session import Session
    from bobusang.settings import Settings
    from bobusang.wiring import App

HOME = "bobusang-engine-demo"
STEPS = "name step_type created succeeded failed retried"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    site: Site
    job: dict[str, Any]
    letters: list[dict[str, Any]]
    tasks: int
    """How many tasks ended in this run; fewer than the job has, if it went on with an interrupted one."""
    seconds: float


def shown(session: Session, pages: int) -> None:
    """Run it, and say what came of it; Ctrl-C leaves the job where it is."""
    home = session.options.home or HOME
    found = settings(Options(home=home), database_url="")
    quietly(found)
    prepare(found)
    try:
        ran = asyncio.run(_run(session, found, pages))
    except KeyboardInterrupt:
        again = f"`bobusang demo --engine --home {shlex.quote(home)}`"
        session.note("\nstopped; nothing is lost: {command} goes on with it", command=again)
        raise typer.Exit(Exit.INTERRUPTED) from None
    _tell(session, home, ran)
    if wrong := differences(ran):
        raise Failure("failed", "the demo did not end as designed: " + "; ".join(wrong))


async def _run(session: Session, found: Settings, pages: int) -> Ran:
    async with opened(found) as app, _calling(app) as call:
        await call("POST", "/workflows", content=demo.definition(), headers={"content-type": "application/yaml"})
        job = await _last(call)
        goes_on = job is not None and job["status"] not in ENDED
        site = Site(job["input"].get("pages", pages) if job is not None and goes_on else pages)
        port = 0 if job is None else urlsplit(job["input"]["base"]).port or 0
        async with serving(site, port), _working(app):
            begun, before = time.monotonic(), 0
            if job is not None and goes_on:
                before = _ended(job)
                session.note("going on with job {id}, which was interrupted", id=job["id"])
            else:
                job = await _started(session, call, site, found)
            job = await _watched(session, call, job["id"])
            seconds = time.monotonic() - begun
        letters = await call("GET", "/dead-letters", params={"job": job["id"]})
        return Ran(site, job, letters["items"], _ended(job) - before, seconds)


async def _last(call: Any) -> dict[str, Any] | None:
    """The newest job of the demo in this folder."""
    for line in (await call("GET", "/jobs", params={"workflow": "demo", "limit": 1}))["items"]:
        found: dict[str, Any] = await call("GET", f"/jobs/{line['id']}")
        return found
    return None


async def _started(session: Session, call: Any, site: Site, found: Settings) -> dict[str, Any]:
    session.note(
        "fetching {pages} pages from {base} by workflow 'demo' in {home}",
        pages=site.pages,
        base=site.base,
        home=found.home,
    )
    body = {"workflow": "demo", "input": {"base": site.base, "pages": site.pages}}
    made: dict[str, Any] = await call("POST", "/jobs", json=body)
    return made


def _ended(job: dict[str, Any]) -> int:
    return sum(ended_of(step) for step in job["steps"])


async def _watched(session: Session, call: Any, job_id: int) -> dict[str, Any]:
    with belt(session.screen) as bars:
        while True:
            job: dict[str, Any] = await call("GET", f"/jobs/{job_id}")
            bars.show(job)
            if job["status"] in ENDED:
                return job
            await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def _calling(app: App) -> AsyncIterator[Any]:
    transport = httpx.ASGITransport(app=create_app(app, local=True), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:

        async def call(method: str, path: str, **arguments: Any) -> Any:
            return answer(await client.request(method, path, **arguments))

        yield call


@asynccontextmanager
async def _working(app: App) -> AsyncIterator[None]:
    parts = [Part("worker", lambda: app.worker("demo")), Part("upkeep", app.keeper)]
    for part in parts:
        part.start()
    try:
        yield
        for part in parts:
            await part.stop()
    finally:
        for part in parts:
            await part.leave()


def _tell(session: Session, home: str, ran: Ran) -> None:
    job, rate = ran.job, ran.tasks / ran.seconds
    letters = [{name: one[name] for name in ("task_id", "reason_class", "error")} for one in ran.letters]
    summary = {
        "job": job["id"],
        "status": job["status"],
        "tasks": ran.tasks,
        "seconds": round(ran.seconds, 2),
        "tasks_per_second": round(rate),
        "retries": job["retry_count"],
        "dead_letters": letters,
        "steps": job["steps"],
        "next": _commands(home, job, letters),
    }
    if not session.screen.reads_well:
        session.screen.record(summary)
        return
    _line(session, "")
    session.screen.table(job["steps"], STEPS)
    figures = {"tasks": f"{ran.tasks:,}", "seconds": f"{ran.seconds:.1f}", "rate": f"{rate:,.0f}"}
    _line(
        session,
        "\njob {id} ended with {status}: {tasks} tasks in {seconds} s, {rate} tasks/s, {retries} retries",
        **figures,
        id=job["id"],
        status=job["status"],
        retries=job["retry_count"],
    )
    for one in letters:
        _line(session, "dead letter: task {task_id}, {reason_class}: {error}", **one)
    _line(session, "\nTry next:")
    for line in summary["next"]:
        _line(session, "  " + line)


def _line(session: Session, text: str, **values: Any) -> None:
    session.screen.done(None, text, **values)


def _commands(home: str, job: dict[str, Any], letters: list[dict[str, Any]]) -> list[str]:
    """Three commands that work as they are printed."""
    at = f"--home {shlex.quote(home)}"
    called = us()
    look = f"{called} dlq show {letters[0]['task_id']} {at}" if letters else f"{called} dlq list {at}"
    return [f"{called} job show {job['id']} {at}", look, f"{called} up {at}"]


def differences(ran: Ran) -> list[str]:
    """In what a run differs from what the site makes happen."""
    site, job = ran.site, ran.job
    whole = site.pages - site.broken
    wanted = {"fetch": site.pages + 1, "parse": whole, "count": whole, "store": whole, "report": 1}
    wrong = [] if job["status"] == "SUCCESS" else [f"the job ended with {job['status']}"]
    wrong += [
        f"step {step['name']}: {step['succeeded']} of {wanted[step['name']]} succeeded"
        for step in job["steps"]
        if step["succeeded"] != wanted[step["name"]]
    ]
    if [one["reason_class"] for one in ran.letters] != ["INVALID"] * site.broken:
        wrong.append(f"{len(ran.letters)} dead letters instead of {site.broken}")
    return wrong
