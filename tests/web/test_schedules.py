"""Schedules: the list in words, one of them, what can be done to it, and the form that shows what cron means."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import schedules
from bobusang.engine.model import JobStatus
from bobusang.views import schedules as view
from bobusang.views.schedules import ScheduleFilter

if TYPE_CHECKING:
    from bobusang.views.schedules import ScheduleLine
    from tests.web.screen import Screen

NAMES = ["conveyor partial", "conveyor full"]
HEAD = ["Choose", "Schedule", "When", "Next five runs", "Last twenty", "When missed, when still running", "State"]


@pytest.fixture
async def screen(screen: Screen) -> Screen:
    """The demo leaves its schedules paused; here the conveyor's are not, and there are no others."""
    for one in await stored(screen):
        if one.name not in NAMES:
            await screen.app.engine.db.transact(lambda tx, id=one.id: schedules.delete(tx, id))  # type: ignore[misc]
        elif not one.is_active:
            await screen.app.engine.db.transact(lambda tx, id=one.id: schedules.resume(tx, id))  # type: ignore[misc]
    return screen


async def stored(screen: Screen, **wanted: Any) -> list[ScheduleLine]:
    async with screen.app.engine.db.read() as tx:
        return await view.listed(tx, ScheduleFilter(**wanted), None, 10)


async def number(screen: Screen, name: str) -> int:
    return next(one.id for one in await stored(screen) if one.name == name)


async def test_schedules_are_told_in_words(screen: Screen) -> None:
    page = await screen.viewer.get("/schedules")

    assert page.texts("thead th") == [*HEAD, "Actions"]
    assert page.texts("tbody th > a") == NAMES
    assert page.texts("tbody td:nth-child(3) strong") == ["every hour on the hour", "every day at 03:00"]
    assert page.texts("tbody tr:first-child td:nth-child(6) small") == [
        "Of missed runs the latest is made up for",
        "While one runs, the next is left out",
    ]
    assert page.texts("tbody td:nth-child(7)") == ["active", "active"]


async def test_the_next_five_fires_are_in_the_visitors_zone(screen: Screen) -> None:
    id = await number(screen, "conveyor full")
    await screen.viewer.post("/me", zone="UTC")

    utc = await screen.viewer.get(f"/schedules/{id}")
    seoul = await screen.operator.get(f"/schedules/{id}")

    assert [text[-5:] for text in utc.texts("#schedule-next strong")] == ["18:00"] * 5
    assert [text[-5:] for text in seoul.texts("#schedule-next strong")] == ["03:00"] * 5
    assert utc.texts("#schedule-next p") == ["In your time zone, UTC."]


async def test_a_schedule_runs_now_and_its_result_becomes_a_bar(screen: Screen) -> None:
    id = await number(screen, "conveyor full")
    path = f"/schedules/{id}"

    page = await screen.operator.post(f"{path}/run", on=path)

    job = page.links("#schedule-last td a")[0].rpartition("/")[2]
    assert page.text(".said") == f"It runs now, as job {job}."
    assert page.texts("#schedule-last tbody td:nth-child(2)") == ["running"]
    bars = page.tree.css_first(".bars")
    assert bars is not None
    assert bars.attributes["aria-label"] == "Last 1 runs: 1 running"

    again = await screen.operator.post(f"{path}/run", on=path)
    why = "It was not started: a run of it is not over yet, or its workflow is switched off."
    assert again.text(".said.refused") == why
    assert again.texts("#schedule-last tbody td:nth-child(3)") == [
        "left out: the one before was still running",
        "started",
    ]


async def test_only_the_last_twenty_are_shown_the_oldest_on_the_left(screen: Screen) -> None:
    id = await number(screen, "conveyor full")
    from sqlalchemy import insert

    from bobusang.engine.tables import schedule_fires

    async def fired(tx: Any) -> None:
        for hours in range(25):
            values = {"schedule_id": id, "fire_at": tx.now - timedelta(hours=hours), "decision": "SKIP"}
            await tx.execute(insert(schedule_fires).values(**values, created_at=tx.now))

    await screen.app.engine.db.transact(fired)
    async with screen.app.engine.db.read() as tx:
        found = await view.last_fires(tx, [id, await number(screen, "conveyor partial")])
        one = await view.one(tx, id)

    assert found[id] == one.fires
    assert len(found[id]) == 20
    page = await screen.viewer.get("/schedules", q="full")
    assert len(page.tree.css(".bars i.idle")) == 20


async def test_a_schedule_is_paused_resumed_and_deleted(screen: Screen) -> None:
    id = await number(screen, "conveyor partial")
    path = f"/schedules/{id}"

    paused = await screen.operator.post(f"{path}/pause", on="/schedules")
    assert paused.text(".said") == "conveyor partial is paused."
    assert paused.texts("tbody td:nth-child(7)") == ["paused", "active"]
    assert (await screen.viewer.get(path)).text("#schedule-next p") == "It is paused: nothing is planned."

    resumed = await screen.operator.post(f"{path}/resume", on=path)
    assert resumed.text(".said") == "conveyor partial runs again from its next time on."
    refused = await screen.operator.post(f"{path}/resume", on=path)
    assert refused.text(".said.refused") == "schedule 'conveyor partial' is not paused"

    deleted = await screen.operator.post(f"{path}/delete", on=path)
    assert deleted.text(".said") == "The schedule was deleted; its jobs stay."
    assert deleted.texts("tbody th > a") == ["conveyor full"]


async def test_many_are_paused_after_they_were_shown(screen: Screen) -> None:
    asked = await screen.operator.post("/schedules/many/pause", on="/schedules", all="1")
    assert asked.text("h2") == "Pause these schedules?"
    assert asked.texts("main li") == ["conveyor partial · every hour on the hour", "conveyor full · every day at 03:00"]
    assert [one.is_active for one in await stored(screen)] == [True, True]

    done = await screen.operator.post("/schedules/many/pause", on="/schedules", all="1", sure="1")
    assert done.text(".said") == "2 were changed."
    assert [one.is_active for one in await stored(screen)] == [False, False]

    nothing = await screen.operator.post("/schedules/many/resume", on="/schedules")
    assert nothing.text(".said.refused").startswith("Nothing is ticked.")


async def test_what_cron_means_is_shown_before_it_is_saved(screen: Screen) -> None:
    form = {"name": "weekdays", "workflow": "conveyor-start", "cron": "0 9 * * 1-5", "timezone": "Asia/Seoul"}
    form |= {"schedule_type": "FIXED", "input": '{"mode": "PARTIAL"}'}

    shown = await screen.operator.post("/schedules/new", on="/schedules/new", do="preview", **form)
    assert shown.status == 200
    assert shown.text("#preview p strong") == "on weekdays at 09:00"
    assert len(shown.texts("#preview li")) == 5
    assert await stored(screen, text="weekdays") == []

    made = await screen.operator.post("/schedules/new", on="/schedules/new", do="save", **form)
    assert made.text(".said") == "weekdays was made."
    (found,) = await stored(screen, text="weekdays")
    assert (found.cron, found.timezone, found.words.ko) == ("0 9 * * 1-5", "Asia/Seoul", "평일 09:00")

    path = f"/schedules/{found.id}/edit"
    filled = await screen.operator.get(path)
    field = filled.tree.css_first('input[name="cron"]')
    assert field is not None
    assert field.attributes["value"] == "0 9 * * 1-5"
    changed = await screen.operator.post(path, on=path, do="save", **form | {"cron": "30 2 * * 0", "priority": "9"})
    assert changed.text("h2") == "every Sunday at 02:30"
    assert [(one.cron, one.priority) for one in await stored(screen, text="weekdays")] == [("30 2 * * 0", 9)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"cron": "0 25 * * *"}, "hour"),
        ({"timezone": "Mars/Phobos"}, "unknown zone"),
        ({"input": "{"}, "the input is no JSON"),
        ({"priority": "11"}, "priority"),
        ({"name": "conveyor full"}, "there is a schedule 'conveyor full' already"),
    ],
)
async def test_what_is_wrong_is_said_beside_what_was_typed(screen: Screen, wrong: dict[str, str], said: str) -> None:
    form = {"name": "mine", "workflow": "conveyor-start", "cron": "0 3 * * *", "timezone": "UTC", "input": "{}"}
    form |= {"schedule_type": "FIXED", **wrong}

    page = await screen.operator.post("/schedules/new", on="/schedules/new", do="save", **form)

    assert page.status == 422
    assert said in page.text(".said.refused")
    for name in ("name", "cron", "timezone"):
        field = page.tree.css_first(f'form.planner input[name="{name}"]')
        assert field is not None
        assert field.attributes["value"] == form[name]
    assert page.text("textarea") == form["input"]


def test_a_job_that_waits_is_no_skipped_one() -> None:
    from datetime import UTC, datetime

    from bobusang.engine.calendar.misfire import Decision
    from bobusang.entry.web.schedules import results
    from bobusang.views.schedules import Fire

    at = datetime(2026, 11, 16, tzinfo=UTC)
    fires = [
        Fire(fire_at=at, decision=Decision.BUFFER, job_id=None, job_status=None),
        Fire(fire_at=at - timedelta(hours=1), decision=Decision.SKIP, job_id=None, job_status=None),
        Fire(fire_at=at - timedelta(hours=2), decision=Decision.START, job_id=7, job_status=JobStatus.FAILED),
    ]

    found = results(fires)

    assert [(bar.state, bar.tone) for bar in found.bars] == [
        ("FAILED", "bad"),
        ("SKIPPED", "idle"),
        ("PENDING", "idle"),
    ]
    assert found.counts == {"FAILED": 1, "SKIPPED": 1, "PENDING": 1}
