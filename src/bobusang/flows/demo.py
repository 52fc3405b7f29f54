"""The demo's flow: fetch pages, parse them, count their words, store the counts, and report when all are there."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine.handlers import Handler
from bobusang.engine.model import NewTask, ReasonClass
from bobusang.engine.outcome import Done, Outcome, Park, Retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from bobusang.engine.handlers import Handlers
    from bobusang.engine.model import Task

DEADLINE = timedelta(minutes=1)
ANSWER_SECONDS = 10.0
MOST_COMMON = 3

LINK = re.compile(r'<a href="(/pages/(\d+))">')
TITLE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
BODY = re.compile(r"<p>(.*?)</p>", re.DOTALL)
END = "</html>"


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows").joinpath("demo.yaml").read_text("utf-8")


def register(handlers: Handlers) -> None:
    """Add the demo's handlers, through the same door as a stranger's package would."""
    handlers.add(Handler("demo.fetch", fetch, batch=50, deadline=DEADLINE, required=frozenset({"base"})))
    handlers.add(Handler("demo.parse", parse, deadline=DEADLINE, required=frozenset({"page", "html"})))
    handlers.add(Handler("demo.count", count, deadline=DEADLINE, required=frozenset({"page", "title", "text"})))
    handlers.add(Handler("demo.store", store, deadline=DEADLINE, required=frozenset({"page", "title", "words"})))
    handlers.add(Handler("demo.report", report, deadline=DEADLINE, required=frozenset({"pages"})))


async def fetch(batch: Sequence[Task]) -> list[Outcome]:
    """Get the index, which names the pages, or a page; the whole batch at once."""
    import httpx

    # The pages come over plain HTTP from this machine: reading the authorities of TLS would cost more than fetching.
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False, verify=False) as client:  # noqa: S501
        return list(await asyncio.gather(*(_fetched(client, task) for task in batch)))


async def _fetched(client: httpx.AsyncClient, task: Task) -> Outcome:
    import httpx

    base, path = task.input["base"], task.input.get("path", "/")
    try:
        response = await client.get(base + path)
    except httpx.HTTPError as error:
        return Retry(f"{base} does not answer ({type(error).__name__}): it is served while the demo runs")
    if response.status_code != 200:
        return Retry(f"{path} answered {response.status_code}")
    if path == "/":
        return Done(spawn=tuple(_page(base, path) for path, _ in LINK.findall(response.text)))
    return Done({"page": task.input["path"], "html": response.text})


def _page(base: str, path: str) -> NewTask:
    return NewTask({"base": base, "path": path}, key=path, url=base + path, step="fetch")


async def parse(batch: Sequence[Task]) -> list[Outcome]:
    """Take title and text out of a page."""
    return [_parsed(task.input["page"], task.input["html"]) for task in batch]


def _parsed(page: str, html: str) -> Outcome:
    title = TITLE.search(html)
    if title is None or END not in html:
        return Park(ReasonClass.INVALID, f"{page} breaks off after {len(html)} characters: {END} is missing")
    return Done({"page": page, "title": title[1], "text": " ".join(BODY.findall(html))})


async def count(batch: Sequence[Task]) -> list[Outcome]:
    """Count the words of a page."""
    return [_counted(task) for task in batch]


def _counted(task: Task) -> Outcome:
    words = Counter(re.findall(r"\w+", task.input["text"].lower()))
    common = dict(words.most_common(MOST_COMMON))
    return Done({"page": task.input["page"], "title": task.input["title"], "words": words.total(), "common": common})


async def store(batch: Sequence[Task]) -> list[Outcome]:
    """Keep the counts, as the task's own output: the demo has no tables."""
    return [Done(task.input, context={"last_page": task.input["page"]}) for task in batch]


async def report(batch: Sequence[Task]) -> list[Outcome]:
    """Say how many pages were counted."""
    return [Done({"counted": task.input["pages"]}) for task in batch]
