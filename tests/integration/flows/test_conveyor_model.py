"""A model that will not answer: who needs it lies where a person can mend it, others go on, and nobody asks twice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bobusang.engine import redriving
from bobusang.flows.conveyor.model import Mode
from bobusang.kit import json
from bobusang.platform.model import Declined
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.convert import memory
from bobusang.stages.convert.glossary import Glossary, shipped
from bobusang.stages.convert.translate import TASK
from bobusang.testing.sandbox import running
from bobusang.testing.shop import Shop
from bobusang.testing.workshop import Workshop
from tests.integration.flows.selling import OKMALL
from tests.integration.platform.receiver import Answer, Request, receiving

if TYPE_CHECKING:
    from pathlib import Path

HINT = "check BOBUSANG_MODEL and BOBUSANG_MODEL_URL"
PARKED = "PARKED", f"the translation failed: the model's server answered 400: no such model ({HINT})"
CONVERTS = """
    select t.outcome, t.error_message as error from tasks t join workflow_steps w on w.id = t.step_id
    where w.step_name = 'convert' and t.job_id = (select max(id) from crawling_jobs) order by t.id"""

DEAD = """
    select d.error, t.job_id from dead_letters d join tasks t on t.id = d.task_id order by t.task_key"""
MADE = """
    select p.product_id, c.data from conversions c join products p on p.id = c.product_id
    where c.state = 'READY' order by p.product_id"""
OURS = "褓負商の品"


async def test_what_needs_a_model_that_refuses_waits_for_a_person_and_the_rest_is_registered(tmp_path: Path) -> None:
    behaviour = Behaviour(delay=0, retry_seconds=0.05)
    async with receiving() as model, running(World(5, 12, brands=1, pictures=1), behaviour=behaviour) as door:

        async def refuses(_: Request) -> Answer:
            return Answer(400, body=b'{"error": {"message": "no such model"}}')

        model.respond = refuses
        told: dict[str, Any] = {"model": "openai:m-1", "model_url": f"http://127.0.0.1:{model.port}/v1"}
        async with Shop.opened(tmp_path, door=door, **told) as shop, shop.yard.working():
            status = await shop.run(Mode.FULL, [OKMALL])
            outcomes = Counter((row["outcome"], row["error"]) for row in await shop.yard.rows(CONVERTS))
            live = len(await shop.yard.rows("select id from listings where state = 'LIVE'"))

    assert outcomes[PARKED] > outcomes["DONE", None] > 1
    assert (status, live, len(model.requests)) == ("FAILED", outcomes["DONE", None], 1)


async def test_what_a_model_declines_goes_on_once_a_person_has_said_it(tmp_path: Path) -> None:
    behaviour, words, offends = Behaviour(delay=0, retry_seconds=0.05), Glossary(shipped()), list[str]()
    async with receiving() as model, running(World(5, 12, brands=1, pictures=1), behaviour=behaviour) as door:

        async def answers(request: Request) -> Answer:
            texts = json.loads(request.json["messages"][1]["content"])
            if not offends:
                offends.append(texts[0])
            if offends[0] in texts:
                return Answer(body=json.dumps({"choices": [{"message": {"refusal": "I would rather not"}}]}).encode())
            lines = [{"id": place, "text": words.render(text).text} for place, text in enumerate(texts)]
            said = {"message": {"content": json.dumps({"lines": lines})}, "finish_reason": "stop"}
            return Answer(body=json.dumps({"choices": [said]}).encode())

        model.respond = answers
        told: dict[str, Any] = {"model": "openai:m-1", "model_url": f"http://127.0.0.1:{model.port}/v1"}
        async with Shop.opened(tmp_path, door=door, **told) as shop, shop.yard.working():
            batch, engine = await shop.start(Mode.FULL, [OKMALL]), Workshop(shop.yard.app.engine)
            first = await shop.ended(batch)
            dead, before = await shop.yard.rows(DEAD), await shop.yard.rows(MADE)
            asked = len(model.requests)

            await shop.yard.db.transact(lambda tx: memory.correct(tx, offends[0], OURS))
            driven = await engine.do(lambda tx: redriving.redrive(tx, engine.books, redriving.Filter()))
            ended = await shop.yard.ended(dead[0]["job_id"])
            after = await shop.yard.rows(MADE)

    assert {row["error"] for row in dead} == {f"the translation failed: {Declined(TASK, offends[0])}"}
    assert "`bobusang translation correct`" in dead[0]["error"]
    assert (first, driven, ended, len(model.requests)) == ("COMPLETED", len(dead), "SUCCESS", asked)
    mended = [row for row in after if row not in before]
    assert (len(mended), len(after)) == (len(dead), len(before) + len(dead))
    assert all(OURS in str(json.loads(row["data"])) for row in mended)
