"""The identity pools as anyone may see them: states as of now, what became of their calls, and no secret."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the doors read the annotations
from typing import TYPE_CHECKING

from sqlalchemy import case, or_, select

from bobusang.stages.collect.identities import member_of
from bobusang.stages.collect.identity import state_at
from bobusang.stages.collect.tables import IdentityState, crawl_agents

if TYPE_CHECKING:
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.identity import Member

VISIBLE = [column for column in crawl_agents.c if column.name not in ("token", "cookies")]
HAS_SESSION = case((or_(crawl_agents.c.token.is_not(None), crawl_agents.c.token_renew_at.is_not(None)), 1), else_=0)


@dataclass(frozen=True, slots=True)
class Shown:
    """An identity as anyone may see it, with what became of its calls."""

    id: int
    source: str
    place: int
    user_agent: str
    state: IdentityState
    health: int
    has_session: bool
    session_expires_at: datetime | None
    leased_by: str | None
    leased_until: datetime | None
    rest_until: datetime | None
    throttled_in_a_row: int
    calls: int
    successes: int
    throttles: int
    failures: int
    success_rate: float | None
    throttle_rate: float | None
    last_used_at: datetime | None


async def show(tx: Tx, source: str = "") -> list[Shown]:
    """The identities of a source, or of all: states as of now, success and throttle rates, and no secret."""
    return [shown for shown, _ in await members(tx, source)]


async def members(tx: Tx, source: str = "") -> list[tuple[Shown, Member]]:
    """The same, each with what it has left of its quota; still without secrets."""
    query = select(*VISIBLE, HAS_SESSION.label("has_session")).order_by(crawl_agents.c.source, crawl_agents.c.place)
    rows = await tx.fetch(query.where(crawl_agents.c.source == source) if source else query)
    found = [(row, member_of(row, secrets=False)) for row in rows]
    return [(_shown(row, member, tx.now), member) for row, member in found]


def _shown(row: Row, member: Member, now: datetime) -> Shown:
    state = state_at(member, now)
    calls = row["calls"]
    is_held, is_resting = state is IdentityState.ACTIVE, state in (IdentityState.DISABLED, IdentityState.RATE_LIMITED)
    return Shown(
        id=row["id"],
        source=row["source"],
        place=row["place"],
        user_agent=row["user_agent"],
        state=state,
        health=row["health"],
        has_session=bool(row["has_session"]),
        session_expires_at=member.token_expires_at,
        leased_by=row["leased_by"] if is_held else None,
        leased_until=member.leased_until if is_held else None,
        rest_until=member.rest_until if is_resting else None,
        throttled_in_a_row=member.throttled_in_a_row,
        calls=calls,
        successes=row["successes"],
        throttles=row["throttles"],
        failures=row["failures"],
        success_rate=row["successes"] / calls if calls else None,
        throttle_rate=row["throttles"] / calls if calls else None,
        last_used_at=member.last_used_at,
    )
