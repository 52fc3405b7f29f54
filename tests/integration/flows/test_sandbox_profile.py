"""The sandbox profile: what it allows, it allows for the sandbox alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang import wiring
from bobusang.settings import load
from bobusang.stages.collect import decisions
from bobusang.testing.sandbox import running
from bobusang.testing.yard import Yard

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.sandbox.world import World
    from bobusang.wiring import App


async def enabled(app: App) -> dict[str, bool]:
    async with app.engine.db.read() as tx:
        return {one.source: one.enabled for one in await decisions.all_decided(tx)}


async def test_real_malls_are_off_once_the_sandbox_is_gone(tmp_path: Path, world: World) -> None:
    async with Yard.opened(tmp_path, world=world) as yard:
        assert set((await enabled(yard.app)).values()) == {True}

    async with wiring.opened(load({}, home=str(tmp_path))) as app:
        assert set((await enabled(app)).values()) == {True}, "who only looks changes nothing"
    async with wiring.opened(load({}, home=str(tmp_path)), fetches=True) as app:
        assert set((await enabled(app)).values()) == {False}
        assert app.collector.sources["okmall"].base == "https://www.okmall.com"

    async with Yard.opened(tmp_path, world=world) as yard:
        assert set((await enabled(yard.app)).values()) == {True}


async def test_what_a_person_decided_stays(tmp_path: Path, world: World) -> None:
    async with running(world) as door:
        async with Yard.opened(tmp_path, door=door) as yard, yard.db.begin() as tx:
            await yard.app.collector.enable(tx, "news", why="our own press archive", by="kim")
        async with wiring.opened(load({}, home=str(tmp_path)), fetches=True) as app:
            found = await enabled(app)
    assert {name: on for name, on in found.items() if on} == {"news": True}


async def test_the_index_of_a_mall_lands_in_its_brands(yard: Yard) -> None:
    job = await yard.start("okmall", "index", "all")
    assert await yard.ended(job) == "SUCCESS"

    run = await yard.run(job)
    brands = await yard.rows("select is_active from mall_brands where mall_name = 'okmall'")
    assert (run["state"], run["listed"], run["reason"]) == ("PROVED", len(brands), None)
    assert brands
    assert {row["is_active"] for row in brands} == {None}
