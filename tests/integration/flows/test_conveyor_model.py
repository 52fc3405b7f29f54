"""A model that will not answer: who needs it lies where a person can mend it, others go on, and nobody asks twice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bobusang.flows.conveyor.model import Mode
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.testing.sandbox import running
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import OKMALL
from tests.integration.platform.receiver import Answer, Request, receiving

if TYPE_CHECKING:
    from pathlib import Path

HINT = "check BOBUSANG_MODEL and BOBUSANG_MODEL_URL"
PARKED = "PARKED", f"the translation failed: the model's server answered 400: no such model ({HINT})"
CONVERTS = """
    select t.outcome, t.error_message as error from tasks t join workflow_steps w on w.id = t.step_id
    where w.step_name = 'convert' and t.job_id = (select max(id) from crawling_jobs) order by t.id"""


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
