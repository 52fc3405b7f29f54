"""What `--dry-run` shows is what the run then sends: the same calls with the same bytes, by mode and by stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import marks, previewing
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.flows.conveyor.previewing import AS_CONFIRMED, UNTOUCHED, Trial
from bobusang.flows.market import inbox
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts
from bobusang.testing.shop import NAME, Shop
from tests.integration.flows.selling import OKMALL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from bobusang.flows.conveyor.previewing import Line
    from bobusang.kit.db import Tx

pytestmark = pytest.mark.timeout(180)

SANDBOX = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}
MADE = (Stage.COLLECT, Stage.CONVERT, Stage.IMAGE)
KNOWN = (Stage.PRICE, Stage.REGISTER)
RIVAL = Statement("""
    update competitor_prices set search = 'FOUND', total = :total, currency = 'JPY', found_at = :now, checked_at = :now,
      due_at = '2099-01-01T00:00:00.000000Z' where model = :model""")
Call = tuple[str, str, str]
"""SKU, kind and payload."""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Working, with all of a brand converted, and some of it listed."""
    world = World(seed=5, size=12, brands=1, pictures=1)
    async with Shop.opened(tmp_path, world=world, sandbox=SANDBOX) as found, found.yard.working():
        assert await found.run(Mode.FULL, [OKMALL], stages=MADE) == "COMPLETED"
        assert await found.run(Mode.FULL, [OKMALL], stages=KNOWN, limit=5) == "COMPLETED"
        yield found


async def listed(shop: Shop) -> list[dict[str, Any]]:
    """What the market has, by our names for it."""
    names = {row["reference"]: row["sku"] for row in await shop.yard.rows("select reference, sku from listings")}
    found = (await shop.door.market())["listings"]
    return sorted(({**one, "sku": names[one["reference"]]} for one in found), key=lambda one: one["sku"])


async def tried(shop: Shop, mode: Mode, stages: Sequence[Stage] | None = None) -> list[Line]:
    trial = Trial.of(mode, stages)
    return [line async for line in previewing.preview(shop.yard.app.belt, [OKMALL], trial)]


def calls(lines: Sequence[Line]) -> list[Call]:
    return sorted((line.sku, line.kind, line.body) for line in lines if line.kind)


async def sent(shop: Shop, mode: Mode, stages: Sequence[Stage] | None = None) -> list[Call]:
    """What a run really sends."""
    [before] = await shop.yard.rows("select coalesce(max(id), 0) as id from market_calls")
    assert await shop.run(mode, [OKMALL], stages=stages) == "COMPLETED"
    rows = await shop.yard.rows(
        """
        select l.sku, c.kind, c.payload from market_calls c join listings l on l.id = c.listing_id
        where c.id > :id""",
        id=before["id"],
    )
    return sorted((row["sku"], row["kind"], row["payload"]) for row in rows)


async def bought(shop: Shop, one: dict[str, Any], amount: int) -> None:
    """Buyers take so many of a listing, and the market tells what it has left."""
    options = next(cell["options"] for cell in one["variants"] if cell["stock_type"] == "purchase_for_order")
    color, size = (next(part["value"] for part in options if part["type"] == axis) for axis in ("color", "size"))
    await shop.door.order(one["reference"], color, size, amount)
    [left] = (await shop.door.market(reference=one["reference"]))["listings"]
    same = ("id", "status", "name", "price", "list_price", "variants", "order_quantity", "updated_at")
    body = {name: left[name] for name in same if name in left} | {"reference_number": one["reference"]}
    body["updated_at"] = shop.yard.db.clock.now().isoformat()
    await shop.door.webhook("product/update", body, forged=False)
    await shop.door.settle()

    async def heard(tx: Tx) -> None:
        await inbox.applied(tx, shop.yard.app.belt.register, await accounts.named(tx, "buyma", NAME))

    await shop.yard.db.transact(heard)


async def looked_at_again(shop: Shop) -> None:
    """As somebody asks for by `bobusang listing recheck`."""
    ids = [row["product_id"] for row in await shop.yard.rows("select product_id from listings")]
    await shop.yard.db.transact(lambda tx: marks.forget(tx, "buyma", ids))


async def test_what_buyers_took_is_raised_and_revived_as_the_run_will(shop: Shop) -> None:
    """A run looks at the mall first, so what the mall still has is offered again."""
    fewer, none, *_ = await listed(shop)
    await bought(shop, fewer, 1)
    await bought(shop, none, none["order_quantity"])
    await looked_at_again(shop)

    shown = calls(await tried(shop, Mode.PARTIAL))
    really = await sent(shop, Mode.PARTIAL)

    assert [(sku, kind) for sku, kind, _ in shown] == [(fewer["sku"], "STOCK"), (none["sku"], "REVIVE")]
    assert shown == really


async def test_without_looking_at_the_mall_what_buyers_took_stays_taken(shop: Shop) -> None:
    fewer, none, *_ = await listed(shop)
    await bought(shop, fewer, 1)
    await bought(shop, none, none["order_quantity"])
    await looked_at_again(shop)

    shown = {line.sku: (line.kind, line.why) for line in await tried(shop, Mode.PARTIAL, KNOWN)}

    right = {one["sku"]: ("", AS_CONFIRMED) for one in await listed(shop)}
    sold = "the market sold the last one, and the mall was not looked at since"
    assert shown == right | {none["sku"]: ("", sold)}
    assert await sent(shop, Mode.PARTIAL, KNOWN) == []


async def test_partial_shows_what_is_listed_and_full_what_is_new(shop: Shop) -> None:
    there = {one["sku"] for one in await listed(shop)}

    partial, full = await tried(shop, Mode.PARTIAL), await tried(shop, Mode.FULL)
    new = {sku for sku, kind, _ in calls(full) if kind == "CREATE"}
    unsearched = {line.sku for line in full if line.why.startswith("its price is held: not_searched")}

    assert {(line.sku, line.why) for line in partial} == {(sku, UNTOUCHED) for sku in there}
    assert new
    assert not new & there
    assert await sent(shop, Mode.PARTIAL) == []
    assert {sku for sku, kind, _ in await sent(shop, Mode.FULL) if kind == "CREATE"} == new | unsearched
    assert calls(await tried(shop, Mode.FULL)) == []


async def test_the_fast_loop_shows_no_price_that_it_would_not_raise(shop: Shop) -> None:
    """The rival asks for more by now: we follow him with the next FULL, not with a PARTIAL."""
    one = next(one for one in await listed(shop) if one["model"])
    key, price = one["model"].replace("-", ""), one["price"]
    await shop.yard.db.transact(lambda tx: tx.execute(RIVAL, model=key, total=price + 105, now=tx.now))
    await looked_at_again(shop)

    partial = calls(await tried(shop, Mode.PARTIAL))
    [(sku, kind, body)] = [call for call in calls(await tried(shop, Mode.FULL)) if call[1] != "CREATE"]

    assert partial == []
    assert (sku, kind, json.loads(body)["product"]["price"]) == (one["sku"], "EDIT", price + 100)


async def test_register_alone_sends_what_is_known_by_a_price_of_today(shop: Shop) -> None:
    before = {one["sku"] for one in await listed(shop)}
    shown = [(sku, kind) for sku, kind, _ in calls(await tried(shop, Mode.FULL, (Stage.REGISTER,)))]
    rest = {sku for sku, *_ in await sent(shop, Mode.FULL, (Stage.REGISTER,))}

    assert shown == [(sku, "CREATE") for sku, _ in shown]
    assert {sku for sku, _ in shown} < rest == {one["sku"] for one in await listed(shop)} - before


@pytest.mark.parametrize("stages", [MADE, (Stage.PRICE,)])
async def test_stages_that_send_nothing_show_nothing(shop: Shop, stages: tuple[Stage, ...]) -> None:
    await looked_at_again(shop)

    assert await tried(shop, Mode.FULL, stages) == []
    assert await sent(shop, Mode.FULL, stages) == []


def test_a_stage_that_the_mode_has_not_is_refused() -> None:
    with pytest.raises(Invalid, match="PARTIAL has no stage IMAGE"):
        Trial.of(Mode.PARTIAL, [Stage.IMAGE])
