"""Alerts and the audit log: what lasts, what to do, who did what."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from bobusang.platform import alerting, audit
from bobusang.platform.audit import Subject
from bobusang.platform.notifier import Level, Notice

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.web.screen import Screen

DEAD = Notice("dead_letters:INVALID", Level.WARNING, "120 dead letters of class INVALID", "See <b>them</b>.")
IN = {"batch": "20261116_01"}
RUN = Notice("conveyor.batch:FULL", Level.CRITICAL, "batch 20261116_01 failed", "not every brand", fields=IN)


async def raised(screen: Screen, *notices: Notice) -> None:
    await screen.app.engine.db.transact(lambda tx: alerting.raise_alert(tx, *notices))


async def test_open_alerts_say_what_to_do_and_where(screen: Screen) -> None:
    await raised(screen, DEAD, RUN)

    page = await screen.viewer.get("/alerts")

    assert page.texts("#lasting h2") == [
        "critical batch 20261116_01 failed",
        "warning 120 dead letters of class INVALID",
    ]
    assert page.links("#lasting a.button") == ["/ui/runs/20261116_01/errors", "/ui/dead-letters"]
    assert "See <b>them</b>." in page.texts("#lasting p")
    assert page.texts("#lasting b") == []


async def test_alerts_that_are_over_are_listed_below(screen: Screen) -> None:
    await raised(screen, DEAD)
    await screen.app.engine.db.transact(lambda tx: alerting.settle_alerts(tx, [DEAD.key]))

    page = await screen.viewer.get("/alerts")

    assert page.text("#lasting .empty p") == "No alert is open. Everything that is watched is within its limits."
    assert page.texts("tbody td small") == ["Dead letters grow"]


async def test_the_audit_log_shows_what_changed_and_is_searched(screen: Screen) -> None:
    await screen.app.engine.db.transact(_acted)

    page = await screen.viewer.get("/audit", actor="kim")
    other = await screen.viewer.get("/audit", actor="nobody")
    row = page.tree.css("tbody tr")[0]

    assert page.texts("tbody td:nth-child(3)") == ["schedule.change"]
    assert [one.text() for one in row.css(".changes li")] == ["cron 0 3 * * * 0 4 * * *", "note =cmd()"]
    assert [one.text() for one in row.css("del")] == ["0 3 * * *"]
    assert page.links("tbody td:nth-child(4) a") == ["/ui/schedules/7"]
    assert other.text(".empty p") == "Nobody did anything like this."


async def test_the_audit_log_is_saved_as_a_file_that_runs_nothing(screen: Screen) -> None:
    await screen.app.engine.db.transact(_acted)

    page = await screen.viewer.get("/audit.csv", action="schedule.change")
    lines = list(csv.DictReader(io.StringIO(page.html.removeprefix("\ufeff"))))

    assert page.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    assert [(line["actor"], line["subject_id"], line["before"]) for line in lines] == [
        ("'=kim", "7", '{"x":1}'),
        ("kim", "7", '{"cron":"0 3 * * *","active":true}'),
    ]


async def _acted(tx: Tx) -> None:
    before = {"cron": "0 3 * * *", "active": True}
    after = {"cron": "0 4 * * *", "active": True, "note": "=cmd()"}
    await audit.record(tx, "kim", "schedule.change", Subject("schedule", 7), before, after)
    await audit.record(tx, "=kim", "schedule.change", Subject("schedule", 7), {"x": 1})
