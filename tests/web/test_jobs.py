"""Jobs and tasks: the list and what can be done to many, one job, its tasks, one task with its attempts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.engine.model import ReasonClass, StepType
from bobusang.engine.outcome import Park, Retry, Snooze
from bobusang.entry.web import waits
from bobusang.testing.workshop import Workshop, step
from bobusang.views import jobs as view
from bobusang.views.jobs import JobFilter
from tests.web.counting import statements

if TYPE_CHECKING:
    from tests.web.screen import Page, Screen

STEP = step("parse", handler="demo.parse", type=StepType.PARSE, max_retries=3)
BROKEN = Park(ReasonClass.INVALID, "/1 breaks off after 5 characters")


@pytest.fixture
def shop_floor(screen: Screen) -> Workshop:
    """The engine's wheels behind the screen, turned by hand."""
    return Workshop(screen.app.engine)


async def made(shop: Workshop, *keys: str, name: str = "pages") -> int:
    """A job that waits for a worker."""
    return await shop.job(await shop.workflow(STEP, workflow=name), *(keys or ("a",)))


async def failed(shop: Workshop, *keys: str, name: str = "pages") -> int:
    """A job whose tasks are all dead letters."""
    job = await made(shop, *keys, name=name)
    await shop.drain(BROKEN, handler="demo.parse")
    return job


async def task_of(shop: Workshop, job: int) -> int:
    return int(await shop.value("select min(id) as value from tasks where job_id = :id", id=job))


def ids(page: Page) -> list[str]:
    return page.texts("tbody th")


async def test_jobs_are_listed_with_how_far_they_are_and_filters_are_remembered(
    screen: Screen, shop_floor: Workshop
) -> None:
    dead = await failed(shop_floor, "a", "b")

    page = await screen.viewer.get("/jobs")
    only = await screen.viewer.get("/jobs", status="FAILED")
    again = await screen.viewer.get("/jobs")

    assert page.texts("thead th") == [
        *("Job", "Workflow", "Target", "Progress", "Why it waits", "Made", "Duration", "State", "Actions")
    ]
    assert len(ids(page)) == 21
    assert page.texts("tbody tr:first-child td")[1:4] == ["pages", "–", "2 / 2 · 2 failed"]
    assert ids(only) == ids(again) == [str(dead)]
    assert again.url == "https://shop.test/ui/jobs?status=FAILED"
    assert (await screen.viewer.get("/jobs", workflow="pages", clear="")).texts("tbody th") == [str(dead)]
    assert len(ids(await screen.viewer.get("/jobs", target="NIKE"))) == 2
    assert ids(await screen.viewer.get("/jobs", workflow="no such")) == []
    assert len(ids(await screen.viewer.get("/jobs", since="1d", columns="target"))) == 21


async def test_a_job_says_why_it_waits(screen: Screen, shop_floor: Workshop) -> None:
    first = await made(shop_floor)
    await screen.operator.post(f"/jobs/{first}/pause", on=f"/jobs/{first}")

    page = await screen.viewer.get("/jobs")
    one = await screen.viewer.get(f"/jobs/{first}")

    assert page.texts("tbody tr:first-child td.text") == ["it is paused"]
    assert one.text("#job-waits") == "What it waits for it is paused"
    assert one.texts("#job-head .pill") == ["running", "paused"]
    assert one.texts("#job-steps tbody th") == ["1. parse demo.parse"]


async def test_a_job_is_paused_resumed_cancelled_and_what_failed_runs_again(
    screen: Screen, shop_floor: Workshop
) -> None:
    job, dead = await made(shop_floor), 0
    path = f"/jobs/{job}"

    page = await screen.operator.post(f"{path}/pause", on=path)
    assert (page.text(".said"), page.url) == (f"Job {job} is paused.", f"https://shop.test/ui{path}")
    assert (await screen.operator.post(f"{path}/resume", on=path)).text(".said") == f"Job {job} goes on."
    assert (await screen.operator.post(f"{path}/cancel", on=path)).text(".said") == f"Job {job} was cancelled."
    page = await screen.operator.post(f"{path}/cancel", on=path)
    assert page.text(".said.refused") == f"job {job} is over: CANCELLED"

    dead = await failed(shop_floor, "a", "b", name="others")
    page = await screen.operator.get(f"/jobs/{dead}")
    assert page.texts(".figure strong") == ["100%", "0", "2", "0"]
    assert page.texts("#job-faults tbody td")[:2] == ["2", "/1 breaks off after 5 characters"]
    page = await screen.operator.post(f"/jobs/{dead}/retry", on=f"/jobs/{dead}")
    assert page.text(".said") == f"2 tasks of job {dead} run again."
    page = await screen.operator.post(f"/jobs/{dead}/retry", on=f"/jobs/{dead}")
    assert page.text(".said.refused") == f"Nothing of job {dead} has failed."


async def test_many_are_shown_before_they_are_changed(screen: Screen, shop_floor: Workshop) -> None:
    over = await failed(shop_floor, name="over")
    mine = [await made(shop_floor, name=name) for name in ("one", "two", "three")]

    asked = await screen.operator.post("/jobs/bulk/pause", on="/jobs", ids=[*mine, over])
    assert asked.text("h2") == "Pause these jobs?"
    assert asked.text("main p") == "3 of 4 lines would be changed."
    assert asked.texts("main li") == [
        f"#{job} · {name} · running" for job, name in zip(mine[::-1], ("three", "two", "one"), strict=True)
    ]
    carried = [one.attributes["value"] for one in asked.tree.css('main input[name="ids"]')]
    done = await screen.operator.post("/jobs/bulk/pause", on="/jobs", ids=carried, sure="1")
    assert done.text(".said") == "3 jobs: done."
    async with screen.app.engine.db.read() as tx:
        found = await view.listed(tx, JobFilter(ids=mine), None, 10)
    assert [job.is_paused for job in found] == [True, True, True]

    asked = await screen.operator.post("/jobs/bulk/cancel", on="/jobs", all="1", workflow="two")
    assert asked.text("main p") == "1 of 1 lines would be changed."
    done = await screen.operator.post("/jobs/bulk/cancel", on="/jobs", all="1", workflow="two", sure="1")
    assert done.text(".said") == "1 jobs: done."
    none = await screen.operator.post("/jobs/bulk/cancel", on="/jobs")
    assert none.text(".said.refused") == "No line is ticked."


async def test_the_tasks_of_a_job_by_step_and_state(screen: Screen, shop_floor: Workshop) -> None:
    job = await made(shop_floor, "a", "b", "c")
    await shop_floor.finish(await shop_floor.claimed(1, handler="demo.parse"), BROKEN)
    await shop_floor.finish(await shop_floor.claimed(1, handler="demo.parse"), Retry("503", after=timedelta(hours=1)))
    path = f"/jobs/{job}/tasks"

    page = await screen.viewer.get(path)
    dead = await screen.viewer.get(path, state="PARKED", step="parse")
    bad = await screen.viewer.get(path, state="FAILED")
    none = await screen.viewer.get(path, state="SKIPPED")

    assert page.texts("tbody td:nth-child(4)") == ["waiting", "trying again", "dead letter"]
    assert page.texts("tbody td:nth-child(3)") == ["c", "b", "a"]
    assert page.texts("tbody td:nth-child(5)")[0] == "no worker is running" or "turn" in page.text(
        "tbody td:nth-child(5)"
    )
    assert dead.texts("tbody td:nth-child(3)") == bad.texts("tbody td:nth-child(3)") == ["a"]
    assert none.text(".empty p") == "No task is like this."
    brand = await screen.viewer.get("/jobs/1/tasks", step="register", state="DONE")
    assert set(brand.texts("tbody td:nth-child(2)")) == {"register"}


async def test_a_task_shows_its_attempts_side_by_side_and_runs_when_told(screen: Screen, shop_floor: Workshop) -> None:
    job = await made(shop_floor)
    await shop_floor.finish(await shop_floor.claimed(handler="demo.parse"), Retry("503", after=timedelta(hours=1)))
    task = await task_of(shop_floor, job)
    path = f"/tasks/{task}"

    page = await screen.operator.get(path)
    assert page.text("h1") == f"Task {task}"
    assert page.texts("#attempts thead th") == ["Attempt", "1"]
    assert page.texts("#attempts tbody td")[:2] == ["failed, to be tried again", "no proper answer"]
    assert page.texts("#attempts tbody td")[-1] == "503"
    assert page.texts("#standing .pill") == ["delayed"]
    page = await screen.operator.post(f"{path}/run-now", on=path)
    assert page.text(".said") == f"Task {task} runs as soon as a worker is free."
    assert page.texts("#standing .pill") == ["ready"]
    refused = await screen.operator.post(f"{path}/run-now", on=path)
    assert (
        refused.text(".said.refused") == f"task {task} is not delayed (only what waits for its time can run before it)"
    )

    await shop_floor.finish(
        await shop_floor.claimed(handler="demo.parse"), Snooze(shop_floor.db.clock.now() + timedelta(hours=1), "429")
    )
    await screen.operator.post(f"{path}/run-now", on=path)
    await shop_floor.drain(BROKEN, handler="demo.parse")
    page = await screen.operator.get(path)
    assert page.texts("#attempts thead th") == ["Attempt", "1", "2", "3"]
    assert page.text(".error") == "/1 breaks off after 5 characters"
    page = await screen.operator.post(f"{path}/retry", on=path)
    assert page.text(".said") == f"Task {task} runs again."


async def test_a_task_leads_to_its_product_and_to_the_page_it_archived(screen: Screen, shop_floor: Workshop) -> None:
    row = await shop_floor.row(
        """select min(t.id) as id from tasks t join workflow_steps s on s.id = t.step_id
        where s.step_name = 'item' and t.output_data is not null"""
    )
    page = await screen.viewer.get(f"/tasks/{row['id']}")
    links = page.links("main .facts a")

    assert [link.rpartition("/")[0] for link in links] == ["/ui/jobs", "/ui/products", f"/ui/tasks/{row['id']}"]
    archived = await screen.viewer.get(f"/tasks/{row['id']}/page")
    assert archived.status == 200
    assert archived.texts(".facts dt") == ["Source", "Address", "Answer", "Kind", "Bytes", "Fetched"]
    assert "<" in archived.text("section:last-of-type pre") or "{" in archived.text("section:last-of-type pre")
    saved = await screen.viewer.client.get(f"/ui/tasks/{row['id']}/page/file")
    assert saved.headers["content-disposition"].startswith("attachment")


async def test_what_does_not_exist_is_said(screen: Screen) -> None:
    for path in ("/jobs/99999999", "/jobs/99999999/tasks", "/tasks/99999999", f"/jobs/{2**64}", "/tasks/1/page"):
        assert (await screen.viewer.get(path)).status == 404, path
    assert (await screen.viewer.get("/jobs/bulk/pause")).url == "https://shop.test/ui/jobs"


async def test_pages_take_few_statements(screen: Screen, shop_floor: Workshop) -> None:
    job = await made(shop_floor, "a", "b", "c")
    await shop_floor.finish(await shop_floor.claimed(1, handler="demo.parse"), BROKEN)
    await shop_floor.finish(await shop_floor.claimed(1, handler="demo.parse"), Retry("503", after=timedelta(hours=1)))
    task = await task_of(shop_floor, job)
    await screen.viewer.get("/jobs")

    taken = {}
    for path in (
        "/jobs",
        "/jobs?status=RUNNING",
        f"/jobs/{job}",
        f"/jobs/{job}/tasks",
        f"/tasks/{task}",
        "/jobs/1",
        "/tasks/1",
    ):
        with statements(screen) as count:
            assert (await screen.viewer.get(path)).status == 200
        taken[path] = count()

    assert {path: number for path, number in taken.items() if number > 8} == {}


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("it is paused: 403 on every page", "it is paused: %(why)s"),
        ("it is scheduled for 2099-01-01 00:00:00Z", "its time comes at %(at)s"),
        ("job 7 has not ended: it is RUNNING", "job %(job)s has to end first"),
        (
            "its workflow runs 2 jobs of at most 2",
            "its workflow runs %(running)s jobs already, at most %(most)s are allowed",
        ),
        ("ready, but no worker is running", "no worker is running"),
        ("waits for 'order 7', at the latest 2099-01-01 00:00:00Z", "it waits for %(key)s, at the latest until %(at)s"),
        ("delayed until 2099-01-01 00:00:00Z: 429 Too Many Requests", "the next try is at %(at)s: %(why)s"),
        ("claimed by worker 3 (일꾼 1) since 2099-01-01 00:00:00Z", "worker %(worker)s is at it since %(at)s"),
        ("pool okmall has 1 of 1 in flight", "pool %(pool)s has %(used)s of %(most)s at work"),
        ("something new", ""),
    ],
)
def test_what_views_say_is_known_by_its_form(said: str, label: str) -> None:
    assert waits.of(said).label == label
