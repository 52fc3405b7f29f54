"""The identity pools on all three databases: leases, fencing, conservation, and what is shown of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Dialect, Statement
from bobusang.stages.collect import identities, roster
from bobusang.stages.collect.policy import IdentityKind
from bobusang.stages.collect.responses import Tally
from bobusang.stages.collect.roster import Shown
from bobusang.stages.collect.sessions import session_of
from bobusang.stages.collect.tables import IdentityState
from bobusang.testing.clock import NOON
from tests.integration.collect.gating import (
    AGENT,
    MINUTE,
    MUSTIT,
    OK,
    REFUSED,
    THROTTLED,
    asked,
    called,
    enabled,
    gate,
    session_page,
)
from tests.integration.collect.pool_machine import explore

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.stages.collect.identities import Lease
    from bobusang.testing.clock import ManualClock

EXAMPLES = {Dialect.SQLITE: 25, Dialect.POSTGRES: 5, Dialect.MARIADB: 5}


async def leased(db: Database, calls: int = 1, by: str = "worker-1") -> list[Lease]:
    return await db.transact(lambda tx: identities.lease(tx, "mall", MUSTIT, by=by, calls=calls))


async def shown(db: Database) -> list[Shown]:
    async with db.read() as tx:
        return await roster.show(tx, "mall")


async def test_a_pool_is_made_once_and_another_user_agent_ends_the_session(db: Database) -> None:
    await enabled(db, "mall", MUSTIT)
    await enabled(db, "mall", MUSTIT)
    lease = (await leased(db))[0]
    async with db.begin() as tx:
        await identities.keep_session(tx, lease, MUSTIT, session_of(MUSTIT, session_page(), NOON))
        await identities.release(tx, lease, MUSTIT, Tally())

    named = replace(MUSTIT, identity=replace(MUSTIT.identity, size=3, user_agents=("A", "B")))
    async with db.begin() as tx:
        await identities.ensure(tx, "mall", named, AGENT)

    assert [(one.place, one.user_agent, one.has_session) for one in await shown(db)] == [
        (0, "A", False),
        (1, "B", False),
        (2, "A", False),
    ]


async def test_a_lease_that_ran_out_is_taken_over_and_its_late_holder_changes_nothing(
    db: Database, other: Database, clock: ManualClock
) -> None:
    one = replace(MUSTIT, identity=replace(MUSTIT.identity, size=1))
    await enabled(db, "mall", one)
    old = (await db.transact(lambda tx: identities.lease(tx, "mall", one, by="dead", calls=1)))[0]
    assert await other.transact(lambda tx: identities.lease(tx, "mall", one, by="heir", calls=1)) == []

    clock.advance(minutes=10)
    new = (await other.transact(lambda tx: identities.lease(tx, "mall", one, by="heir", calls=1)))[0]
    async with db.begin() as tx:
        late = await identities.release(tx, old, one, Tally(calls=1, throttled=1))
    with pytest.raises(Conflict, match="ran out and was taken over"):
        async with db.begin() as tx:
            await identities.keep_session(tx, old, one, session_of(one, session_page(), NOON))

    assert (old.number, new.number, late) == (1, 2, False)
    assert [(found.state, found.leased_by, found.throttles) for found in await shown(db)] == [
        (IdentityState.ACTIVE, "heir", 0)
    ]
    async with db.begin() as tx:
        assert await identities.release(tx, new, one, Tally())


async def test_what_a_dead_worker_had_leased_is_free_at_once_and_the_others_keep_theirs(
    db: Database, other: Database
) -> None:
    two = replace(MUSTIT, identity=replace(MUSTIT.identity, size=2))
    await enabled(db, "mall", two)
    [old] = await db.transact(lambda tx: identities.lease(tx, "mall", two, by="dead", calls=1))
    [kept] = await other.transact(lambda tx: identities.lease(tx, "mall", two, by="alive", calls=1))

    await db.transact(lambda tx: identities.free(tx, ["dead", "buried"]))
    [new] = await other.transact(lambda tx: identities.lease(tx, "mall", two, by="heir", calls=1))
    async with db.begin() as tx:
        late = await identities.release(tx, old, two, Tally(calls=1, throttled=1))

    assert (new.identity, new.number, late) == (old.identity, old.number + 1, False)
    assert {found.leased_by for found in await shown(db)} == {"heir", "alive"}
    assert kept.identity != new.identity


async def test_many_who_lease_at_once_never_get_the_same(db: Database, other: Database) -> None:
    pool = replace(MUSTIT, identity=replace(MUSTIT.identity, size=6))
    await enabled(db, "mall", pool)

    found = await asyncio.gather(
        *(
            place.transact(lambda tx: identities.lease(tx, "mall", pool, by="w", calls=1))
            for _ in range(5)
            for place in (db, other)
        )
    )

    taken = [lease.identity for leases in found for lease in leases]
    assert sorted(taken) == [one.id for one in await shown(db)]


async def test_a_429_discards_the_session_and_rests_longer_each_time_until_it_is_forgiven(
    db: Database, clock: ManualClock
) -> None:
    one = replace(MUSTIT, identity=replace(MUSTIT.identity, size=1))
    await enabled(db, "mall", one)
    door = gate(db)
    rests = []
    for pause in (timedelta(0), timedelta(0), timedelta(hours=1)):
        clock.advance(seconds=pause.total_seconds())
        go = await asked(door, one)
        ready = await door.issued(one, go.leases[0], session_page())
        await door.settle(one, go, [(ready, THROTTLED)])
        [now] = await shown(db)
        assert (now.state, now.has_session, now.rest_until is None) == (IdentityState.DISABLED, False, False)
        assert now.rest_until
        rests.append(now.rest_until - clock.now())
        clock.set(now.rest_until)
        assert [found.state for found in await shown(db)] == [IdentityState.RECOVERED]
        clock.advance(minutes=2)  # its bucket was emptied, for they said so

    assert rests == [MINUTE, 2 * MINUTE, MINUTE]
    async with db.begin() as tx:
        assert await identities.awaken(tx) == 1
        stored = await tx.value(Statement("select state as value from crawl_agents"))
    assert stored == "RECOVERED"


async def test_a_401_renews_and_a_new_session_that_is_refused_rests(db: Database, clock: ManualClock) -> None:
    one = replace(MUSTIT, identity=replace(MUSTIT.identity, size=1))
    await enabled(db, "mall", one)
    door = gate(db)
    first = await asked(door, one)
    await door.settle(one, first, [(await door.issued(one, first.leases[0], session_page()), OK)])

    await called(door, one, await asked(door, one), REFUSED)
    [refused] = await shown(db)
    assert (refused.state, refused.has_session, refused.health) == (IdentityState.IDLE, False, 95)

    again = await asked(door, one)
    assert again.leases[0].needs_session
    await door.settle(one, again, [(await door.issued(one, again.leases[0], session_page("t-2")), REFUSED)])
    [resting] = await shown(db)
    assert (resting.state, resting.rest_until) == (IdentityState.DISABLED, clock.now() + MINUTE)


async def test_what_is_shown_has_the_rates_and_no_secret(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", MUSTIT)
    lease = (await leased(db))[0]
    async with db.begin() as tx:
        await identities.keep_session(tx, lease, MUSTIT, session_of(MUSTIT, session_page("secret"), NOON))
        await identities.release(tx, lease, MUSTIT, Tally(calls=10, answered=7, broken=2, throttled=1, failed=1))
    clock.advance(seconds=30)

    found = await shown(db)

    assert "secret" not in repr(found)
    assert found[0] == Shown(
        id=lease.identity,
        source="mall",
        place=0,
        user_agent=AGENT,
        state=IdentityState.DISABLED,
        health=75,
        has_session=False,
        session_expires_at=None,
        leased_by=None,
        leased_until=None,
        rest_until=NOON + MINUTE,
        throttled_in_a_row=1,
        calls=10,
        successes=6,
        throttles=1,
        failures=3,
        success_rate=0.6,
        throttle_rate=0.1,
        last_used_at=NOON,
    )
    assert (found[1].calls, found[1].success_rate, found[1].throttle_rate) == (0, None, None)


async def test_a_key_is_given_by_the_operator(db: Database) -> None:
    keyed = replace(MUSTIT, identity=replace(MUSTIT.identity, kind=IdentityKind.API_KEY, quota=None, cookies=()))
    with pytest.raises(Missing, match="mall has no identities"):
        async with db.begin() as tx:
            await identities.give_key(tx, "mall", "k-1")
    await enabled(db, "mall", keyed)
    assert await db.transact(lambda tx: identities.lease(tx, "mall", keyed, by="w", calls=1)) == []

    async with db.begin() as tx:
        await identities.give_key(tx, "mall", "k-1")
    [lease] = await db.transact(lambda tx: identities.lease(tx, "mall", keyed, by="w", calls=1))

    assert lease.headers == {"authorization": "Bearer k-1", "user-agent": AGENT}


@pytest.mark.timeout(300)
def test_identities_are_conserved_and_quotas_kept_whatever_happens(url: str) -> None:
    explore(url, examples=EXAMPLES[Dialect(url.partition(":")[0])], steps=30)
