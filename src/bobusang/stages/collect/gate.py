"""The gate: before anything is fetched it answers go, or wait until then because of this, and it learns from what came.

One way through it: `admit` → (where a lease needs one, a session: `more`, `sessions.issue_call`, `issued`) → calls →
`settle`, always, also when nothing was called. What must wait is blocked in the engine's pools, so that its tasks are
not even claimed. The limiter, which may be on another machine, is never asked within a transaction; when it is away,
nobody goes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.stages.collect import breaker as breakers
from bobusang.stages.collect import decisions, gatebook, identities
from bobusang.stages.collect.admission import Cause, Facts, Open, Wait, decide
from bobusang.stages.collect.announcing import announce
from bobusang.stages.collect.breaker import Tripping
from bobusang.stages.collect.identities import Lease, is_pooled
from bobusang.stages.collect.learning import is_news, learned
from bobusang.stages.collect.quotas import LimiterAway, Quotas, Refusal
from bobusang.stages.collect.responses import Tally, tally
from bobusang.stages.collect.sessions import session_of, shown, shown_query
from bobusang.stages.collect.window import opens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Answer
    from bobusang.platform.limiter import Limiter
    from bobusang.stages.collect.admission import Standing
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.pools import Pools
    from bobusang.stages.collect.responses import Verdict

LIMITER_RETRY = timedelta(seconds=3)
"""How soon a limiter that was away is asked again."""
SOON = timedelta(seconds=2)
"""How soon to come back when others were quicker."""


@dataclass(frozen=True, slots=True)
class Go:
    """So many calls may be made, by these leases, at once; hand it to `settle` when they are."""

    source: str
    endpoint: str
    leases: tuple[Lease, ...]
    probe: int = 0
    """The number of the probe that this is; 0: it is none."""
    rest: Wait | None = None
    """Until when the others wait, where fewer calls were granted than wanted."""
    is_quiet: bool = False
    """Nothing is remembered of this endpoint that an answer could change."""

    @property
    def calls(self) -> int:
        return sum(lease.calls for lease in self.leases)


class Gate:
    """One for all sources of a process. `by` names the process in leases, by its worker where it has one: what a
    dead worker held is found by its name."""

    def __init__(
        self,
        db: Database,
        limiter: Limiter,
        pools: Pools,
        *,
        by: str,
        user_agent: str,
        tripping: Tripping | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._db = db
        self._quotas = Quotas(limiter, db.clock)
        self._pools = pools
        self.by = by
        self._user_agent = user_agent
        self._tripping = tripping or Tripping()
        self._chance = chance

    async def admit(self, source: str, policy: Policy, endpoint: str, want: int = 1) -> Go | Wait:
        """May `want` calls to an endpoint be made now? Perhaps fewer may (`Go.rest` says until when the others wait).

        A wait is written down and the pool blocked: put what was claimed off until then, at no attempt.
        """
        async with self._db.read() as tx:
            facts = await self._facts(tx, source, policy, endpoint)
        found = decide(facts, policy, want)
        if isinstance(found, Wait):
            return await self._turned_away(facts, policy, want)
        try:
            rate = await self._quotas.take_rate(source, policy.limits, found.calls)
            if not rate.count:
                return await self._declared(facts, Wait(rate.next_at, f"{source} is at its rate", Cause.RATE))
            go = await self._let_in(facts, policy, rate.count)
        except LimiterAway as error:
            return await self._declared(facts, Wait(self._db.clock.now() + LIMITER_RETRY, error.message, Cause.LIMITER))
        granted = go.calls if isinstance(go, Go) else 0
        await self._quotas.give_back_rate(source, policy.limits, rate.count - granted)
        if isinstance(go, Go) and go.rest is None and granted < want:
            return replace(go, rest=Wait(self._db.clock.now() + SOON, f"{source} is at its limit", Cause.RATE))
        return go

    async def issued(self, policy: Policy, lease: Lease, answer: Answer) -> Lease:
        """Keep the session that an answer to `sessions.issue_call` issued; the lease to call with.

        Classify the answer first. Raises Unavailable or Drifted when there is no session in it, Conflict when the
        lease ran out meanwhile.
        """
        session = session_of(policy, answer, self._db.clock.now())
        return await self._db.transact(lambda tx: identities.keep_session(tx, lease, policy, session))

    async def more(self, policy: Policy, go: Go, want: int) -> int:
        """Calls beyond those of a `Go`, for the sessions that they need, as far as the source's rate has them now."""
        try:
            return (await self._quotas.take_rate(go.source, policy.limits, want)).count
        except LimiterAway:
            return 0

    async def settle(self, policy: Policy, go: Go, results: Sequence[tuple[Lease, Verdict]], *, more: int = 0) -> None:
        """Learn from what came of the calls; give identities and unused calls back.

        For each call: the lease it was made with (as `issued` returned it) and the verdict. A call for a session that
        failed is one of them, one that succeeded is not: `more` is what `more` granted without those.
        """
        spent = _spent(go, results)
        total = tally(verdict for _, verdict in results)
        # Unused calls go back while the lease still keeps others from the bucket: later, it might hold too many.
        for lease, part in spent:
            if self._db.clock.now() < lease.until:
                await self._given_back(policy, lease, part)
        await self._quotas.give_back_rate(go.source, policy.limits, go.calls + more - total.calls)
        if is_pooled(policy) or not go.is_quiet or is_news(total):
            await self._db.transact(lambda tx: self._settled(tx, policy, go, spent, total))

    async def _given_back(self, policy: Policy, lease: Lease, part: Tally) -> None:
        if part.throttled:
            await self._quotas.drain(lease, policy)
        else:
            await self._quotas.give_back_quota(lease, policy, lease.calls - part.calls)

    async def _facts(self, tx: Tx, source: str, policy: Policy, endpoint: str, *, lock: bool = False) -> Facts:
        whole, part = await gatebook.load(tx, source, endpoint, lock=lock)
        pool = tuple(await identities.members(tx, source, policy)) if is_pooled(policy) else None
        enabled = await decisions.is_enabled(tx, source)
        return Facts(tx.now, source, endpoint, enabled, whole, part, opens(policy.window, tx.now), pool)

    async def _turned_away(self, seen: Facts, policy: Policy, want: int) -> Wait:
        """Write the wait down as it is by now."""

        async def work(tx: Tx) -> Wait:
            facts = await self._facts(tx, seen.source, policy, seen.endpoint, lock=True)
            found = decide(facts, policy, want)
            if isinstance(found, Open):
                return Wait(tx.now + SOON, "the way has just become free", Cause.RATE)
            await announce(tx, self._pools, facts, found)
            return found

        return await self._db.transact(work)

    async def _declared(self, seen: Facts, wait: Wait) -> Wait:
        """Write down a wait that does not follow from what is remembered."""

        async def work(tx: Tx) -> Wait:
            whole, part = await gatebook.load(tx, seen.source, seen.endpoint, lock=True)
            await announce(tx, self._pools, replace(seen, whole=whole, part=part), wait)
            return wait

        return await self._db.transact(work)

    async def _let_in(self, facts: Facts, policy: Policy, calls: int) -> Go | Wait:
        """Lease, and ask for the quota of what was leased."""
        if facts.pool is None and facts.is_quiet:
            return self._shared(facts, policy, calls)
        go = await self._db.transact(lambda tx: self._entered(tx, facts, policy, calls))
        return go if isinstance(go, Wait) or facts.pool is None else await self._granted(policy, go)

    def _shared(self, facts: Facts, policy: Policy, calls: int) -> Go:
        """Where we are known by a user agent alone, all share it, and nothing is written."""
        agent = (policy.identity.user_agents or (self._user_agent,))[0]
        headers, cookies = shown(policy, agent, None, {})
        query = shown_query(policy, None, {})
        lease = Lease(facts.source, 0, 0, facts.now + identities.TERM, calls, agent, headers, cookies, query)
        return Go(facts.source, facts.endpoint, (lease,), is_quiet=facts.is_quiet)

    async def _entered(self, tx: Tx, seen: Facts, policy: Policy, calls: int) -> Go | Wait:
        """Decide again, now that the rows are ours, and take what the decision allows."""
        if seen.pool is not None and len(seen.pool) < policy.identity.size:
            await identities.ensure(tx, seen.source, policy, self._user_agent)
        facts = await self._facts(tx, seen.source, policy, seen.endpoint, lock=True)
        found = decide(facts, policy, calls)
        if isinstance(found, Wait):
            await announce(tx, self._pools, facts, found)
            return found
        if facts.pool is None:
            go = self._shared(facts, policy, found.calls)
        else:
            leases = await identities.lease(tx, facts.source, policy, by=self.by, calls=found.calls)
            if not leases:
                return Wait(tx.now + SOON, f"{facts.source}: others were quicker", Cause.IDENTITIES)
            go = Go(facts.source, facts.endpoint, tuple(leases))
        if found.probe:
            return await self._probing(tx, facts, go)
        await announce(tx, self._pools, facts, None)
        return go

    async def _probing(self, tx: Tx, facts: Facts, go: Go) -> Go:
        """Of all who ask, this one goes; the others wait for what it finds."""
        probe = breakers.probed(facts.part.breaker, tx.now, self._tripping)
        facts = replace(facts, part=replace(facts.part, breaker=probe))
        wait = Wait(
            tx.now + self._tripping.probe,
            f"a probe asks whether {facts.source} {facts.endpoint} answers again",
            Cause.PROBE,
            everywhere=False,
        )
        await announce(tx, self._pools, facts, wait)
        return replace(go, probe=probe.probe_number, rest=wait, is_quiet=False)

    async def _granted(self, policy: Policy, go: Go) -> Go | Wait:
        """The leases with the calls that their quotas grant; identities that have none left rest."""
        held = {lease.identity: replace(lease, calls=0) for lease in go.leases}
        refused: list[Refusal] = []
        try:
            for lease in go.leases:
                answer = await self._quotas.take_quota(lease, policy)
                if isinstance(answer, Refusal):
                    refused.append(answer)
                else:
                    held[lease.identity] = answer
        except LimiterAway:
            await self.settle(policy, replace(go, leases=tuple(held.values())), ())
            raise
        go = replace(go, leases=tuple(lease for lease in held.values() if lease.calls))
        if not refused:
            return go
        return await self._db.transact(lambda tx: self._refused(tx, policy, go, refused))

    async def _refused(self, tx: Tx, policy: Policy, go: Go, refused: Sequence[Refusal]) -> Go | Wait:
        whole, part = await gatebook.load(tx, go.source, go.endpoint, lock=True)
        for one in refused:
            await identities.release(tx, one.lease, policy, Tally(), limited_until=one.until, quota_left=0.0)
        if go.leases:
            return go
        after = replace(part, breaker=breakers.unprobed(part.breaker, go.probe))
        await self._saved(tx, go, (whole, part), (whole, after))
        facts = await self._facts(tx, go.source, policy, go.endpoint)
        found = decide(facts, policy, 1)
        if isinstance(found, Open):
            return Wait(tx.now + SOON, f"{go.source}: the identities that were chosen are at their quota", Cause.RATE)
        await announce(tx, self._pools, facts, found)
        return found

    async def _settled(
        self, tx: Tx, policy: Policy, go: Go, spent: Sequence[tuple[Lease, Tally]], total: Tally
    ) -> None:
        before = await gatebook.load(tx, go.source, go.endpoint, lock=True)
        jitter = policy.limits.jitter * self._chance()
        after = learned(
            *before,
            total,
            now=tx.now,
            tripping=self._tripping,
            probe=go.probe,
            pooled=is_pooled(policy),
            jitter=jitter,
        )
        await self._saved(tx, go, before, after)
        for lease, part in spent:
            if lease.number:
                left, until = self._quotas.limited_until(lease, policy, part.calls)
                await identities.release(tx, lease, policy, part, limited_until=until, quota_left=left, jitter=jitter)
        if before != after or any(one.waits(tx.now) for one in before):
            facts = await self._facts(tx, go.source, policy, go.endpoint)
            found = decide(facts, policy, 1)
            await announce(tx, self._pools, facts, found if isinstance(found, Wait) else None, limiter_asked=False)

    async def _saved(self, tx: Tx, go: Go, before: tuple[Standing, Standing], after: tuple[Standing, Standing]) -> None:
        for endpoint, old, new in zip(("", go.endpoint), before, after, strict=True):
            if old != new:
                await gatebook.save(tx, go.source, endpoint, new)


def _spent(go: Go, results: Sequence[tuple[Lease, Verdict]]) -> list[tuple[Lease, Tally]]:
    """Each lease, as it was last seen, with what came of its calls."""
    leases = {lease.identity: lease for lease in (*go.leases, *(lease for lease, _ in results))}
    return [
        (lease, tally(verdict for used, verdict in results if used.identity == identity))
        for identity, lease in leases.items()
    ]
