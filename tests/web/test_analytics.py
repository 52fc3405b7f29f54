"""Analytics over real runs: every chart with its table, compared with the period before, saved as a file."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import history

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.web.screen import Screen

CHARTS = [
    "Products through each stage",
    "Jobs that ended",
    "Why attempts failed",
    "From the mall to the market",
    "Margins of decided prices",
    "How long runs took",
    "Calls to the market by the hour",
    "What became of calls",
]


async def measured(screen: Screen) -> None:
    """Ten were registered in this day, eight in the one before."""

    async def work(tx: Tx) -> None:
        for days, count in ((0, 10.0), (1, 8.0)):
            at = tx.now - timedelta(days=days, hours=1)
            await history.add(tx, "throughput", {"REGISTER": count}, at, at + timedelta(minutes=1))
            await history.add(tx, "failures", {"TIMEOUT": 2.0 * days}, at, at + timedelta(minutes=1))

    await screen.app.engine.db.transact(history.forget)
    await screen.app.engine.db.transact(lambda tx: tx.execute(history.FORGET, before=tx.now + timedelta(days=1)))
    await screen.app.engine.db.transact(work)


async def test_every_chart_is_there_with_what_real_runs_left(screen: Screen) -> None:
    page = await screen.viewer.get("/analytics")

    assert page.texts(".two h2") == CHARTS
    assert page.texts("#runs thead th") == ["Run", "FULL", "PARTIAL"]
    assert len(page.texts("#runs tbody tr")) == 2
    assert page.texts("#margins figure thead th") == ["Margin", "prices"]
    assert page.texts("#freshness figure thead th") == ["Time", "bobusang: half within", "bobusang: 95 of 100 within"]
    assert page.texts("#sent tbody th")
    assert page.texts("#budget tbody th") == ["bobusang"]


async def test_a_period_is_compared_with_the_one_before(screen: Screen) -> None:
    await measured(screen)

    page = await screen.viewer.get("/analytics", period="day")
    week = await screen.viewer.get("/analytics", period="week")

    assert page.texts("#figures strong")[0] == "10"
    assert page.texts("#figures small")[0] == "▲ 25.0% against the period before"
    assert page.texts("#throughput thead th") == ["Time", "Register", "Register, the period before"]
    assert page.texts("#failures tbody tr > *") == ["took too long", "0", "2"]
    assert week.texts("#figures strong")[0] == "18"
    assert week.text(".tabs [aria-current]") == "Last 7 days"


async def test_a_chart_is_saved_as_a_file(screen: Screen) -> None:
    await measured(screen)

    page = await screen.viewer.get("/analytics/throughput.csv", period="week")
    missing = await screen.viewer.get("/analytics/weather.csv")
    lines = list(csv.reader(io.StringIO(page.html.removeprefix("\ufeff"))))

    assert page.headers["content-disposition"] == 'attachment; filename="throughput-week.csv"'
    assert lines[0] == ["Time", "Register"]
    assert sorted(line[1] for line in lines[1:]) == ["10", "8"]
    assert missing.status == 404
