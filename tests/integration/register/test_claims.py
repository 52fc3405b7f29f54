"""Of goods that two malls have one is on sale, whoever plans when; the other takes over when the first is not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.stages.register import holds
from bobusang.stages.register.deciding import Chosen, Stopped
from bobusang.stages.register.diffing import Idle
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.model import Policy, Stock
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED, stocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database
    from bobusang.stages.register.claims import Tried
    from bobusang.stages.register.model import Wanted
    from bobusang.stages.register.planning import Planned
    from bobusang.stages.register.service import Preview

OURS = replace(WANTED, product_id=1, sku="okmall-1", mall="okmall", goods="4047 AB1234")
COLOR = replace(OURS, product_id=2, sku="okmall-2")
THEIRS = replace(OURS, product_id=3, sku="mustit-3", mall="mustit")
UNTOLD = replace(THEIRS, product_id=4, sku="mustit-4", goods="")
CLAIMS = "select account_id, goods, product_id, mall from listing_claims order by account_id, goods"


def out(wanted: Wanted) -> Wanted:
    return replace(wanted, variants=stocks(Stock.OUT))


def became(planned: Sequence[Planned | Preview]) -> list[str]:
    """In a word for each: what is sent, or why not."""
    found = []
    for one in planned:
        match one.decision:
            case Chosen(step):
                found.append(step.kind.value)
            case Stopped(trip):
                found.append(trip.reason)
            case Idle(reason):
                found.append(reason)
            case other:
                found.append(type(other).__name__)
    return found


async def gone(desk: Desk, *wanteds: Wanted) -> list[str]:
    """Plan, send, and let the market say yes."""
    planned = await desk.plan(*wanteds)
    await desk.send([one.outgoing for one in planned if one.outgoing is not None])
    await desk.told()
    return became(planned)


def claim(desk: Desk, wanted: Wanted) -> dict[str, object]:
    return {
        "account_id": desk.account.id,
        "goods": wanted.goods,
        "product_id": wanted.product_id,
        "mall": wanted.mall,
    }


async def test_the_second_malls_is_held_until_the_first_is_off_sale_and_then_the_other_way_round(db: Database) -> None:
    desk = await Desk.opened(db)

    # Several of one mall are its colours: a mall is not compared with itself.
    assert await gone(desk, OURS, COLOR, THEIRS, UNTOLD) == [
        "CREATE",
        "CREATE",
        "same goods as okmall-1 of okmall",
        "CREATE",
    ]
    assert await gone(desk, THEIRS) == ["same goods as okmall-1 of okmall"]
    assert await desk.rows(CLAIMS) == [claim(desk, OURS)]
    async with db.read() as tx:
        [hold] = await holds.pick(tx, desk.account.id)
        preview = await desk.register.preview(tx, desk.account, [THEIRS])
    assert (hold.guard, hold.reason, hold.times) == (Guard.SAME_GOODS, "same goods as okmall-1 of okmall", 2)
    assert [one.decision.trip for one in preview if isinstance(one.decision, Stopped)] == [
        Trip(Guard.SAME_GOODS, hold.reason)
    ]

    planned = await desk.plan(out(OURS))
    assert await gone(desk, THEIRS) == ["same goods as okmall-1 of okmall"], (
        "it is not off sale until the market says so"
    )
    await desk.send([one.outgoing for one in planned if one.outgoing is not None])
    await desk.told()
    assert await gone(desk, THEIRS) == ["CREATE"]
    assert await desk.rows(CLAIMS) == [claim(desk, THEIRS)]
    assert await gone(desk, OURS) == ["same goods as mustit-3 of mustit"]

    assert await gone(desk, out(THEIRS)) == ["CLOSE"]
    assert await gone(desk, OURS, THEIRS) == ["REVIVE", "same goods as okmall-1 of okmall"]
    assert await desk.rows(CLAIMS) == [claim(desk, OURS)]


async def test_two_that_plan_at_once_list_one(db: Database, other: Database) -> None:
    desk = await Desk.opened(db)

    found = await asyncio.gather(
        *(
            one.transact(lambda tx, wanted=wanted: desk.register.plan(tx, desk.account, "r1", [wanted]))  # type: ignore[misc]
            for one, wanted in ((db, OURS), (other, THEIRS))
        )
    )

    words = sorted(word for planned in found for word in became(planned))
    assert words[0] == "CREATE"
    assert words[1] in ("same goods as okmall-1 of okmall", "same goods as mustit-3 of mustit")
    assert len(await desk.rows(CLAIMS)) == 1


async def test_an_account_that_may_or_a_person_who_agrees_lists_both(db: Database) -> None:
    free = await Desk.opened(db, Policy(doubles=True), "free")
    desk = await Desk.opened(db)

    assert await gone(free, OURS, THEIRS) == ["CREATE", "CREATE"]
    assert await gone(desk, OURS, THEIRS) == ["CREATE", "same goods as okmall-1 of okmall"]
    async with db.read() as tx:
        [hold] = await holds.pick(tx, desk.account.id)
    await db.transact(lambda tx: desk.register.decide_hold(tx, hold.id, approve=True, who="owner"))
    assert await gone(desk, THEIRS) == ["CREATE"]
    assert await desk.rows(CLAIMS) == [claim(desk, OURS)]


async def test_a_model_number_that_was_mended_gives_its_goods_back(db: Database) -> None:
    desk = await Desk.opened(db)
    mended = replace(OURS, goods="4047 AB9999", comments="mended")

    assert await gone(desk, OURS) == ["CREATE"]
    assert await gone(desk, mended) == ["EDIT"]
    assert await desk.rows(CLAIMS) == [claim(desk, mended)]
    assert await gone(desk, THEIRS) == ["CREATE"]
    assert await desk.rows(CLAIMS) == [claim(desk, THEIRS), claim(desk, mended)]


async def test_a_preview_that_comes_part_by_part_shows_one_mall_as_the_run_sends_one(db: Database) -> None:
    desk = await Desk.opened(db)
    await gone(desk, UNTOLD)
    parts, shown = ([OURS], [COLOR, THEIRS], [THEIRS, UNTOLD]), []
    tried: Tried = {}
    for part in parts:
        async with db.read() as tx:
            shown += became(await desk.register.preview(tx, desk.account, part, tried))
    sent = [one for part in parts for one in became(await desk.plan(*part))]

    held = "same goods as okmall-1 of okmall"
    assert (shown, sent) == (["CREATE", "CREATE", held, held, "as confirmed"], shown)
