"""Relays that die, stall, or run side by side: nothing is lost, and an effect in the database happens once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.sql import Bulk, Statement
from bobusang.platform import deliveries
from bobusang.platform.bus import Delivered, Event, Patience, publish
from bobusang.platform.buses.inprocess import ConsumeInTx, InProcess
from bobusang.platform.relay import Relay
from tests.integration.platform.conftest import effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database, Tx
    from tests.integration.platform.manual import ManualClock

EFFECT = Bulk(effects, ("event_id", "event_key"))
EFFECTS = Statement("select event_id, event_key from effects order by id")
OFTEN = Patience(base=0.001, cap=0.001, attempts=1000)


async def write_effect(tx: Tx, events: Sequence[Event]) -> None:
    await tx.insert(EFFECT, [(event.id, event.key) for event in events])


async def published(db: Database, *events: Event) -> None:
    async with db.begin() as tx:
        await publish(tx, *events)


async def effects_by_key(db: Database) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    async with db.read() as tx:
        for row in await tx.fetch(EFFECTS):
            found.setdefault(row["event_key"], []).append(row["event_id"])
    return found


async def relay_with(db: Database, consume: ConsumeInTx = write_effect) -> Relay:
    bus = InProcess()
    bus.subscribe_in_tx("effects", "*", consume, patience=OFTEN)
    await bus.install(db)
    return Relay(db, [bus], lease=timedelta(seconds=60))


async def test_two_relays_at_once_make_every_effect_once_and_in_order(
    db: Database, other_db: Database, clock: ManualClock
) -> None:
    chance = random.Random(7)
    keys = [f"key{number}" for number in range(12)]

    async def moody(tx: Tx, events: Sequence[Event]) -> None:
        await write_effect(tx, events)
        if chance.random() < 0.2:
            raise ValueError("a bad moment, after the effect was written")

    first, second = await relay_with(db, moody), await relay_with(other_db, moody)
    for _ in range(10):
        await published(db, *(Event("t", chance.choice(keys), None) for _ in range(30)))

    async def drain(relay: Relay) -> None:
        while await relay.due() is not None:
            await relay.step(25)
            clock.advance(seconds=1)

    await asyncio.gather(drain(first), drain(second))
    found = await effects_by_key(db)
    assert sum(len(ids) for ids in found.values()) == 300
    assert all(ids == sorted(set(ids)) for ids in found.values())


async def test_a_relay_killed_in_the_middle_loses_nothing_and_leaves_no_half_effect(
    db: Database, clock: ManualClock
) -> None:
    reached, never = asyncio.Event(), asyncio.Event()

    async def stuck(tx: Tx, events: Sequence[Event]) -> None:
        await write_effect(tx, events)
        reached.set()
        await never.wait()

    relay = await relay_with(db, stuck)
    await published(db, *(Event("t", f"key{n % 3}", n) for n in range(9)))
    killed = asyncio.create_task(relay.step())
    await reached.wait()
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed

    heir = await relay_with(db)
    assert await heir.step() == 0  # the lease of the dead still runs
    due = await heir.due()
    assert due == clock.now() + timedelta(seconds=60)
    clock.advance(seconds=60)
    assert await heir.step() == 9
    found = await effects_by_key(db)
    assert Counter(id for ids in found.values() for id in ids).most_common(1)[0][1] == 1
    assert {key: len(ids) for key, ids in found.items()} == {"key0": 3, "key1": 3, "key2": 3}


async def test_a_relay_that_lost_its_lease_changes_nothing(db: Database, clock: ManualClock) -> None:
    relay = await relay_with(db)
    await published(db, Event("t", "k", 1), Event("t", "k", 2))
    await relay._route(10)
    async with db.begin() as tx:
        stale = await deliveries.claim(tx, 1, limit=10, lease=timedelta(seconds=60))
    assert stale is not None

    clock.advance(seconds=61)
    async with db.begin() as tx:
        heir = await deliveries.claim(tx, 1, limit=10, lease=timedelta(seconds=60))
    assert heir is not None
    assert heir.events == stale.events

    async def too_late() -> None:
        async with db.begin() as tx:
            await write_effect(tx, stale.events)
            await deliveries.delivered(tx, stale, stale.events)

    with pytest.raises(deliveries.Lost):
        await too_late()
    async with db.begin() as tx:
        settled = await deliveries.settle(tx, stale, [Delivered(), Delivered()], OFTEN)
    assert settled.delivered == []
    async with db.begin() as tx:
        await write_effect(tx, heir.events)
        await deliveries.delivered(tx, heir, heir.events)
    with pytest.raises(deliveries.Lost):
        await too_late()
    assert await effects_by_key(db) == {"k": [event.id for event in heir.events]}


async def test_relays_killed_again_and_again_still_deliver_everything_once(db: Database, clock: ManualClock) -> None:
    """Cancelled at ever later points: in routing, claiming, the effect, and settling."""
    relay = await relay_with(db)
    await published(db, *(Event("t", f"key{n % 5}", n) for n in range(50)))
    patience = 0
    while await relay.due() is not None:
        step = asyncio.create_task(relay.step(7))
        for _ in range(patience):
            await asyncio.sleep(0)  # one turn of the loop, not a wait
        step.cancel()
        await asyncio.gather(step, return_exceptions=True)
        patience += 3
        clock.advance(seconds=61)
    found = await effects_by_key(db)
    assert sum(len(ids) for ids in found.values()) == 50
    assert all(ids == sorted(set(ids)) for ids in found.values())


async def test_ids_of_old_events_are_never_given_again(db: Database) -> None:
    """An emptied SQLite table without AUTOINCREMENT begins at 1 again, and subscribers drop ids they have seen."""
    relay = await relay_with(db)
    for _ in range(3):
        await published(db, Event("t", "k", 1))
        assert await relay.step() == 1
    ids = (await effects_by_key(db))["k"]
    assert ids == sorted(set(ids))
