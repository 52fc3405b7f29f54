"""Sources, their gates and identities: who decided what, what waits and why, what is left of quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.sandbox.world import World
from bobusang.stages.collect import gatebook
from bobusang.stages.collect.admission import Standing
from bobusang.stages.collect.breaker import Breaker
from bobusang.stages.collect.tables import BreakerState
from bobusang.testing.sandbox import running
from bobusang.views import identities
from tests.web import screen as screens
from tests.web import shop as shops

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.views.identities import IdentityLine
    from tests.web.screen import Screen

PATH = "/sellers/sources"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
async def screen(shop: Path, tmp_path: Path) -> AsyncIterator[Screen]:
    """With malls that answer: those of a sandbox, never the real ones."""
    async with (
        running(World(seed=1, size=28)) as sandbox,
        screens.opened(shops.copied(shop, tmp_path), sandbox_url=sandbox.url) as found,
    ):
        yield found


async def halted(screen: Screen, source: str) -> None:
    """As after a bot wall."""

    async def work(tx: Any) -> None:
        await gatebook.load(tx, source, "", lock=True)
        standing = Standing(breaker=Breaker(state=BreakerState.HALTED, reason="a bot wall answered"))
        await gatebook.save(tx, source, "", standing)

    await screen.app.engine.db.transact(work)


async def members(screen: Screen) -> list[IdentityLine]:
    async with screen.app.engine.db.read() as tx:
        return await identities.listed(tx, source="mustit", limit=100)


async def test_sources_are_listed_with_gate_and_decision(screen: Screen) -> None:
    page = await screen.viewer.get(PATH)
    on = await screen.viewer.get(PATH, state="on")
    off = await screen.viewer.get(PATH, state="off")

    heads = ["Source", "Health", "Gate", "Decision", "robots.txt", "Limits", "Identities", "Actions"]
    assert page.texts("thead th") == heads
    rows = dict(zip(page.texts("tbody th > a"), page.texts("tbody td:nth-child(3)"), strict=True))
    assert (rows["mustit"], rows["okmall"]) == ("lets through", "lets through")
    assert "it is the sandbox on this machine · sandbox profile" in page.text("tbody td:nth-child(4)")
    assert len(page.texts("tbody tr")) == len(on.texts("tbody tr")) + len(off.texts("tbody tr"))


async def test_a_halted_source_comes_first_and_is_tried_again(screen: Screen) -> None:
    await halted(screen, "okmall")

    page = await screen.viewer.get(PATH)
    assert page.texts("tbody th > a")[0] == "okmall"
    assert page.texts("tbody tr:first-child td .pill")[:2] == ["waits for a person", "halted"]
    assert page.texts("a.figure strong")[3] == "1"
    detail = await screen.viewer.get(f"{PATH}/okmall")
    assert "a bot wall answered" in detail.text(".said.refused")
    assert detail.texts("#gates tbody td:nth-child(3)")[0] == "until a person decides"

    done = await screen.operator.post(f"{PATH}/okmall/resume", on=f"{PATH}/okmall")
    assert done.text(".said") == "okmall is tried again."
    again = await screen.operator.post(f"{PATH}/okmall/resume", on=f"{PATH}/okmall")
    assert again.text(".said") == "Nothing had stopped okmall."


async def test_a_source_is_switched_off_by_an_operator_and_on_by_an_admin(screen: Screen) -> None:
    path = f"{PATH}/okmall"

    off = await screen.operator.post(f"{path}/disable", on=path, why="the mall asked us to stop")
    assert off.text(".said") == "okmall is no longer collected; what is queued waits."
    assert "the mall asked us to stop" in off.text("#decide")
    refused = await screen.operator.post(f"{path}/enable", on=path, why="no, it may")
    assert refused.status == 403

    on = await screen.admin.post(f"{path}/enable", on=path, why="a written agreement")
    assert on.text(".said") == "okmall may be collected now."
    assert "a written agreement" in on.text("#decide")
    empty = await screen.admin.post(f"{path}/disable", on=path, why=" ")
    assert empty.text(".said.refused").startswith("why: ")


async def test_whether_a_source_answers_is_said_in_words(screen: Screen, shop: Path, tmp_path: Path) -> None:
    path = f"{PATH}/okmall"

    page = await screen.operator.post(f"{path}/test", on=path)
    async with screens.opened(shops.copied(shop, tmp_path / "other"), sandbox_url=NOBODY) as lonely:
        silent = await lonely.operator.post(f"{path}/test", on=path)

    assert page.text(".said").startswith("okmall answers: 200 for robots.txt in ")
    assert page.texts("section p .pill")[-1] == "allowed"
    assert silent.text(".said.refused").startswith("okmall does not answer (")


async def test_identities_are_taken_out_of_use_and_recover(screen: Screen) -> None:
    first = (await members(screen))[0]
    path = "/sellers/identities"

    page = await screen.viewer.get(path)
    assert page.texts("#market-quotas h3") == ["buyma · bobusang"]
    assert "/ 2,500" in page.text("#market-quotas .quota strong")
    assert page.texts(f"#identity-{first.id} td:nth-child(2)") == ["free"]

    out = await screen.operator.post(f"{path}/{first.id}/disable", on=path, why="looks burnt")
    assert out.text(".said") == f"Identity {first.place + 1} of mustit is out of use."
    assert out.text(f"#identity-{first.id} td:nth-child(2)") == "out of useuntil a person lets it recover"
    back = await screen.operator.post(f"{path}/{first.id}/recover", on=path)
    assert back.text(".said") == f"Identity {first.place + 1} of mustit may be used again."
    assert back.text(f"#identity-{first.id} td:nth-child(2)") == "recovered"


async def test_no_secret_of_an_identity_is_on_any_page(screen: Screen) -> None:
    from sqlalchemy import select

    from bobusang.stages.collect.tables import crawl_agents

    async with screen.app.engine.db.read() as tx:
        tokens = {row["token"] for row in await tx.fetch(select(crawl_agents.c.token)) if row["token"]}
    tokens.discard("sandbox")  # the key of its suppliers is a word, which stands on the page as that
    assert tokens

    for path in ("/sellers/identities", f"{PATH}/mustit", PATH):
        page = await screen.admin.get(path)
        assert [token for token in tokens if token in page.html] == []
