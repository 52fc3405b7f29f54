"""Runs: the list, one run in its tabs, and what can be done to it, over real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import watching
from bobusang.flows.conveyor.watching import BatchFilter

if TYPE_CHECKING:
    from bobusang.flows.conveyor.watching import BatchLine
    from tests.web.screen import Screen

HEAD = ["Choose", "Run", "Mode", "State", "Duration", "Brands", "Started", "By", "Actions"]


async def runs(screen: Screen) -> list[BatchLine]:
    async with screen.app.engine.db.read() as tx:
        return await watching.listed(tx, BatchFilter(), None, 10)


async def test_all_runs_are_listed_and_filters_are_remembered(screen: Screen) -> None:
    partial, full = await runs(screen)

    page = await screen.viewer.get("/runs")
    only = await screen.viewer.get("/runs", mode="FULL")
    again = await screen.viewer.get("/runs")

    assert page.texts("thead th") == HEAD
    assert page.texts("tbody th") == [partial.batch_id, full.batch_id]
    assert page.texts("tbody tr td:nth-child(4)") == ["done", "done"]
    assert only.texts("tbody th") == again.texts("tbody th") == [full.batch_id]
    assert again.url == "https://shop.test/ui/runs?mode=FULL"


async def test_a_run_is_shown_by_brand_and_stage(screen: Screen) -> None:
    _, full = await runs(screen)

    page = await screen.viewer.get(f"/runs/{full.batch_id}")
    done = await screen.viewer.get(f"/runs/{full.batch_id}", state="DONE")
    none = await screen.viewer.get(f"/runs/{full.batch_id}", state="ERROR")

    assert page.text("h1") == f"Run {full.batch_id}"
    assert page.texts(".tabs a") == ["Belt", "Timeline", "Errors", "Compare", "Settings of the run"]
    assert page.texts("#run-head th") == ["Brand", "Collect", "Convert", "Image", "Price", "Register", "State"]
    assert page.texts(".figure strong") == ["100%", page.texts(".figure strong")[1], "10 / 10", "0"]
    assert len(page.texts(".belt tbody tr")) == len(done.texts(".belt tbody tr")) == 10
    assert none.text(".empty") == "No brand is like this."


async def test_the_timeline_has_a_bar_a_stage(screen: Screen) -> None:
    _, full = await runs(screen)

    page = await screen.viewer.get(f"/runs/{full.batch_id}/timeline")

    assert len(page.tree.css(".times tbody tr")) == 11
    assert len(page.tree.css(".times tbody tr:first-child rect")) == 5
    assert page.texts("details table tbody th") == ["Collect", "Convert", "Image", "Price", "Register"]


async def test_from_the_belt_to_why_a_product_is_not_registered(screen: Screen) -> None:
    """The cell that left something out, then the product: two clicks from the overview, too."""
    _, full = await runs(screen)
    belt = await screen.viewer.get(f"/runs/{full.batch_id}")
    cell = belt.links(".belt .aside a")[0]

    errors = await screen.viewer.get(cell.removeprefix("/ui").partition("#")[0])

    assert errors.texts("h2")[:2] == ["What failed", "Left out, and why"]
    why = errors.texts("#left-out tbody tr")[0]
    assert "brand" in why or "categor" in why or "sold out" in why, why
    product = await screen.viewer.get(errors.links("#left-out tbody a")[0].removeprefix("/ui"))
    assert (product.status, len(product.texts("#why"))) == (200, 1)


async def test_a_run_is_compared_with_the_one_before(screen: Screen) -> None:
    partial, full = await runs(screen)

    first = await screen.viewer.get(f"/runs/{full.batch_id}/compare")
    started = await screen.operator.post("/runs/new", on="/runs/new", mode="FULL", do="start", limit="1")
    assert started.status == 200, started.text()
    batch_id = started.url.rpartition("/")[2]
    second = await screen.viewer.get(f"/runs/{batch_id}/compare")

    assert first.text(".empty p") == "This is the first run of its mode: there is nothing to compare it with."
    assert second.texts("h2") == ["Products by stage", "New causes"]
    assert second.links("a.figure")[0] == f"/ui/runs/{full.batch_id}"
    assert batch_id not in (partial.batch_id, full.batch_id)


async def test_a_run_is_started_cancelled_and_run_again(screen: Screen) -> None:
    page = await screen.operator.post("/runs/new", on="/runs/new", mode="PARTIAL", do="start", malls="okmall")
    batch_id = page.url.rpartition("/")[2]
    assert page.text(".said") == f"Run {batch_id} was started for 5 brands."
    listed = await screen.viewer.get("/runs", status="RUNNING")
    assert listed.texts("tbody tr td:nth-child(8)") == ["the operator"]

    path = f"/runs/{batch_id}"
    page = await screen.operator.post(f"{path}/cancel", on=path, why="the wrong mall")
    assert page.text(".said") == "The run was cancelled; 5 brands had not ended."
    errors = await screen.viewer.get(f"{path}/errors")
    assert errors.texts("section:last-of-type td.text")[0] == "cancelled: the wrong mall"

    page = await screen.operator.post(f"{path}/retry", on=path)
    assert page.text(".said") == "5 tasks of 5 brands run again."
    await screen.operator.post(f"{path}/cancel", on=path)
    page = await screen.operator.post(f"{path}/retry", on=path, **{"from": "stage", "stage": "PRICE"})
    assert page.text(".said") == "5 tasks of 5 brands run again."
    refused = await screen.operator.post(f"{path}/retry", on=path, **{"from": "stage", "stage": "PRICE"})
    assert (
        refused.text(".said.refused")
        == f"batch {batch_id} still runs (wait for it, or `bobusang run cancel {batch_id}`)"
    )


async def test_a_run_is_paused_and_goes_on(screen: Screen) -> None:
    page = await screen.operator.post("/runs/new", on="/runs/new", mode="PARTIAL", do="start", malls="okmall")
    path = page.url.removeprefix("https://shop.test/ui")

    paused = await screen.operator.post(f"{path}/pause", on=path)
    assert paused.text(".said") == "The run is paused: 5 brands wait."
    assert paused.texts("#run-actions .pill") == ["PARTIAL", "running", "5 brands are paused"]
    assert paused.texts("#run-actions button") == ["Resume", "Cancel the run"]

    resumed = await screen.operator.post(f"{path}/resume", on=path)
    assert resumed.text(".said") == "The run goes on with 5 brands."
    assert resumed.texts("#run-actions button") == ["Pause", "Cancel the run"]


async def test_a_run_is_started_like_another(screen: Screen) -> None:
    asked = {"mode": "FULL", "malls": "okmall", "stages": "PRICE", "limit": "7"}
    page = await screen.operator.post("/runs/new", on="/runs/new", do="start", **asked)
    first = page.url.rpartition("/")[2]

    told = await screen.viewer.get(f"/runs/{first}/settings")
    form = await screen.operator.get("/runs/new", like=first)

    facts = told.texts("main section:nth-of-type(2) dd")
    assert facts == ["FULL", "okmall", "5", "Price", "7"]
    assert len(told.links("main tbody a")) == 5
    ticked = [one.attributes["value"] for one in form.tree.css("form.door input[checked]")]
    assert ticked == ["FULL", "okmall", "PRICE"]
    assert len(form.text("textarea").split()) >= 5
    assert [one.attributes["value"] for one in form.tree.css('input[name="limit"]')] == ["7"]


async def test_what_a_run_would_send_is_shown_and_nothing_is_sent(screen: Screen) -> None:
    before = await runs(screen)

    page = await screen.operator.post("/runs/new", on="/runs/new", mode="FULL", do="preview", malls="okmall")

    nothing = await screen.operator.post("/runs/new", on="/runs/new", do="preview", malls="okmall", stages="COLLECT")

    assert page.status == 200
    assert "Nothing was sent." in page.text("#preview p")
    assert page.texts("#preview .pill")[-1].split()[-1] != "0"  # as it is
    assert nothing.texts("#preview .pill") == ["held 0", "as it is 0"]
    assert await runs(screen) == before


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"brands": "no such brand"}, "there is no brand 'no such brand'"),
        ({"mode": "PARTIAL", "stages": "IMAGE"}, "PARTIAL has no stage IMAGE"),
    ],
)
@pytest.mark.parametrize("do", ["start", "preview"])
async def test_what_is_wrong_is_said_beside_what_was_typed(
    screen: Screen, form: dict[str, Any], said: str, do: str
) -> None:
    page = await screen.operator.post("/runs/new", on="/runs/new", do=do, **form)

    assert page.status == 422
    assert said in page.text(".said")
    assert page.text("textarea") == form.get("brands", "")


async def test_many_runs_are_changed_after_it_was_said_which(screen: Screen) -> None:
    _, full = await runs(screen)
    for mall in ("okmall", "mustit"):
        await screen.operator.post("/runs/new", on="/runs/new", mode="PARTIAL", do="start", malls=mall)
    last, other, *_ = (one.batch_id for one in await runs(screen))

    ticked = await screen.operator.post("/runs/bulk/cancel", on="/runs", ids=[last, full.batch_id])
    every = await screen.operator.post("/runs/bulk/cancel", on="/runs", all="1")
    done = await screen.operator.post("/runs/bulk/cancel", on="/runs", sure="1", ids=[last, other])
    again = await screen.operator.post("/runs/bulk/retry", on="/runs", sure="1", ids=[last, other, full.batch_id])

    assert ticked.text("main p") == "1 of 2 lines would be changed."
    assert (every.text("main p"), every.texts("main li")) == ("2 of 4 lines would be changed.", [last, other])
    assert done.text(".said") == "2 runs were cancelled."
    assert again.text(".said") == "2 runs go on."
