"""The identity pools of all sources in SQL: made, leased, given a session, given back.

Nobody waits for a lock here: who leases reads the pool, chooses, and takes by comparing the lease number. An identity
is never leased twice at a time; a lease that ran out is taken over under the next number, and whoever comes back with
the old number changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.collect import identity as rules
from bobusang.stages.collect.identity import Member
from bobusang.stages.collect.policy import IdentityKind
from bobusang.stages.collect.sessions import shown, shown_query
from bobusang.stages.collect.tables import IdentityState, crawl_agents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.responses import Tally
    from bobusang.stages.collect.sessions import Session

TERM = timedelta(minutes=10)
"""How long a lease lasts: the deadline of a task."""

MEMBERS = Statement("select * from crawl_agents where source = :source and place < :size order by id")
ONE = Statement(
    "select * from crawl_agents where id = :id for update", sqlite="select * from crawl_agents where id = :id"
)
MADE = Bulk(crawl_agents, ("source", "place", "user_agent", "created_at", "updated_at"), keep=True)
RENAMED = Statement("""
    update crawl_agents set user_agent = :user_agent, token = :token, cookies = :cookies, token_expires_at = null,
      token_renew_at = null, updated_at = :now
    where id = :id and state <> 'ACTIVE'""")
TAKE = Statement("""
    update crawl_agents set state = 'ACTIVE', leased_by = :by, leased_until = :until, lease_number = lease_number + 1,
      rest_until = null, updated_at = :now
    where id = :id and lease_number = :number and (state in ('IDLE', 'RECOVERED')
      or state in ('DISABLED', 'RATE_LIMITED') and rest_until <= :now or state = 'ACTIVE' and leased_until <= :now)""")
ISSUED = Statement("""
    update crawl_agents set token = :token, cookies = :cookies, token_expires_at = :expires_at,
      token_renew_at = :renew_at, updated_at = :now
    where id = :id and lease_number = :number and state = 'ACTIVE'""")
KEYED = Statement("""
    update crawl_agents set token = :token, cookies = :cookies, token_expires_at = null, token_renew_at = null,
      updated_at = :now
    where source = :source""")
AWAKEN = Statement("""
    update crawl_agents set state = case when state = 'DISABLED' then 'RECOVERED' else 'IDLE' end, rest_until = null,
      updated_at = :now
    where state in ('DISABLED', 'RATE_LIMITED') and rest_until <= :now""")
ORPHANED = Statement("""
    update crawl_agents set state = 'IDLE', leased_by = null, leased_until = null, updated_at = :now
    where state = 'ACTIVE' and leased_by in (:names...)""")
RELEASED = (
    "state",
    "health",
    "token",
    "cookies",
    "token_expires_at",
    "token_renew_at",
    "rest_until",
    "throttled_in_a_row",
    "last_throttled_at",
    "forgiven_at",
    "quota_left",
)
IN_USE = Statement("""
    select a.id from crawl_agents a join source_decisions d on d.source = a.source where d.enabled = true limit 1""")
RELEASE = Statement(f"""
    update crawl_agents set {", ".join(f"{name} = :{name}" for name in RELEASED)}, leased_by = null,
      leased_until = null, calls = calls + :calls, successes = successes + :successes,
      throttles = throttles + :throttles, failures = failures + :failures, last_used_at = :now, updated_at = :now
    where id = :id and lease_number = :number and state = 'ACTIVE'""")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to make some calls as one identity, until its time is over. Secrets are not in its `repr`."""

    source: str
    identity: int
    """`crawl_agents.id`; 0 where the source knows us by nothing but a user agent."""
    number: int
    """The fencing number."""
    until: datetime
    calls: int
    user_agent: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All headers of its calls, names in lower case; empty while it needs a session."""
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Added to the addresses of its calls as they are sent."""
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the operator gave to log in with."""
    needs_session: bool = False
    """First `sessions.issue_call`, then `Gate.issued` (or, in a transaction, `keep_session`)."""
    fresh: bool = False
    """Its session was issued within this lease."""
    left: float | None = None
    """What its bucket held once these calls were granted; None: it has no quota."""
    granted_at: datetime | None = None


def is_pooled(policy: Policy) -> bool:
    """Whether identities are leased: they have sessions, keys or quotas of their own. A mere user agent is shared."""
    return policy.identity.kind is not IdentityKind.NONE or policy.identity.quota is not None


async def in_use(tx: Tx) -> bool:
    """Whether any source that a person has enabled has identities."""
    return await tx.first(IN_USE) is not None


async def ensure(tx: Tx, source: str, policy: Policy, user_agent: str) -> None:
    """Make the rows that a source's pool lacks; `user_agent` is the operator's, where the policy names none.

    An identity that gets another user agent loses its session: it was issued to somebody else.
    """
    if not is_pooled(policy):
        return
    agents = policy.identity.user_agents or (user_agent,)
    names = {place: agents[place % len(agents)] for place in range(policy.identity.size)}
    known = {row["place"]: row for row in await tx.fetch(MEMBERS, source=source, size=policy.identity.size)}
    await tx.insert(MADE, [(source, place, names[place], tx.now, tx.now) for place in names.keys() - known.keys()])
    for place, row in known.items():
        if row["user_agent"] != names[place]:
            after = rules.without_session(member_of(row))
            kept = row["token"] if policy.identity.kind is IdentityKind.API_KEY else None  # it is the operator's
            await tx.execute(
                RENAMED, id=row["id"], user_agent=names[place], token=kept, cookies=_cookies(after), now=tx.now
            )


async def members(tx: Tx, source: str, policy: Policy) -> list[Member]:
    """The pool as it is stored."""
    return [member_of(row) for row in await tx.fetch(MEMBERS, source=source, size=policy.identity.size)]


async def lease(tx: Tx, source: str, policy: Policy, *, by: str, calls: int, term: timedelta = TERM) -> list[Lease]:
    """Take identities for so many calls, or for as many as can be had; empty: none is free.

    The calls are not yet permitted: the limiter is asked for them outside of any transaction.
    """
    limit = rules.limit_of(policy.identity.quota) if policy.identity.quota else None
    taken: list[Lease] = []
    left = calls
    for _ in range(policy.identity.size):  # whoever was quicker has taken one, so there is one less to lose
        pool = await members(tx, source, policy)
        free = [one for one in pool if rules.is_free(one, tx.now) and not rules.lacks_key(one, policy)]
        needy = {one.id for one in free if rules.needs_session(one, policy, tx.now)}
        wanted = rules.chosen(free, left, limit, tx.now, needy=needy)
        won = [pair for pair in sorted(wanted, key=_by_id) if await _take(tx, pair[0], by, tx.now + term)]
        taken += [_lease(source, policy, member, share, tx.now, tx.now + term) for member, share in won]
        left = calls - sum(one.calls for one in taken)
        if left <= 0 or len(won) == len(wanted):
            break
    return taken


def _by_id(pair: tuple[Member, int]) -> int:
    """In one order everywhere, so that two who take several do not wait for each other."""
    return pair[0].id


async def _take(tx: Tx, member: Member, by: str, until: datetime) -> bool:
    number = member.lease_number
    return bool(await tx.execute(TAKE, id=member.id, number=number, by=by[:200], until=until, now=tx.now))


def _lease(source: str, policy: Policy, member: Member, calls: int, now: datetime, until: datetime) -> Lease:
    bare = Lease(source, member.id, member.lease_number + 1, until, calls, member.user_agent, given=member.given)
    if rules.needs_session(member, policy, now):
        return replace(bare, needs_session=True)
    headers, cookies = shown(policy, member.user_agent, member.token, member.cookies)
    query = shown_query(policy, member.token, member.cookies)
    return replace(bare, headers=headers, cookies=cookies, query=query)


async def keep_session(tx: Tx, lease: Lease, policy: Policy, session: Session) -> Lease:
    """Store what was issued under this lease; the lease with which calls can be made."""
    kept = await tx.execute(
        ISSUED,
        id=lease.identity,
        number=lease.number,
        token=session.token,
        cookies=json.dumps({**rules.marked(lease.given), **session.cookies}),
        expires_at=session.expires_at,
        renew_at=session.renew_at,
        now=tx.now,
    )
    if not kept:
        raise Conflict(f"the lease of identity {lease.identity} ran out and was taken over", hint="ask the gate again")
    headers, cookies = shown(policy, lease.user_agent, session.token, session.cookies)
    query = shown_query(policy, session.token, session.cookies)
    return replace(lease, headers=headers, cookies=cookies, query=query, needs_session=False, fresh=True)


async def release(
    tx: Tx,
    lease: Lease,
    policy: Policy,
    tally: Tally,
    *,
    limited_until: datetime | None = None,
    quota_left: float | None = None,
    jitter: float = 0.0,
) -> bool:
    """Give an identity back with what came of its calls; False when the lease was another's by then.

    `limited_until`: its quota is used up until then. `quota_left`: what its bucket holds now.
    """
    row = await tx.first(ONE, id=lease.identity)
    if row is None or row["lease_number"] != lease.number or row["state"] != IdentityState.ACTIVE:
        return False
    before = member_of(row)
    after = rules.released(
        before, tally, policy, now=tx.now, fresh=lease.fresh, limited_until=limited_until, jitter=jitter
    )
    after = replace(after, quota_left=before.quota_left if quota_left is None else quota_left)
    values = {name: getattr(after, name) for name in RELEASED} | {"cookies": _cookies(after)}
    await tx.execute(
        RELEASE,
        **values,
        id=lease.identity,
        number=lease.number,
        calls=tally.calls,
        successes=tally.answered - tally.failed,
        throttles=tally.throttled,
        failures=tally.failed + tally.broken + tally.refused,
        now=tx.now,
    )
    return True


async def free(tx: Tx, names: Sequence[str]) -> None:
    """Take back what processes that have died had leased: a source with one identity would wait ten minutes for it."""
    await tx.execute(ORPHANED, names=list(names), now=tx.now)


async def give_key(tx: Tx, source: str, key: str, username: str = "") -> None:
    """Let all identities of a source show the key that the operator was given, or log in with a name and it."""
    given = rules.marked({"username": username, "password": key})
    token, cookies = (None, json.dumps(given)) if username else (key, None)
    if not await tx.execute(KEYED, source=source, token=token, cookies=cookies, now=tx.now):
        raise Missing(f"{source} has no identities", hint="enable the source first")


async def forget(tx: Tx, source: str) -> None:
    """Throw away sessions and keys of a source: they were for another place of that name."""
    await tx.execute(KEYED, source=source, token=None, cookies=None, now=tx.now)


async def awaken(tx: Tx) -> int:
    """Write down which rests are over, for whoever reads the table itself; nothing here depends on it."""
    return await tx.execute(AWAKEN, now=tx.now)


def _cookies(member: Member) -> str | None:
    return json.dumps(dict(member.cookies)) if member.cookies else None


_INSTANTS = (
    "token_expires_at",
    "token_renew_at",
    "leased_until",
    "rest_until",
    "last_throttled_at",
    "forgiven_at",
    "last_used_at",
)
_PLAIN = ("id", "user_agent", "health", "lease_number", "throttled_in_a_row", "quota_left")


def member_of(row: Row, *, secrets: bool = True) -> Member:
    """An identity as a row has it; without its secrets where they were not asked for."""
    values: dict[str, Any] = {name: row[name] for name in _PLAIN} | {name: utc(row[name]) for name in _INSTANTS}
    if secrets:
        values |= {"token": row["token"], "cookies": json.loads(row["cookies"]) if row["cookies"] else {}}
    return Member(state=IdentityState(row["state"]), **values)
