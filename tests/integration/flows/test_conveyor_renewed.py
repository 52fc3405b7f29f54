"""A product that becomes something else under its number, from the mall's pages to the market's shelves: held, until a
person says what is right."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.catalogue import renewing
from bobusang.flows.conveyor import reporting
from bobusang.flows.conveyor.model import Mode
from bobusang.flows.conveyor.registering import Registering, renewed
from bobusang.kit import json
from bobusang.kit.errors import Conflict
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts
from bobusang.stages.register.deciding import Outdated
from bobusang.stages.register.model import Policy
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import ENDLESS, NAME, Shop
from tests.integration.flows.selling import NO_DOUBLES, OKMALL, doubles
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.flows.catalogue.renewing import Relabeled, Renewed

pytestmark = pytest.mark.timeout(240)
POLICY = Policy(budget=ENDLESS, patience=timedelta(seconds=1), sends=40)
MULTI = 99
"""What a colour is told as that nobody names."""
LISTINGS = """
    select l.reference, l.market_id, l.state, l.retired, l.closed_why, l.sku from listings l
    where l.product_id = :id order by l.id"""
CALLS = """
    select l.retired, c.kind, c.run_id, c.state, c.created_at, c.confirmed_at from market_calls c
      join listings l on l.id = c.listing_id where l.product_id = :id order by c.id"""
CONVERSION = "select generation, state, reasons, data from conversions where product_id = :id"


@dataclass(frozen=True)
class Stall:
    """A shop with a brand listed, and one of its products that has a choice of colours and of sizes."""

    shop: Shop
    id: int
    key: str
    item: dict[str, Any]

    async def sells(self, **how: Any) -> None:
        """Have the mall write it otherwise, on a page that is read again."""
        await self.shop.door.override("okmall", self.key, price=self.item["price"] + 10, **how)

    async def loses_colours(self) -> None:
        """Have the mall offer no choice of colours any more."""
        await self.sells(spelled={option["color"]: "FREE" for option in self.item["options"]})

    async def run(self, mode: Mode = Mode.FULL) -> str:
        batch = await self.shop.start(mode, [OKMALL])
        assert await self.shop.ended(batch) == "COMPLETED"
        return batch

    async def held(self) -> set[str]:
        [row] = await self.shop.yard.rows(CONVERSION, id=self.id)
        return {one["why"] for one in json.loads(row["reasons"])} if row["state"] == "HELD" else set()

    async def renew(self, why: str = "by size now") -> Renewed:
        return await self.shop.yard.db.transact(lambda tx: renewing.renew(tx, "buyma", self.id, "kim", why))

    async def relabel(self) -> Relabeled:
        return await self.shop.yard.db.transact(lambda tx: renewing.relabel(tx, "buyma", self.id, "kim", "I looked"))

    async def listings(self) -> list[dict[str, Any]]:
        return await self.shop.yard.rows(LISTINGS, id=self.id)

    async def states(self) -> list[tuple[str, bool]]:
        return [(row["state"], row["retired"] != 0) for row in await self.listings()]

    async def until(self, *states: tuple[str, bool]) -> None:
        async with asyncio.timeout(60):
            while await self.states() != list(states):  # noqa: ASYNC110  (tables tell nobody)
                await asyncio.sleep(0.05)

    async def shelf(self) -> dict[str, dict[str, Any]]:
        """What the market has of it, by our reference."""
        mine = {row["reference"] for row in await self.listings()}
        return {
            one["reference"]: one for one in (await self.shop.door.market())["listings"] if one["reference"] in mine
        }

    async def stocks(self) -> dict[tuple[str, ...], str]:
        """What the market has of it, by the words of its options."""
        [one] = (await self.shelf()).values()
        return {tuple(option["value"] for option in cell["options"]): cell["stock_type"] for cell in one["variants"]}


@asynccontextmanager
async def opened(home: Path, database_url: str) -> AsyncIterator[Stall]:
    said: dict[str, Any] = {
        "world": World(seed=5, size=12, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "call_seconds": 2.0,
        "unknown_color": MULTI,
    }
    async with Shop.opened(home, policy=POLICY, database_url=database_url, **said) as shop:
        visit(shop.yard.app, {"okmall": Visiting(rate=200.0, burst=16.0, concurrency=8)})
        async with shop.yard.working():
            assert await shop.run(Mode.FULL, [OKMALL]) == "COMPLETED"
        live = await shop.yard.rows("select product_id, sku from listings where state = 'LIVE' order by id")
        ids = {row["sku"].removeprefix("okmall-"): row["product_id"] for row in live}
        items = (await shop.door.truth("okmall", brand=OKMALL.name))["items"]
        item = next(one for one in items if one["key"] in ids and _has_both(one))
        yield Stall(shop, ids[item["key"]], item["key"], item)


def _has_both(item: dict[str, Any]) -> bool:
    """Whether there is a choice of colours and of sizes."""
    return all(len({option[axis] for option in item["options"]}) > 1 for axis in ("color", "size"))


@pytest.fixture
async def stall(tmp_path: Path, database_url: str) -> AsyncIterator[Stall]:
    async with opened(tmp_path, database_url) as found:
        yield found


@pytest.fixture
async def embedded(tmp_path: Path, empty_sqlite: str) -> AsyncIterator[Stall]:
    async with opened(tmp_path, empty_sqlite) as found:
        yield found


async def test_a_product_whose_axes_changed_is_closed_and_listed_anew_once_the_market_has_closed_it(
    stall: Stall,
) -> None:
    shop = stall.shop
    [first] = await stall.listings()
    before = await stall.shelf()
    await stall.loses_colours()
    async with shop.yard.working():
        await stall.run()
        assert await stall.held() == {"axes_changed"}
        assert await stall.shelf() == before

        done = await stall.renew()
        again = await stall.renew()
        assert (done.generation, done.listings, done.again) == (2, 1, False)
        assert (again.generation, again.listings, again.again) == (2, 0, True)
        assert await stall.held() == {"decided"}
        await stall.until(("SUSPENDED", True))
        await stall.run(Mode.PARTIAL)
        assert await stall.states() == [("SUSPENDED", True)]
        await stall.run()

    old, new = await stall.listings()
    assert {name: old[name] for name in ("reference", "market_id", "closed_why")} == {
        "reference": first["reference"],
        "market_id": first["market_id"],
        "closed_why": "by size now",
    }
    assert (new["state"], new["retired"], new["closed_why"]) == ("LIVE", 0, None)
    shelf = await stall.shelf()
    assert [shelf[row["reference"]]["status"] for row in (old, new)] == ["buyer_suspended", "public"]
    sizes = {option["size"] for option in stall.item["options"]}
    assert len(shelf[new["reference"]]["variants"]) == len(sizes) < len(before[first["reference"]]["variants"])
    created, closed, anew = await shop.yard.rows(CALLS, id=stall.id)
    assert [(one["kind"], bool(one["retired"]), one["state"]) for one in (created, closed, anew)] == [
        ("CREATE", True, "CONFIRMED"),
        ("CLOSE", True, "CONFIRMED"),
        ("CREATE", False, "CONFIRMED"),
    ]
    assert closed["run_id"] == "person"
    assert closed["confirmed_at"] <= anew["created_at"]
    assert await doubles(shop.door) == NO_DOUBLES
    acts = await shop.yard.rows("select actor, action, before_data from audit_log where action = 'product.renew'")
    assert [(one["actor"], json.loads(one["before_data"])) for one in acts] == [
        ("kim", {"generation": 1, "listings": [first["market_id"]]})
    ]
    with pytest.raises(Conflict, match="nothing says that okmall-"):
        await stall.renew()


async def test_while_nobody_knows_that_the_old_one_is_closed_the_new_one_is_not_made(stall: Stall) -> None:
    """Whoever was told of it dies, the market's word is lost, and the next process finds all as it was."""
    shop, hooks = stall.shop, f"{stall.shop.url}/webhooks/buyma/{NAME}"
    await stall.loses_colours()
    async with shop.yard.working():
        await stall.run()
    await stall.renew()
    assert await stall.states() == [("LIVE", True)]

    await shop.door.account(webhook_url=f"{shop.url}/nowhere")
    async with shop.yard.working():
        batch = await stall.run()
    assert await stall.states() == [("LIVE", True), ("NEW", False)]
    async with shop.yard.db.read() as tx:
        told = [one.error for one in (await reporting.causes(tx, batch)).left_out]
    [number] = [row["market_id"] for row in await stall.listings() if row["retired"]]
    why = f"its retired listing {number} is LIVE at the market: it is listed anew once that one is closed there"
    assert why in told
    assert len(await stall.shelf()) == 1

    await shop.door.account(webhook_url=hooks)
    async with shop.yard.working():
        await stall.until(("SUSPENDED", True), ("NEW", False))
        await stall.run()
    assert await stall.states() == [("SUSPENDED", True), ("LIVE", False)]
    assert await doubles(shop.door) == NO_DOUBLES


async def test_what_was_planned_of_a_product_before_it_began_anew_is_not_sent(stall: Stall) -> None:
    """A REGISTER that knows it as it was, and a person who is quicker."""
    shop = stall.shop
    await stall.loses_colours()
    async with shop.yard.working():
        await stall.run()
        await stall.renew()
        await stall.until(("SUSPENDED", True))
    belt = shop.yard.app.belt
    wanted = replace(WANTED, product_id=stall.id, sku=f"okmall-{stall.key}")

    async def planned(generation: int) -> Any:
        async with shop.yard.db.read() as tx:
            account = await accounts.named(tx, "buyma", NAME)
        work = Registering(belt)._planned
        [one] = await shop.yard.db.transact(lambda tx: work(tx, account, "r1", [wanted], {stall.id: generation}))
        return one.decision

    assert await planned(1) == Outdated(renewed(wanted).outdated)
    assert not isinstance(await planned(2), Outdated)


async def test_codes_of_which_a_person_says_that_they_mean_what_they_say_are_believed_at_once(embedded: Stall) -> None:
    """The mall gives the S the code of the M and the M that of the S; then the S sells out."""
    shop, sizes = embedded.shop, sorted({option["size"] for option in embedded.item["options"]})[:2]
    swapped = dict(zip(sizes, reversed(sizes), strict=True))
    every = {option["code"]: 5 for option in embedded.item["options"]}
    await embedded.sells(stocks=every)
    async with shop.yard.working():
        await embedded.run()
        before = await embedded.stocks()
        await shop.door.override(
            "okmall", embedded.key, price=embedded.item["price"] + 20, spelled=swapped, stocks=every
        )
        await embedded.run()
        assert await embedded.held() == {"option_relabeled"}
        assert await embedded.stocks() == before

        done, again = await embedded.relabel(), await embedded.relabel()
        assert (bool(done.told), again.told, again.again) == (True, "", True)
        assert f"{sizes[1]}', was '" in done.told
        # What the mall calls by the first size now has the codes of the second.
        gone = {one["code"]: 0 for one in embedded.item["options"] if one["size"] == sizes[1]}
        await shop.door.override(
            "okmall", embedded.key, price=embedded.item["price"] + 30, spelled=swapped, stocks=every | gone
        )
        await embedded.run(Mode.PARTIAL)
        out = {words for words, stock in (await embedded.stocks()).items() if before[words] != stock}
        assert out
        assert {stock for words, stock in (await embedded.stocks()).items() if words in out} == {"out_of_stock"}
        assert {words[-1] for words in out} == {sizes[0]}
        await embedded.run()

    assert await embedded.held() == set()
    assert await embedded.states() == [("LIVE", False)]
    [row] = await shop.yard.rows(CONVERSION, id=embedded.id)
    assert row["generation"] == 1
    with pytest.raises(Conflict, match="is not held as option_relabeled"):
        await embedded.relabel()


async def test_names_that_changed_again_since_they_were_shown_are_not_what_a_person_agreed_to(embedded: Stall) -> None:
    shop, sizes = embedded.shop, sorted({option["size"] for option in embedded.item["options"]})
    await embedded.sells(spelled=dict(zip(sizes[:2], reversed(sizes[:2]), strict=True)))
    async with shop.yard.working():
        await embedded.run()
        await shop.door.override("okmall", embedded.key, price=embedded.item["price"] + 20)
        await embedded.run(Mode.PARTIAL)
    before = await shop.yard.rows(CONVERSION, id=embedded.id)

    with pytest.raises(Conflict, match=r"calls the options of okmall-.* otherwise by now"):
        await embedded.relabel()
    assert await shop.yard.rows(CONVERSION, id=embedded.id) == before
