"""Dead letters: by cause, one by one, mended, run again ten first, and thrown away with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.engine.model import NewTask, ReasonClass, StepType
from bobusang.engine.outcome import Park
from bobusang.testing.workshop import Workshop, step
from bobusang.views import audit
from bobusang.views.audit import AuditFilter
from tests.web.counting import statements

if TYPE_CHECKING:
    from bobusang.engine.model import Task
    from bobusang.engine.outcome import Outcome
    from tests.web.screen import Screen

STEP = step("parse", handler="demo.parse", type=StepType.PARSE)


def broken(task: Task) -> Outcome:
    if task.key == "r":
        return Park(ReasonClass.REJECTED, "the brand is forbidden")
    return Park(ReasonClass.INVALID, f"page {task.id} breaks off")


@pytest.fixture
async def job(screen: Screen) -> int:
    """A job with twelve dead letters of one cause and one of another."""
    shop = Workshop(screen.app.engine)
    seeds = [NewTask({"page": f"/{key}", "html": "<h1>"}, key=key) for key in [*"abcdefghijkl", "r"]]
    made = await shop.job(await shop.workflow(STEP, workflow="pages"), seeds=seeds)
    await shop.drain(broken, handler="demo.parse")
    return made


async def letters(screen: Screen) -> list[int]:
    rows = await Workshop(screen.app.engine).rows("select task_id from dead_letters order by task_id")
    return [row["task_id"] for row in rows]


async def test_causes_stand_with_their_count_and_what_to_do(screen: Screen, job: int) -> None:
    page = await screen.operator.get("/dead-letters")

    assert page.texts(".figure strong")[:2] == ["13", "2"]
    assert page.texts(".cause h2") == ["12 wrong input", "1 refused by the market"]
    assert page.texts(".cause .error")[1] == "the brand is forbidden"
    assert page.texts(".cause")[0].count("Mend the input") == 1
    assert page.texts(".cause .row:last-child > *")[:5] == [
        *("Run 10 first", "Run all 12 again", "Discard", "See the letters", "An example")
    ]
    assert page.texts('.menu a[aria-current="page"] .count') == ["13"]
    rejected = await screen.operator.get("/dead-letters", reason="REJECTED")
    assert rejected.texts(".cause h2") == ["1 refused by the market"]
    of_job = await screen.operator.get("/dead-letters", job=job)
    assert len(of_job.texts(".cause")) == 2


async def test_a_cause_leads_to_its_letters_and_ten_run_first(screen: Screen, job: int) -> None:
    page = await screen.operator.get("/dead-letters")
    address = page.links(".cause a.button")[0].removeprefix("/ui")

    cause = await screen.operator.get(address)
    assert cause.texts("tbody td:nth-child(5)") == [*"abcdefghijkl"]
    assert "12 match." in cause.text("main")
    behind = address.partition("?")[2]
    done = await screen.operator.post(f"/dead-letters/first?{behind}", on=address)

    assert done.text(".said") == "10 of 12 run again. When they went well, run the others."
    assert done.texts("tbody td:nth-child(5)") == [*"kl"]
    short = await screen.operator.get("/dead-letters", fingerprint=behind.partition("fingerprint=")[2])
    assert short.url.startswith("https://shop.test/ui/dead-letters/letters?fingerprint=")


async def test_many_are_shown_first_and_a_reason_is_asked_for(screen: Screen, job: int) -> None:
    some = (await letters(screen))[:2]

    asked = await screen.operator.post("/dead-letters/bulk/retry", on="/dead-letters", ids=[*some, 999])
    assert asked.text("h2") == "Run these dead letters again?"
    assert asked.text("main p") == "2 of 3 lines would be changed."
    done = await screen.operator.post("/dead-letters/bulk/retry", on="/dead-letters", ids=[*some, 999], sure="1")
    assert done.text(".said") == ("2 run again, 1 could not: their jobs were cancelled or are being cleared away.")

    chosen = {"all": "1", "reason": "INVALID"}
    lacking = await screen.operator.post("/dead-letters/bulk/discard", on="/dead-letters", **chosen, sure="1")
    assert (lacking.status, lacking.text(".said.refused")) == (422, "Say why they are thrown away.")
    assert lacking.text("main p") == "10 of 10 lines would be changed."
    done = await screen.operator.post(
        "/dead-letters/bulk/discard", on="/dead-letters", **chosen, sure="1", why="the brand left"
    )
    assert done.text(".said") == "10 were thrown away."
    assert len(await letters(screen)) == 1
    async with screen.app.engine.db.read() as tx:
        (noted,) = (await audit.acts(tx, AuditFilter(), None, 1)).lines
    assert (noted.action, noted.after) == ("dead_letter.discard", {"count": 10, "why": "the brand left"})
    none = await screen.operator.post("/dead-letters/bulk/retry", on="/dead-letters")
    assert none.text(".said.refused") == "No line is ticked."


async def test_an_input_is_mended_and_what_is_no_json_is_kept_as_it_was_typed(screen: Screen, job: int) -> None:
    task = (await letters(screen))[0]
    path = f"/dead-letters/{task}"

    page = await screen.operator.get(path)
    assert page.text("textarea") == '{ "page": "/a", "html": "<h1>" }'
    wrong = await screen.operator.post(path, on=path, input='{"page": "/a", ', do="retry")
    assert (wrong.status, wrong.text("textarea")) == (422, '{"page": "/a",')
    assert wrong.text(".said.refused").startswith("This input cannot be taken: not JSON:")
    saved = await screen.operator.post(path, on=path, input='{"page": "/a", "html": "<h2>"}', do="save")
    assert saved.text(".said") == f"The input of task {task} was changed."
    done = await screen.operator.post(path, on=path, input='{"page": "/a", "html": "<h3>"}', do="retry")
    assert (done.text(".said"), done.url) == (
        f"Task {task} runs again with this input.",
        f"https://shop.test/ui/tasks/{task}",
    )
    assert "<h3>" in done.text("pre")
    assert (await screen.operator.get(path)).url == f"https://shop.test/ui/tasks/{task}"


async def test_one_is_thrown_away_with_a_reason(screen: Screen, job: int) -> None:
    task = (await letters(screen))[0]
    path = f"/dead-letters/{task}"

    refused = await screen.operator.post(f"{path}/discard", on=path, why="")
    assert refused.text(".said.refused") == "Say why it is thrown away."
    done = await screen.operator.post(f"{path}/discard", on=path, why="a test")

    assert done.text(".said") == f"Dead letter {task} was thrown away."
    assert task not in await letters(screen)


async def test_hostile_text_stays_text(screen: Screen) -> None:
    shop, evil = Workshop(screen.app.engine), "</textarea></pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    job = await shop.job(
        await shop.workflow(STEP, workflow=evil[:90]),
        seeds=[NewTask({"html": evil}, key=evil, url="javascript:alert(1)")],
    )
    await shop.drain(Park(ReasonClass.BUG, evil), handler="demo.parse")
    task = (await letters(screen))[0]

    for path in (
        "/jobs",
        f"/jobs/{job}",
        f"/jobs/{job}/tasks",
        f"/tasks/{task}",
        "/dead-letters",
        "/dead-letters/letters",
        f"/dead-letters/{task}",
    ):
        page = await screen.operator.get(path)
        assert (page.status, page.tree.css("main script, main img")) == (200, []), path
        assert not any(link.startswith("javascript:") for link in page.links("main a")), path


async def test_pages_take_few_statements(screen: Screen, job: int) -> None:
    task, taken = (await letters(screen))[0], {}
    await screen.viewer.get("/dead-letters")
    for path in ("/dead-letters", "/dead-letters?reason=INVALID", "/dead-letters/letters", f"/dead-letters/{task}"):
        with statements(screen) as count:
            assert (await screen.viewer.get(path)).status == 200
        taken[path] = count()

    assert {path: number for path, number in taken.items() if number > 8} == {}
