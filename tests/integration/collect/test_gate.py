"""The gate on all three databases: what goes, what waits and why, and that the pools know."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import time, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform import alerting
from bobusang.platform.limiters.local import LocalLimiter
from bobusang.platform.limiters.redis import RedisLimiter
from bobusang.stages.collect import decisions, gatebook, identities, roster, switch
from bobusang.stages.collect.admission import NEVER, UNTIL_ENABLED, Cause, Wait
from bobusang.stages.collect.gate import LIMITER_RETRY, Go
from bobusang.stages.collect.identities import Lease
from bobusang.stages.collect.identity import limit_of
from bobusang.stages.collect.policy import Policy, Quota, Window
from bobusang.stages.collect.tables import IdentityState, gate_decisions
from bobusang.testing.clock import NOON
from tests.integration.collect.gating import (
    AGENT,
    BROKEN,
    MINUTE,
    MUSTIT,
    OK,
    PLAIN,
    POOLS,
    THROTTLED,
    WALL,
    asked,
    blocks,
    called,
    enabled,
    gate,
    session_page,
    told,
)

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.platform.limiter import Limit, Taken
    from bobusang.testing.clock import ManualClock

SECOND = timedelta(seconds=1)
OFF = "mall is off: `bobusang source enable mall` with why it may be"
ALONE = replace(MUSTIT, identity=replace(MUSTIT.identity, size=1))
SHARED = Lease("mall", 0, 0, NOON + identities.TERM, 1, AGENT, {"user-agent": AGENT})


class Fickle(LocalLimiter):
    """A limiter that is away when told so."""

    is_away = False

    async def take(self, key: str, limit: Limit, want: int = 1) -> Taken:
        if self.is_away:
            raise Unavailable("connection refused")
        return await super().take(key, limit, want)


async def test_a_source_is_off_until_a_person_has_enabled_it_with_a_reason(db: Database) -> None:
    door = gate(db)

    waits = [await door.admit("mall", PLAIN, "list") for _ in range(3)]

    assert waits == [Wait(UNTIL_ENABLED, OFF, Cause.OFF)] * 3
    assert await blocks(db) == {"source:mall": (UNTIL_ENABLED, OFF)}
    with pytest.raises(Invalid, match="needs a reason"):
        async with db.begin() as tx:
            await switch.enable(tx, POOLS, "mall", PLAIN, why=" ", by="owner", user_agent=AGENT)

    await enabled(db, "mall", PLAIN)

    assert await door.admit("mall", PLAIN, "list") == Go("mall", "list", (SHARED,), is_quiet=True)
    assert await blocks(db) == {}
    assert await told(db) == [("", "wait", OFF), ("", "go", "")]
    async with db.read() as tx:
        assert await decisions.decided(tx, "mall") == decisions.Decision("mall", True, "an agreement", "owner", NOON)


async def test_disabling_stops_what_is_queued_and_is_audited(db: Database) -> None:
    await enabled(db, "mall", PLAIN)
    async with db.begin() as tx:
        await decisions.note_robots(tx, "mall", {"allowed": True})
        await switch.disable(tx, POOLS, "mall", why="they asked us to stop", by="owner")

    assert await blocks(db) == {"source:mall": (UNTIL_ENABLED, "mall is off: they asked us to stop")}
    async with db.read() as tx:
        found = await decisions.all_decided(tx)
        acts = await tx.fetch(Statement("select action, actor, subject_id from audit_log order by id"))
    assert found == [decisions.Decision("mall", False, "they asked us to stop", "owner", NOON, {"allowed": True}, NOON)]
    assert [(row["action"], row["actor"], row["subject_id"]) for row in acts] == [
        ("source.enable", "owner", "mall"),
        ("source.disable", "owner", "mall"),
    ]


async def test_where_all_is_well_and_nobody_is_leased_nothing_is_written(db: Database) -> None:
    await enabled(db, "mall", PLAIN)
    door = gate(db)

    go = await asked(door, PLAIN, 20)
    await called(door, PLAIN, go, *[OK] * 20)

    assert go.calls == 20
    assert await told(db) == []
    async with db.read() as tx:
        assert [shown.endpoint for shown in await gatebook.show(tx, "mall")] == [""]  # since it was enabled


async def test_lasting_faults_open_the_breaker_of_one_endpoint_and_one_probe_closes_it(
    db: Database, other: Database, clock: ManualClock
) -> None:
    await enabled(db, "mall", PLAIN)
    one, two = gate(db), gate(other)
    why = "mall detail does not answer: 3 of 3 calls were not answered: HTTP 500"

    await called(one, PLAIN, await asked(one, PLAIN, 3, endpoint="detail"), *[BROKEN] * 3)

    assert await blocks(db) == {"source:mall:detail": (NOON + 30 * SECOND, why)}
    assert await one.admit("mall", PLAIN, "detail") == Wait(NOON + 30 * SECOND, why, Cause.BREAKER, everywhere=False)
    assert isinstance(await two.admit("mall", PLAIN, "list"), Go)

    clock.advance(seconds=30)
    both = await asyncio.gather(*(door.admit("mall", PLAIN, "detail", 5) for door in (one, two)))

    probe = next(found for found in both if isinstance(found, Go))
    asks = "a probe asks whether mall detail answers again"
    waiting = Wait(clock.now() + MINUTE, asks, Cause.PROBE, everywhere=False)
    assert [found for found in both if isinstance(found, Wait)] == [waiting]
    assert (probe.calls, probe.probe, probe.rest) == (1, 1, waiting)

    await called(one, PLAIN, probe, BROKEN)

    again = "mall detail does not answer: the probe was not answered: HTTP 500"
    assert await blocks(db) == {"source:mall:detail": (clock.now() + MINUTE, again)}

    clock.advance(seconds=60)
    await called(two, PLAIN, await asked(two, PLAIN, endpoint="detail"), OK)

    assert await blocks(db) == {}
    assert await told(db) == [
        ("detail", "wait", why),
        ("detail", "wait", asks),
        ("detail", "wait", again),
        ("detail", "wait", asks),
        ("detail", "go", ""),
    ]


async def test_a_probe_whose_worker_died_is_sent_again_and_its_late_answer_counts_for_nothing(
    db: Database, clock: ManualClock
) -> None:
    await enabled(db, "mall", PLAIN)
    door = gate(db)
    await called(door, PLAIN, await asked(door, PLAIN, 3), *[BROKEN] * 3)
    clock.advance(seconds=30)
    dead = await asked(door, PLAIN)

    clock.advance(seconds=60)
    second = await asked(door, PLAIN)
    await called(door, PLAIN, dead, OK)

    assert [dead.probe, second.probe] == [1, 2]
    assert isinstance(await door.admit("mall", PLAIN, "list"), Wait)
    await called(door, PLAIN, second, OK)
    assert isinstance(await door.admit("mall", PLAIN, "list"), Go)


async def test_a_bot_wall_halts_the_whole_source_until_a_person_resumes_it(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", PLAIN)
    door = gate(db)
    why = f"mall is halted: {WALL.reason}; `bobusang source resume mall` when mended"

    await called(door, PLAIN, await asked(door, PLAIN, 2), OK, WALL)

    assert await blocks(db) == {"source:mall": (NEVER, why)}
    clock.advance(days=30)
    assert await door.admit("mall", PLAIN, "detail") == Wait(NEVER, why, Cause.HALTED)

    async with db.begin() as tx:
        assert await switch.resume(tx, POOLS, "mall", by="operator")
    async with db.begin() as tx:
        assert not await switch.resume(tx, POOLS, "mall", by="operator")

    assert await blocks(db) == {}
    assert isinstance(await door.admit("mall", PLAIN, "detail"), Go)
    assert await told(db) == [("", "wait", why), ("", "go", "")]


async def test_outside_its_hours_a_source_waits_for_them(db: Database, clock: ManualClock) -> None:
    policy = replace(PLAIN, window=Window(time(9), time(18)))  # noon in UTC is 21:00 in Seoul
    await enabled(db, "mall", policy)
    door = gate(db)
    opening = NOON + timedelta(hours=12)

    found = await door.admit("mall", policy, "list")

    assert found == Wait(opening, "mall is visited only 09:00-18:00 Asia/Seoul", Cause.WINDOW)
    clock.set(opening)
    assert isinstance(await door.admit("mall", policy, "list"), Go)


async def test_a_429_to_nobody_in_particular_rests_the_source_longer_each_time(
    db: Database, clock: ManualClock
) -> None:
    await enabled(db, "mall", PLAIN)
    door = gate(db)

    await called(door, PLAIN, await asked(door, PLAIN), replace(THROTTLED, retry_after=5 * MINUTE))
    assert await blocks(db) == {"source:mall": (NOON + 5 * MINUTE, "mall asked for a rest")}

    clock.advance(minutes=5)
    await called(door, PLAIN, await asked(door, PLAIN), THROTTLED)
    assert await blocks(db) == {"source:mall": (clock.now() + 2 * MINUTE, "mall asked for a rest")}


async def test_when_the_limiter_is_away_nobody_goes_and_a_person_is_told(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", MUSTIT)
    limiter = Fickle(clock)
    door = gate(db, limiter)
    limiter.is_away = True

    found = await door.admit("mall", MUSTIT, "list", 5)

    wait = Wait(NOON + LIMITER_RETRY, "the limiter is away (connection refused)", Cause.LIMITER)
    assert found == wait
    assert await blocks(db) == {"source:mall": (wait.until, wait.reason)}
    async with db.read() as tx:
        assert [alert.key for alert in await alerting.open_alerts(tx)] == ["limiter_away"]

    limiter.is_away = False
    clock.advance(seconds=10)
    assert isinstance(await door.admit("mall", MUSTIT, "list", 5), Go)
    async with db.read() as tx:
        assert await alerting.open_alerts(tx) == []
    assert await told(db) == [("", "wait", wait.reason), ("", "go", "")]


async def test_a_limiter_that_goes_away_half_way_gives_the_identities_back(db: Database, clock: ManualClock) -> None:
    class HalfWay(Fickle):
        async def take(self, key: str, limit: Limit, want: int = 1) -> Taken:
            self.is_away = key.startswith("identity:")
            return await super().take(key, limit, want)

    await enabled(db, "mall", MUSTIT)

    found = await gate(db, HalfWay(clock)).admit("mall", MUSTIT, "list", 8)

    assert isinstance(found, Wait)
    assert found.cause is Cause.LIMITER
    async with db.read() as tx:
        assert [one.state for one in await roster.show(tx, "mall")] == [IdentityState.IDLE] * 2


async def test_a_redis_that_is_not_there_is_a_limiter_that_is_away(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", PLAIN)
    limiter = RedisLimiter("redis://127.0.0.1:1/0", clock)

    found = await gate(db, limiter).admit("mall", PLAIN, "list")
    await limiter.close()

    assert isinstance(found, Wait)
    assert (found.cause, found.reason.startswith("the limiter is away (")) == (Cause.LIMITER, True)


async def test_more_than_the_source_allows_is_granted_in_part(db: Database) -> None:
    policy = Policy(limits=replace(PLAIN.limits, rate=1.0, burst=1.0, concurrency=2))
    await enabled(db, "mall", policy)
    door = gate(db)

    first, second = [await door.admit("mall", policy, "list", want) for want in (5, 1)]

    assert isinstance(first, Go)
    assert (first.calls, first.rest is not None) == (3, True)
    assert second == Wait(NOON + SECOND, "mall is at its rate", Cause.RATE)
    await door.settle(policy, first, [])  # nothing was called
    assert (await asked(door, policy, 5)).calls == 3


async def test_a_session_is_issued_once_and_shown_with_every_call(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", ALONE)
    door = gate(db)

    go = await asked(door, ALONE, 3)
    lease = go.leases[0]
    ready = await door.issued(ALONE, lease, session_page())
    await door.settle(ALONE, go, [(ready, OK)] * 3)
    clock.advance(minutes=10)
    again = (await asked(door, ALONE)).leases[0]
    clock.advance(minutes=50)
    renewed = (await asked(door, ALONE)).leases[0]

    shown = {"authorization": "Bearer t-1", "user-agent": AGENT}
    expected = Lease("mall", lease.identity, 1, NOON + identities.TERM, 3, AGENT, needs_session=True)
    assert replace(lease, left=None, granted_at=None) == expected
    assert (ready.headers, ready.cookies, ready.needs_session, ready.fresh) == (shown, {"nid": "n-1"}, False, True)
    assert (again.number, again.headers, again.needs_session, again.fresh) == (2, shown, False, False)
    assert (renewed.number, renewed.needs_session) == (3, True)  # five minutes before its end


async def test_all_identities_busy_or_at_their_quota_blocks_the_pool_until_one_is_free(
    db: Database, clock: ManualClock
) -> None:
    await enabled(db, "mall", MUSTIT)
    door = gate(db)

    first = await asked(door, MUSTIT, 4)  # five tokens each, one of them for the session
    second = await asked(door, MUSTIT, 4)
    busy = await door.admit("mall", MUSTIT, "list", 4)

    words = "mall: none of 2 identities is free: 2 in use"
    assert busy == Wait(NOON + identities.TERM, words, Cause.IDENTITIES)
    assert await blocks(db) == {"source:mall": (busy.until, words)}

    await called(door, MUSTIT, first, OK, OK)  # two calls were not made
    assert await blocks(db) == {}

    third = await asked(door, MUSTIT, 4)
    assert [(one.identity, one.calls) for one in third.leases] == [(first.leases[0].identity, 1)]
    await called(door, MUSTIT, third, OK)
    await called(door, MUSTIT, second, *[OK] * 4)

    full = await door.admit("mall", MUSTIT, "list")
    assert full == Wait(NOON + 48 * SECOND, "mall: none of 2 identities is free: 2 at their quota", Cause.IDENTITIES)
    clock.advance(seconds=96)
    assert isinstance(await door.admit("mall", MUSTIT, "list"), Go)
    assert await told(db) == [("", "wait", words)]  # a limit that is reached again is no news


async def test_who_comes_back_after_his_lease_was_taken_over_fills_no_bucket(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", ALONE)
    door = gate(db)
    late = await asked(door, ALONE, 4)
    clock.advance(minutes=10)  # the lease is over, and the bucket full again
    heir = await asked(door, ALONE, 4)
    await called(door, ALONE, heir, *[OK] * 4)

    await door.settle(ALONE, late, [])

    clock.advance(seconds=96)  # two tokens: for a session and a call
    assert (await asked(door, ALONE, 4)).calls == 1


async def test_after_a_429_the_quota_counts_as_used_up(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", ALONE)
    door = gate(db)
    await called(door, ALONE, await asked(door, ALONE, 4), THROTTLED)  # three calls were not made

    clock.advance(seconds=60)  # in which the bucket gets one token and a quarter; a session and a call need two
    found = await door.admit("mall", ALONE, "list", 4)

    words = "mall: none of 1 identities is free: 1 at their quota"
    assert found == Wait(NOON + 96 * SECOND, words, Cause.IDENTITIES)
    clock.set(found.until)
    assert (await asked(door, ALONE, 4)).calls == 1


async def test_a_probe_that_gets_no_call_lets_the_next_one_probe(db: Database, clock: ManualClock) -> None:
    await enabled(db, "mall", ALONE)
    limiter = LocalLimiter(clock)
    door = gate(db, limiter)
    go = await asked(door, ALONE, 4)
    ready = await door.issued(ALONE, go.leases[0], session_page())
    await door.settle(ALONE, go, [(ready, BROKEN)] * 3)
    clock.advance(seconds=30)
    await limiter.drain(f"identity:mall:{ready.identity}", limit_of(Quota(80, timedelta(hours=1))))

    refused = await door.admit("mall", ALONE, "list")
    clock.advance(seconds=48)
    probe = await asked(door, ALONE)

    assert isinstance(refused, Wait)
    assert (refused.until, refused.cause, probe.probe) == (clock.now(), Cause.IDENTITIES, 2)


async def test_the_journal_is_kept_bounded(db: Database) -> None:
    rows = [(NOON, "mall", "", "go", "") for _ in range(gatebook.KEPT + 250)]
    async with db.begin() as tx:
        await tx.insert(Bulk(gate_decisions, ("at", "source", "endpoint", "answer", "reason")), rows)
        while await tx.create(insert(gate_decisions).values(_entry())) % gatebook.PRUNE_EVERY != 99:
            pass
        await gatebook.journal(tx, "mall", "", None)
        kept = await tx.value(Statement("select count(*) as value from gate_decisions"))

    assert kept == gatebook.KEPT


def _entry() -> dict[str, object]:
    return {"at": NOON, "source": "mall", "endpoint": "", "answer": "go", "reason": ""}


@pytest.mark.parametrize("endpoint", ["x" * 100, "a,b"])
async def test_an_endpoint_that_cannot_name_a_pool_is_refused(db: Database, endpoint: str) -> None:
    policy = Policy(limits=replace(PLAIN.limits, endpoints={endpoint: 1.0}))

    with pytest.raises(Invalid, match="cannot be the name of a pool"):
        await enabled(db, "mall", policy)
