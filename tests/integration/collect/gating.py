"""A gate on a real database with the engine's pools, and what tests of it look at."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.flows.collect.pools import EnginePools
from bobusang.kit.clock import utc
from bobusang.kit.http import Answer
from bobusang.kit.sql import Statement
from bobusang.platform.limiters.local import LocalLimiter
from bobusang.stages.collect import gatebook, switch
from bobusang.stages.collect.breaker import Tripping
from bobusang.stages.collect.gate import Gate, Go
from bobusang.stages.collect.policy import Identity, IdentityKind, Limits, Policy, Quota, Reaction
from bobusang.stages.collect.responses import Verdict

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.platform.limiter import Limiter

MINUTE = timedelta(minutes=1)
AGENT = "Agent/1"
POOLS = EnginePools()
TRIPPING = Tripping(window=MINUTE, least=3, ratio=0.5, in_a_row=5, probe=MINUTE)

WIDE = Limits(rate=100.0, burst=100.0, concurrency=50, jitter=0.0)
PLAIN = Policy(limits=WIDE)
MUSTIT = Policy(
    limits=WIDE,
    identity=Identity(
        IdentityKind.SESSION,
        size=2,
        expect_cookies=("token", "nid"),
        headers={"Authorization": "Bearer {token}"},
        cookies=("nid",),
        quota=Quota(80, timedelta(hours=1)),
    ),
)

OK = Verdict(Reaction.READ, "")
BROKEN = Verdict(Reaction.RETRY, "HTTP 500")
THROTTLED = Verdict(Reaction.COOLDOWN_IDENTITY, "HTTP 429")
REFUSED = Verdict(Reaction.RENEW_IDENTITY, "HTTP 401")
WALL = Verdict(Reaction.HALT, "a bot wall: the page says 'just a moment'")


def gate(db: Database, limiter: Limiter | None = None, *, by: str = "worker-1") -> Gate:
    limiter = limiter or LocalLimiter(db.clock)
    return Gate(db, limiter, POOLS, by=by, user_agent=AGENT, tripping=TRIPPING, chance=lambda: 0.0)


async def enabled(db: Database, source: str, policy: Policy) -> None:
    async with db.begin() as tx:
        await switch.enable(tx, POOLS, source, policy, why="an agreement", by="owner", user_agent=AGENT)


async def asked(gate: Gate, policy: Policy, want: int = 1, *, source: str = "mall", endpoint: str = "list") -> Go:
    """What must be a go."""
    found = await gate.admit(source, policy, endpoint, want)
    assert isinstance(found, Go), found
    return found


async def called(gate: Gate, policy: Policy, go: Go, *verdicts: Verdict) -> None:
    """Each call by the first lease, and the end of it."""
    await gate.settle(policy, go, [(go.leases[0], verdict) for verdict in verdicts])


def session_page(token: str = "t-1") -> Answer:
    return Answer("https://m.example/", 200, {}, b"", {"token": token, "nid": "n-1"}, {"token": 3600.0})


async def blocks(db: Database) -> dict[str, tuple[Any, str]]:
    """The pools that are blocked now, until when and why."""
    async with db.read() as tx:
        rows = await tx.fetch(
            Statement("select pool, blocked_until, reason from budgets where blocked_until > :now"), now=tx.now
        )
    return {row["pool"]: (utc(row["blocked_until"]), row["reason"]) for row in rows}


async def told(db: Database, source: str = "mall") -> list[tuple[str, str, str]]:
    """The journal, oldest first: endpoint, answer and reason."""
    async with db.read() as tx:
        found = await gatebook.decisions(tx, source)
    return [(entry.endpoint, entry.answer.value, entry.reason) for entry in reversed(found)]
