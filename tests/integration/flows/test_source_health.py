"""How the sources of the sandbox are, as `bobusang source list` says it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.sandbox.world import World
from bobusang.stages.collect.counts import Counts, Place, add, fold
from bobusang.views import source_health, sources
from bobusang.views.sources import Known
from tests.integration.flows.supplied import supplied

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.testing.yard import Yard


async def healths(yard: Yard) -> dict[str, tuple[str, bool]]:
    """Of each source how it is, and whether it has answered."""
    shelf = yard.app.collector.sources
    known = [Known(name=name, origin="shipped", policy=shelf[name].policy, source=shelf[name]) for name in shelf]
    async with yard.db.read() as tx:
        return {one.name: (one.health.value, one.last_answer_at is not None) for one in await sources.listed(tx, known)}


async def test_a_source_is_healthy_once_its_pages_are_read(any_yard: Yard) -> None:
    assert set((await healths(any_yard)).values()) == {("untried", False)}

    await any_yard.collect("okmall", "brand", "나이키(NIKE)")

    found = await healths(any_yard)
    assert found.pop("okmall") == ("healthy", True)
    assert set(found.values()) == {("untried", False)}


async def test_pages_that_fail_and_those_of_past_days_are_told_apart(any_yard: Yard) -> None:
    db = any_yard.db
    failed = [(Place("news", "list:all", "list", 7), Counts(failure=3))]
    await db.transact(lambda tx: add(tx, failed))
    assert (await healths(any_yard))["news"] == ("failing", True)

    await db.transact(lambda tx: add(tx, [(Place("news", "list:all", "list", 7), Counts(success=20))]))
    assert (await healths(any_yard))["news"] == ("unsteady", True)

    await db.transact(lambda tx: fold(tx, tx.now.date() + timedelta(days=2)))
    async with db.read() as tx:
        assert "news" not in await source_health.answers(tx)


EVERYTHING = {
    "okmall": ("brand", "나이키(NIKE)"),
    "mustit": ("seller", "dmont"),
    "wconcept": ("keyword", "니트"),
    "musinsa": ("keyword", "니트"),
    "ownerclan": ("list", "all"),
    "domeggook": ("keyword", "니트"),
    "cafe24": ("category", "24"),
    "shopify": ("list", "all"),
    "buyma": ("model", "FQ2494-010"),
    "news": ("list", "all"),
    "feed": ("list", "all"),
}
"""A target of each source that is asked; Acme sends by itself."""


async def test_every_source_is_healthy_against_the_sandbox(tmp_path: Path) -> None:
    async with supplied(tmp_path, world=World(seed=5, size=60, brands=2)) as anywhere, anywhere.yard.working():
        yard = anywhere.yard
        for source, (kind, key) in EVERYTHING.items():
            await yard.collect(source, kind, key)
        await anywhere.sends(count=20, size=20)
        await anywhere.read()

        found = await healths(yard)

    assert found == dict.fromkeys([*EVERYTHING, "acme"], ("healthy", True))
