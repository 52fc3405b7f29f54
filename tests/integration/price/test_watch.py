"""Other offers: a failed search is not an empty one, and models are searched as often as they move."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.money import Money, yen
from bobusang.stages.price import watch
from bobusang.stages.price.model import Offer, Rival, Search
from bobusang.stages.price.rivals import Own
from bobusang.stages.price.watch import Market, Searched
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

BUYMA = Market("buyma", "JPY", Own(("Bobusang",)))


def offer(price: int, seller: str = "other") -> Offer:
    return Offer(yen(price), yen(500), seller, model="AB-123", title="コート AB-123")


FOUND = Rival(Search.FOUND, yen(40_500), "other", "コート AB-123", 2, 1, NOON)


async def test_what_a_search_showed_outlives_one_that_failed(db: Database, clock: ManualClock) -> None:
    async with db.begin() as tx:
        assert await watch.follow(tx, BUYMA, ["AB-123", "ab 123", ""]) == 1
        assert await watch.rivals(tx, "buyma", ["AB123", "", "X"]) == {"AB123": Rival(Search.NEVER)}
        shown = await watch.record(tx, BUYMA, [Searched("AB-123", (offer(40_000), offer(30_000, "bobusang")))])
    assert shown == {"AB123": FOUND}

    clock.advance(hours=1)
    async with db.begin() as tx:
        failed = await watch.record(tx, BUYMA, [Searched("AB-123", None)])
    assert failed == {"AB123": Rival(Search.FAILED, yen(40_500), "other", "コート AB-123", 2, 1, NOON)}

    later = clock.advance(hours=1)
    async with db.begin() as tx:
        empty = await watch.record(tx, BUYMA, [Searched("AB-123", ())])
    assert empty == {"AB123": Rival(Search.EMPTY, found_at=later)}


STRANGE = replace(offer(30_000), model="", title="コート")
USED = replace(offer(20_000), is_used=True)


@pytest.mark.parametrize(
    ("shown", "search"),
    [
        ((), Search.EMPTY),
        ((offer(30_000, "bobusang"), USED), Search.EMPTY),
        ((STRANGE,), Search.UNCLEAR),
        ((offer(30_000, "bobusang"), USED, STRANGE), Search.UNCLEAR),
        ((replace(offer(30_000), price=Money(100, "USD")),), Search.UNCLEAR),
    ],
)
async def test_what_cannot_be_compared_is_not_nobody(
    db: Database, clock: ManualClock, shown: tuple[Offer, ...], search: Search
) -> None:
    """It is looked at again as seldom as any search that succeeded: the market would show the same."""
    async with db.begin() as tx:
        found = await watch.record(tx, BUYMA, [Searched("AB-123", shown, yen(40_000))])
    clock.advance(minutes=101)  # 120 minutes and at most 15 % less
    async with db.begin() as tx:
        assert await watch.due(tx, "buyma", limit=1) == []

    assert found == {"AB123": Rival(search, offers=len(shown), found_at=NOON)}


async def test_models_are_due_again_sooner_when_our_place_is_lost(db: Database, clock: ManualClock) -> None:
    def searches(rival: int) -> list[Searched]:
        kept, lost = Searched("KEPT", (), yen(40_000)), Searched("AB-123", (offer(rival),), yen(40_000))
        return [kept, lost]

    async with db.begin() as tx:
        await watch.follow(tx, BUYMA, ["KEPT", "AB123"])
        assert await watch.due(tx, "buyma", limit=10) == ["AB123", "KEPT"]
        assert await watch.due(tx, "buyma", limit=1) == ["AB123"]
        assert await watch.due(tx, "other", limit=1) == []
        await watch.record(tx, BUYMA, searches(30_000))
        assert await watch.due(tx, "buyma", limit=10) == []

    clock.advance(minutes=35)  # 30 minutes and at most 15 % more
    async with db.begin() as tx:
        assert await watch.due(tx, "buyma", limit=10) == ["AB123"]
    clock.advance(minutes=104)
    async with db.begin() as tx:
        assert await watch.due(tx, "buyma", limit=10) == ["AB123", "KEPT"]


async def test_a_search_that_fails_is_not_repeated_at_once(db: Database, clock: ManualClock) -> None:
    async with db.begin() as tx:
        await watch.record(tx, BUYMA, [Searched("AB-123", None)])
        assert await watch.due(tx, "buyma", limit=1) == []
        assert await watch.rivals(tx, "buyma", ["AB-123"]) == {"AB123": Rival(Search.FAILED)}
    clock.advance(seconds=timedelta(minutes=69).total_seconds())
    async with db.begin() as tx:
        assert await watch.due(tx, "buyma", limit=1) == ["AB123"]
