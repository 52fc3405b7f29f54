"""A Hypothesis machine of two workers with one gate's database: identities are conserved, and quotas are kept.

Workers lease, call, renew, die, come back late, are throttled and refused, in any order and at any time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from bobusang.kit.db import connect
from bobusang.platform.limiters.local import LocalLimiter
from bobusang.stages.collect import roster
from bobusang.stages.collect.gate import Gate, Go
from bobusang.stages.collect.policy import Quota
from bobusang.stages.collect.tables import IdentityState
from bobusang.testing.clock import ManualClock
from tests.integration.collect.gating import (
    BROKEN,
    MUSTIT,
    OK,
    REFUSED,
    THROTTLED,
    enabled,
    gate,
    session_page,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from datetime import datetime

    from bobusang.kit.db import Database
    from bobusang.stages.collect.identities import Lease
    from bobusang.stages.collect.responses import Verdict

T = TypeVar("T")

SIZE, CALLS, SPAN = 3, 12, timedelta(hours=1)
POLICY = replace(MUSTIT, identity=replace(MUSTIT.identity, size=SIZE, quota=Quota(CALLS, SPAN)))
VERDICTS = st.sampled_from([OK, OK, OK, OK, BROKEN, THROTTLED, REFUSED])


@dataclass(slots=True)
class Work:
    """What a worker holds and has done so far."""

    worker: Gate
    go: Go
    results: list[tuple[Lease, Verdict]]


class Machine(RuleBasedStateMachine):
    """One pool; `db`, `clock` and the loop are shared by all machines, each with a source of its own."""

    db: ClassVar[Database]
    clock: ClassVar[ManualClock]
    loop: ClassVar[asyncio.AbstractEventLoop]
    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        Machine.made += 1
        self.source = f"mall-{Machine.made}"
        limiter = LocalLimiter(self.clock)
        self.workers = [gate(self.db, limiter, by=f"worker-{number}") for number in (1, 2)]
        self.under_way: list[Work] = []
        self.calls: dict[int, list[datetime]] = {}
        self.run(enabled(self.db, self.source, POLICY))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def live(self) -> list[int]:
        """The identities that somebody holds now."""
        now = self.clock.now()
        return [lease.identity for work in self.under_way for lease in work.go.leases if lease.until > now]

    def call(self, lease: Lease) -> None:
        self.calls.setdefault(lease.identity, []).append(self.clock.now())

    # --- what may happen ---

    @rule(worker=st.integers(0, 1), want=st.integers(1, 6), data=st.data())
    def enter(self, worker: int, want: int, data: st.DataObject) -> None:
        found = self.run(self.workers[worker].admit(self.source, POLICY, "list", want))
        if not isinstance(found, Go):
            assert found.until > self.clock.now()
            return
        assert 1 <= found.calls <= want
        assert not set(self.live()) & {lease.identity for lease in found.leases}
        work = Work(self.workers[worker], found, [])
        self.under_way.append(work)
        for lease in found.leases:
            ready = lease
            if lease.needs_session:
                self.call(lease)
                ready = self.run(work.worker.issued(POLICY, lease, session_page()))
            for verdict in data.draw(st.lists(VERDICTS, max_size=lease.calls), label=f"calls of {lease.identity}"):
                self.call(ready)
                work.results.append((ready, verdict))

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        """Perhaps long after the lease ran out and another took it over."""
        place = data.draw(st.integers(0, len(self.under_way) - 1), label="who")
        work = self.under_way.pop(place)
        self.run(work.worker.settle(POLICY, work.go, work.results))

    @precondition(lambda self: self.under_way)
    @rule()
    def die(self) -> None:
        """Nobody gives back what the first one holds; time does."""
        work = self.under_way.pop(0)
        last = max(lease.until for lease in work.go.leases)
        if last > self.clock.now():
            self.clock.set(last)

    @rule(seconds=st.sampled_from([1, 20, 60, 300, 700, 3600]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    # --- what must hold ---

    @invariant()
    def identities_are_conserved(self) -> None:
        async def look() -> list[roster.Shown]:
            async with self.db.read() as tx:
                return await roster.show(tx, self.source)

        found = self.run(look())
        assert len(found) == SIZE
        assert [one.id for one in found if one.state is IdentityState.ACTIVE] == sorted(self.live())
        assert all(0 <= one.health <= 100 for one in found)

    @invariant()
    def no_identity_calls_more_often_than_its_quota_allows(self) -> None:
        for times in self.calls.values():
            assert all(later - times[at] > SPAN for at, later in enumerate(times[CALLS:])), (
                f"more than {CALLS} calls within {SPAN}"
            )

    def teardown(self) -> None:
        """However it went, after a day and a night somebody may go again."""
        while self.under_way:
            work = self.under_way.pop()
            self.run(work.worker.settle(POLICY, work.go, work.results))
        self.clock.advance(days=2)
        found = self.run(self.workers[0].admit(self.source, POLICY, "list"))
        assert isinstance(found, Go), found


def explore(url: str, *, examples: int, steps: int) -> None:
    """Run the machine so often, each time with a pool of its own."""
    Machine.clock, Machine.loop = ManualClock(), asyncio.new_event_loop()
    Machine.db = Machine.loop.run_until_complete(connect(url, clock=Machine.clock))
    try:
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                print_blob=True,
            ),
        )
    finally:
        Machine.loop.run_until_complete(Machine.db.close())
        Machine.loop.close()
