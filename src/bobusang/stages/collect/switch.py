"""What a person does at the gate: prepare a source, enable it with a reason, disable it, resume what was halted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.platform import audit
from bobusang.stages.collect import decisions, gatebook, identities
from bobusang.stages.collect.admission import UNTIL_ENABLED, Cause, Facts, Standing, Wait
from bobusang.stages.collect.announcing import announce
from bobusang.stages.collect.breaker import Breaker
from bobusang.stages.collect.pools import pool_of

if TYPE_CHECKING:
    from bobusang.catalog.tables.images import Rights
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.decisions import Decision
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.pools import Pools

LONGEST_POOL = 100


async def prepare(tx: Tx, pools: Pools, source: str, policy: Policy, *, user_agent: str) -> None:
    """Set the pools of a source as its policy has them, and make its identities; may be done again at every start."""
    limits = policy.limits
    for endpoint in ("", *limits.endpoints):
        pool = pool_of(source, endpoint)
        if len(pool) > LONGEST_POOL or "," in pool:
            raise Invalid(f"'{pool}' cannot be the name of a pool", hint="at most 100 characters and no comma")
    burst = max(1.0, limits.burst)
    await pools.set(tx, pool_of(source), rate=limits.rate, burst=burst, max_in_flight=limits.concurrency)
    for endpoint, rate in limits.endpoints.items():
        await pools.set(tx, pool_of(source, endpoint), rate=rate, burst=1.0, max_in_flight=None)
    await identities.ensure(tx, source, policy, user_agent)


async def enable(
    tx: Tx,
    pools: Pools,
    source: str,
    policy: Policy,
    *,
    why: str,
    by: str,
    user_agent: str,
    rights: Rights | None = None,
) -> Decision:
    """Let a source be collected, with why that may be (terms, an agreement, an official API), and by what right its
    pictures are shown."""
    decision = await decisions.decide(tx, source, enabled=True, why=why, by=by, rights=rights)
    await prepare(tx, pools, source, policy, user_agent=user_agent)
    whole, _ = await gatebook.load(tx, source, "", lock=True)
    if whole.cause is Cause.OFF:
        await announce(tx, pools, Facts(tx.now, source, "", enabled=True, whole=whole), None)
    return decision


async def disable(tx: Tx, pools: Pools, source: str, *, why: str, by: str) -> Decision:
    """Stop collecting a source: what is queued waits until it is enabled again."""
    decision = await decisions.decide(tx, source, enabled=False, why=why, by=by)
    whole, _ = await gatebook.load(tx, source, "", lock=True)
    wait = Wait(UNTIL_ENABLED, f"{source} is off: {decision.why}", Cause.OFF)
    await announce(tx, pools, Facts(tx.now, source, "", enabled=False, whole=whole), wait)
    return decision


async def resume(tx: Tx, pools: Pools, source: str, *, by: str) -> bool:
    """Try a source again that was halted, is resting or has open breakers; False when there was nothing of the kind.

    Identities that rest after a 429 go on resting.
    """
    rows = await gatebook.load_all(tx, source)
    stopped = {endpoint: one for endpoint, one in rows.items() if _is_stopped(one)}
    for endpoint, standing in rows.items():
        if standing.is_news:
            await gatebook.journal(tx, source, endpoint, None)
        fresh = Standing(Breaker(probe_number=standing.breaker.probe_number))
        await gatebook.save(tx, source, endpoint, fresh)
        # Also where nothing was stopped: a handler that halts blocks every pool of its task.
        await pools.unblock(tx, pool_of(source, endpoint))
    if stopped:
        before = {endpoint or "all": one.breaker.reason or one.answer_reason or "" for endpoint, one in stopped.items()}
        await audit.record(tx, by, "source.resume", audit.Subject("source", source), before, None)
    return bool(stopped)


def _is_stopped(standing: Standing) -> bool:
    return standing != Standing(Breaker(probe_number=standing.breaker.probe_number))
