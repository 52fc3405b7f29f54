"""Runs the demo: its site, a worker and upkeep in this process, and the API to start and watch the job with."""

from __future__ import annotations

import asyncio
import shlex
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import typer

from bobusang.entry.api import create_app
from bobusang.entry.cli.client import answer
from bobusang.entry.cli.failure import Exit, Failure
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

HOME = "bobusang-demo"
STEPS = "name step_type created succeeded failed retried"


def shown(session: Session, pages: int) -> None:
    """Run it, and say what came of it; Ctrl-C leaves the job where it is."""
    home = session.options.home or HOME
    found = settings(Options(home=home), database_url="")
    quietly(found)
    prepare(found)
    site = Site(pages)
    try:
        job, letters, seconds = asyncio.run(_run(session, found, site))
    except KeyboardInterrupt:
        again = f"`bobusang demo --home {shlex.quote(home)}`"
        session.note("\nstopped; nothing is lost: {command} goes on with it", command=again)
        raise typer.Exit(Exit.INTERRUPTED) from None
    _tell(session, home, job, letters, seconds)
    wrong = list(differences(site, job, letters))
    if wrong:
        raise Failure("failed", "the demo did not end as designed: " + "; ".join(wrong))


async def _run(session: Session, found: Settings, site: Site) -> tuple[dict[str, Any], list[dict[str, Any]], float]:
    async with opened(found) as app, _calling(app) as call:
        async with serving(site, await _port_before(call)), _working(app):
            await call("POST", "/workflows", content=demo.definition(), headers={"content-type": "application/yaml"})
            session.note(
                "fetching {pages} pages from {base} by workflow 'demo' in {home}",
                pages=site.pages,
                base=site.base,
                home=found.home,
            )
            begun = time.monotonic()
            made = await call("POST", "/jobs", json={"workflow": "demo", "input": {"base": site.base}})
            job = await _watched(session, call, made["id"])
            seconds = time.monotonic() - begun
        letters = await call("GET", "/dead-letters", params={"job": job["id"]})
        return job, letters["items"], seconds


async def _port_before(call: Any) -> int:
    """The port of the job before: if it was interrupted, its tasks find their pages again."""
    with suppress(Failure):
        jobs = await call("GET", "/jobs", params={"workflow": "demo", "limit": 1})
        for line in jobs["items"]:
            job = await call("GET", f"/jobs/{line['id']}")
            return urlsplit(job["input"]["base"]).port or 0
    return 0


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


def _tell(session: Session, home: str, job: dict[str, Any], letters: list[dict[str, Any]], seconds: float) -> None:
    tasks = sum(ended_of(step) for step in job["steps"])
    summary = {
        "job": job["id"],
        "status": job["status"],
        "tasks": tasks,
        "seconds": round(seconds, 2),
        "tasks_per_second": round(tasks / seconds),
        "retries": job["retry_count"],
        "dead_letters": [
            {"task_id": one["task_id"], "reason_class": one["reason_class"], "error": one["error"]} for one in letters
        ],
        "steps": job["steps"],
        "next": _commands(home, job, letters),
    }
    if not session.screen.reads_well:
        session.screen.record(summary)
        return
    _line(session, "")
    session.screen.table(job["steps"], STEPS)
    _line(session, "\njob {id} ended with {status}: {tasks} tasks in {seconds} s, {rate} tasks/s, {retries} retries",
          id=job["id"], status=job["status"], tasks=f"{tasks:,}", seconds=f"{seconds:.1f}",
          rate=f"{tasks / seconds:,.0f}", retries=job["retry_count"])  # fmt: skip
    for one in letters:
        _line(session, "dead letter: task {id}, {reason}: {error}",
              id=one["task_id"], reason=one["reason_class"], error=one["error"])  # fmt: skip
    _line(session, "\nTry next:")
    for line in summary["next"]:
        _line(session, "  " + line)


def _line(session: Session, text: str, **values: Any) -> None:
    session.screen.done(None, text, **values)


def _commands(home: str, job: dict[str, Any], letters: list[dict[str, Any]]) -> list[str]:
    """Three commands that work as they are printed."""
    at = f"--home {shlex.quote(home)}"
    look = f"bobusang dlq show {letters[0]['task_id']} {at}" if letters else f"bobusang dlq list {at}"
    return [f"bobusang job show {job['id']} {at}", look, f"bobusang up {at}"]


def differences(site: Site, job: dict[str, Any], letters: list[dict[str, Any]]) -> list[str]:
    """In what a run differs from what the site makes happen."""
    whole = site.pages - site.broken
    wanted = {"fetch": site.pages + 1, "parse": whole, "count": whole, "store": whole, "report": 1}
    wrong = [] if job["status"] == "SUCCESS" else [f"the job ended with {job['status']}"]
    wrong += [
        f"step {step['name']}: {step['succeeded']} of {wanted[step['name']]} succeeded"
        for step in job["steps"]
        if step["succeeded"] != wanted[step["name"]]
    ]
    if site.weary and not job["retry_count"]:
        wrong.append(f"no retries, although {site.weary} pages answered 503")
    if [one["reason_class"] for one in letters] != ["INVALID"] * site.broken:
        wrong.append(f"{len(letters)} dead letters instead of {site.broken}")
    return wrong
