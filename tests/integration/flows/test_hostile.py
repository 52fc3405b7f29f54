"""Hostile pages through the whole pipeline: runs end, the worker lives and stays small, nothing false is stored."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.sandbox.fault import Trouble
from bobusang.sandbox.world import World
from bobusang.testing.crawl import Crew, Visiting
from bobusang.testing.sandbox import running
from bobusang.testing.yard import Yard
from tests.integration.flows.watching import Watch

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")

BRAND = "나이키(NIKE)"
SELLER = "dmont"
MORE_MEMORY = 250 << 20
"""Bytes above what an ordinary crawl takes: eight pages of 8 MB at once, some of them unpacked and decoded. The bodies
that are sent are 200 MB and more each."""
REFUSED = {
    Trouble.HUGE: "REJECTED",
    Trouble.ZIP_BOMB: "REJECTED",
    Trouble.ENDLESS: "REJECTED",
    Trouble.REDIRECT_LOOP: "TRANSPORT",
    Trouble.REDIRECT_PRIVATE: "REJECTED",
    Trouble.DEEP_JSON: "DRIFTED",
}
"""Pages that cannot be had or read, and the class of the dead letter that says so."""
READ = (
    Trouble.INVALID_UTF8,
    Trouble.SCRIPT_NAMES,
    Trouble.MANY_OPTIONS,
    Trouble.DUPLICATE_KEYS,
    Trouble.DUPLICATE_ITEMS,
)
"""Pages that can be read, as far as they can be believed."""
PATIENT = Visiting(timeout=20.0, rest=0.2)
SCRIPT = "<script>alert("


async def choosing(yard: Yard, mall: str, **whose: str) -> dict[str, dict[str, Any]]:
    """For each kind of page a product with options that it befalls."""
    told = await yard.door.truth(mall, **whose)
    items = [item for item in told["items"] if item["listed"] and len(item["options"]) > 1]
    return dict(zip((*REFUSED, *READ), items, strict=False))


async def dead(yard: Yard, job: int) -> dict[str, str]:
    """The dead letters of a job: what was asked for, and why it was given up."""
    text = """select t.input_data, d.reason_class from dead_letters d join tasks t on t.id = d.task_id
        where d.job_id = :job"""
    rows = await yard.rows(text, job=job)
    return {str(json.loads(row["input_data"]).get("item", "")): row["reason_class"] for row in rows}


async def test_hostile_pages_end_their_run_and_nothing_else(tmp_path: Path) -> None:
    async with Yard.opened(tmp_path, world=World(seed=5, size=360, brands=12)) as yard:
        how = {"okmall": PATIENT, "mustit": PATIENT}
        with Crew.of(1, tmp_path, how, sandbox_url=yard.door.url) as crew:
            brands = [name for name in (await yard.door.world())["malls"]["okmall"] if name != BRAND]
            assert await yard.ended(await yard.start("okmall", "brand", brands.pop())) == "SUCCESS"
            [worker], usual = crew.names, crew.peak(crew.names[0])

            lists = dict(zip(brands, (*REFUSED, *READ), strict=False))
            for brand, kind in lists.items():
                await yard.door.fault("okmall", "list", kind, match=f"brand={brand}")
            details = await choosing(yard, "okmall", brand=BRAND)
            parts = await choosing(yard, "mustit", seller=SELLER)
            for kind in details:
                await yard.door.fault("okmall", "detail", kind, match=f"no={details[kind]['key']}")
                await yard.door.fault("mustit", "*", kind, match=f"/{parts[kind]['key']}/")
            jobs = {brand: await yard.start("okmall", "brand", brand) for brand in lists}
            items, options = await yard.start("okmall", "brand", BRAND), await yard.start("mustit", "seller", SELLER)
            ended = {brand: await yard.ended(job) for brand, job in jobs.items()}

            assert ended == {brand: "FAILED" if kind in REFUSED else "SUCCESS" for brand, kind in lists.items()}
            assert [await yard.ended(items), await yard.ended(options)] == ["FAILED", "FAILED"]
            assert crew.names == [worker]
            assert crew.peak(worker) - usual < MORE_MEMORY

        for brand, kind in lists.items():
            wanted = [REFUSED[kind]] if kind in REFUSED else []
            assert list((await dead(yard, jobs[brand])).values()) == wanted
        assert await dead(yard, items) == {details[kind]["key"]: name for kind, name in REFUSED.items()}
        assert await dead(yard, options) == {parts[kind]["key"]: name for kind, name in REFUSED.items()}
        await nothing_false(yard, lists)
        await harmless(yard, details, parts)


async def nothing_false(yard: Yard, lists: dict[str, str]) -> None:
    """What could not be read is not stored; the rest is as the mall has it."""
    for mall, targets in {
        "okmall": [{"brand": name} for name in (BRAND, *lists)],
        "mustit": [{"seller": SELLER}],
    }.items():
        stored = await yard.records(mall)
        for target in targets:
            watch = Watch(yard, mall, *next(iter(target.items())))
            await watch.look()
            shown = {key for key, item in watch.true.items() if item["listed"]}
            assert stored.keys() & shown == (set() if lists.get(target.get("brand", "")) in REFUSED else shown)
            assert [said for key in shown & stored.keys() for said in watch.false(key, stored[key])] == []


async def harmless(yard: Yard, details: dict[str, Any], parts: dict[str, Any]) -> None:
    """Script is a text like any other. More options than any product has are not believed: they stay unknown."""
    okmall, mustit = await yard.records("okmall"), await yard.records("mustit")
    for stored, chosen in ((okmall, details), (mustit, parts)):
        named = chosen[Trouble.SCRIPT_NAMES]
        assert stored[named["key"]]["name"].startswith(SCRIPT)
        assert stored[named["key"]]["name"].endswith(named["title"])
        assert "options" not in stored[chosen[Trouble.MANY_OPTIONS]["key"]]
    [row] = await yard.rows(
        "select name from products where mall = 'okmall' and product_id = :key",
        key=details[Trouble.SCRIPT_NAMES]["key"],
    )
    assert row["name"] == okmall[details[Trouble.SCRIPT_NAMES]["key"]]["name"]


BOMB = """
shop: bomb
intake: {{kind: http, base: "{url}/plain", format: html}}
streams:
  list:
    request: {{get: /list}}
    records: .product-item
    key: .title | re{{^(a+)+$}}
    fields: {{name: .title}}
    emits: record
"""


async def test_a_shop_with_a_regex_bomb_is_refused_and_hinders_no_other(tmp_path: Path, world: World) -> None:
    folder = tmp_path / "shops" / "bomb"
    await asyncio.to_thread(folder.mkdir, parents=True)
    async with running(world) as door:
        await asyncio.to_thread((folder / "shop.yaml").write_text, BOMB.format(url=door.url))
        async with Yard.opened(tmp_path, door=door, shops=str(folder.parent)) as yard, yard.working():
            with pytest.raises(Invalid, match=r"bomb.*shop\.yaml.*can take for ever") as refusal:
                yard.app.collector.source("bomb")
            assert refusal.value.hint
            assert (await yard.collect("okmall", "brand", BRAND))["state"] == "PROVED"
