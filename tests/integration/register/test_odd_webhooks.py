"""Whatever a genuine webhook says, it stops no other: what cannot be read or kept is shown with why."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.flows.market.inbox import apply
from bobusang.flows.market.resending import resent
from bobusang.kit.errors import Unavailable
from bobusang.kit.money import yen
from bobusang.stages.register.service import Register
from tests.integration.register.test_register import PATIENCE, coats, listed
from tests.unit.connectors.markets.test_buyma import changed, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Database
    from bobusang.stages.register.market import Notice
    from bobusang.stages.register.model import Draft
    from bobusang.testing.clock import ManualClock
    from tests.integration.register.desk import Desk

ODD: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 2**70, "", "x", "a\0b", "9" * 200, [], ["x"], {}, {"type": []}, [[{}]]),
    *("0001-01-01T00:00:00", "9999-12-31 23:59:59 -0900", "9999-12-31 23:59:59 +0900"),
)
INBOX = "select state, note from webhook_inbox order by id"
TRIPS = {
    "reading": "nobody can read it: KeyError('odd')",
    "applying": "it cannot take effect: KeyError('odd')",
    "keeping": "it cannot take effect: Invalid(",
}


class Careless(Buyma):
    """A market whose reader does not look closely: what its webhooks call odd it trips over, each time elsewhere."""

    def notice(self, headers: Mapping[str, str], body: bytes) -> Notice:
        if b"reading" in body:
            raise KeyError("odd")
        return super().notice(headers, body)

    def corrected(self, draft: Draft, stands: Mapping[str, Any]) -> Draft:
        match stands["comments"]:
            case "applying":
                raise KeyError("odd")
            case "keeping":
                return msgspec.structs.replace(draft, name="\ud800")
            case "away":
                raise Unavailable("the database went away")
        return super().corrected(draft, stands)


async def at_work(desk: Desk) -> int:
    """The duty that applies what has come; how many listings moved."""
    return await apply(desk.db, desk.register).run()


async def test_no_field_of_a_webhook_can_stop_the_next_one(db: Database) -> None:
    desk = await listed(db)
    real = desk.shop.said(100)
    ticks = count(1)
    for way in places(real):
        for odd in ODD:
            second = f"2026-03-02 03:{next(ticks) // 60 % 60:02}:{next(ticks) % 60:02} +0900"
            await desk.receive([desk.shop.hook("product/update", changed(real | {"updated_at": second}, way, odd))])
    await at_work(desk)
    desk.shop.ticks = 5 * 3600
    await desk.go(replace(coats(1)[0], price=yen(23_000)), run="r2")
    moved = await desk.told()

    assert await desk.rows("select id from webhook_inbox where state = 'RECEIVED'") == []
    trouble = "note like 'it cannot take effect%' or note like 'nobody can read it%'"
    assert await desk.rows(f"select note, body from webhook_inbox where {trouble}") == []
    assert [one.price for one in moved] == [23_000]


@pytest.mark.parametrize("trip", TRIPS)
async def test_what_trips_its_reader_is_shown_and_the_others_take_effect(db: Database, trip: str) -> None:
    desk = await listed(db, 3)
    desk.register = Register(Careless(desk.shop, "http://shop"), db.clock, desk.register.secret)
    before = await desk.rows("select state, confirmed from listings where market_id = '100'")
    await desk.go(*(replace(coat, price=yen(23_000)) for coat in coats(3)[1:]))
    odd = desk.shop.hook("product/update", desk.shop.said(100) | {"comments": trip})
    await desk.receive([odd, *desk.shop.work()])

    assert await at_work(desk) == 2
    shown, *others = (await desk.rows(INBOX))[3:]
    assert (shown["state"], shown["note"].startswith(TRIPS[trip])) == ("UNREADABLE", True)
    assert others == [{"state": "APPLIED", "note": ""}] * 2
    assert await desk.rows("select state, confirmed from listings where market_id = '100'") == before
    assert await desk.rows("select distinct state from market_calls") == [{"state": "CONFIRMED"}]


async def test_an_odd_webhook_keeps_no_call_from_being_sent_again(db: Database, clock: ManualClock) -> None:
    desk = await listed(db, 2)
    desk.register = Register(Careless(desk.shop, "http://shop"), db.clock, desk.register.secret)
    await desk.go(replace(coats(2)[1], price=yen(23_000)))
    desk.shop.work()  # whose webhook is lost
    await desk.receive([desk.shop.hook("product/update", desk.shop.said(100) | {"comments": "applying"})])
    clock.advance(seconds=PATIENCE.total_seconds())

    assert await resent(db, desk.register, desk.account) == 1


async def test_while_the_database_is_in_trouble_no_webhook_is_given_up(db: Database) -> None:
    desk = await listed(db)
    desk.register = Register(Careless(desk.shop, "http://shop"), db.clock, desk.register.secret)
    await desk.receive([desk.shop.hook("product/update", desk.shop.said(100) | {"comments": "away"})])

    assert await at_work(desk) == 0
    assert [row["state"] for row in await desk.rows(INBOX)] == ["APPLIED", "RECEIVED"]
