"""Targets, and which workflow suits one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import targets, workflows
from bobusang.kit.errors import Conflict, Invalid, Missing

if TYPE_CHECKING:
    from bobusang.testing.workshop import Workshop


async def put(shop: Workshop, key: str = "나이키", **said: Any) -> int:
    return await shop.do(lambda tx: targets.put(tx, **{"kind": "brand", "key": key, "source": "okmall"} | said))


async def suits(shop: Workshop, target: int) -> int:
    return await shop.do(lambda tx: targets.workflow_for(tx, target))


async def mapped(shop: Workshop, condition: str | None = None, priority: int = 0) -> int:
    workflow = await shop.workflow()
    await shop.do(
        lambda tx: targets.map_workflow(tx, kind="brand", workflow_id=workflow, condition=condition, priority=priority)
    )
    return workflow


async def test_a_target_put_twice_is_one_with_the_newer_facts(shop: Workshop) -> None:
    first = await put(shop, data={"items": 1})
    second = await put(shop, data={"items": 2}, name="Nike")

    assert first == second
    assert await put(shop, "NIKE") != await put(shop, "nike")
    assert await put(shop, source=None) == await put(shop, source=None) != first


async def test_the_first_mapping_whose_condition_holds_decides(shop: Workshop) -> None:
    small = await mapped(shop)
    large = await mapped(shop, "items > 1000", priority=5)
    okmall = await mapped(shop, "source == 'okmall' and target.urgent", priority=9)
    brands = [{"items": 10}, {"items": 5000}, {"items": 5000, "urgent": True}, {}]

    found = [await suits(shop, await put(shop, f"brand {number}", data=data)) for number, data in enumerate(brands)]

    assert found == [small, large, okmall, small]


async def test_a_workflow_that_is_switched_off_suits_nobody(shop: Workshop) -> None:
    workflow = await mapped(shop)
    await shop.do(lambda tx: workflows.set_active(tx, workflow, False))

    with pytest.raises(Conflict, match="no workflow suits"):
        await suits(shop, await put(shop))


async def test_a_condition_that_is_no_condition_is_refused(shop: Workshop) -> None:
    for condition in ("items >", "__import__('os')", "items > 1; drop table"):
        with pytest.raises(Invalid):
            await mapped(shop, condition)
    with pytest.raises(Missing):
        await shop.do(lambda tx: targets.map_workflow(tx, kind="brand", workflow_id=987_654))


async def test_a_mapping_can_be_changed(shop: Workshop) -> None:
    workflow = await mapped(shop, "items > 1000")
    target = await put(shop, data={"items": 1})
    with pytest.raises(Conflict):
        await suits(shop, target)

    await shop.do(lambda tx: targets.map_workflow(tx, kind="brand", workflow_id=workflow, condition="items < 1000"))
    assert await suits(shop, target) == workflow
