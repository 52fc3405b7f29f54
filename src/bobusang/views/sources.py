"""Sources: where they come from, whether a person has enabled them, what robots.txt says, how the gate stands."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

import msgspec

from bobusang.catalog.tables.images import Rights
from bobusang.connectors.sources.declared.shop import Declared
from bobusang.kit.db import Tx
from bobusang.kit.redact import redact
from bobusang.kit.sql import Statement
from bobusang.stages.collect import counts, decisions, roster
from bobusang.stages.collect.counts import Counts, day_of
from bobusang.stages.collect.decisions import Decision
from bobusang.stages.collect.policy import IdentityKind, Policy
from bobusang.stages.collect.roster import Shown
from bobusang.stages.collect.source import Kind, Source
from bobusang.stages.collect.tables import IdentityState
from bobusang.views import gate, source_health
from bobusang.views.gate import GateEntry, GateLine
from bobusang.views.source_health import Answers, Health, health_of

NAMED = Statement("""
    select name, base_url from crawl_sources
    union all select name, base_url from suppliers
    union all select source, null from source_decisions
    union all select source, null from source_gates""")
LAST_DECISIONS = 10
BROKEN = "broken"
UNDESCRIBED = "undescribed"
"""The origin of a place that no shop describes, as generic workflows visit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A source that is known by name: on the shelf, loaded or with why it cannot be, or a place no shop describes."""

    name: str
    origin: str
    contains_code: bool = False
    base: str | None = None
    policy: Policy | None = None
    source: Source | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """What robots.txt said when it was last asked; it is shown, and decides nothing."""

    standing: str
    line: str
    status: int | None
    error: str | None
    crawl_delay: float | None
    url: str
    fetched_at: datetime
    endpoints: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsLine:
    """How hard a source may be asked by all of us together; `endpoints` have rates of their own."""

    rate: float
    burst: float
    concurrency: int
    endpoints: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLine:
    """Who we are there: the kind of identity, how many there should be, their quota, and how many are in each state."""

    kind: IdentityKind
    size: int
    quota_calls: int | None
    quota_seconds: float | None
    states: dict[IdentityState, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A source in a list; `problem` where its shop.yaml cannot be read, and then nothing is known of it but its place.

    `intake`: how its data come: http, webhook, excel, or code. `gate`: open, off, broken, or what waits and why.
    `health`: how it is, in a word; `pages_read` and `pages_failed` are of the last hour, or of when it was last asked.
    `rights`: by what right its pictures are shown.
    """

    name: str
    origin: str
    intake: str
    contains_code: bool
    trusted: bool
    problem: str | None
    description: str
    base: str | None
    version: str | None
    kinds: list[str]
    enabled: bool
    why: str | None
    decided_by: str | None
    decided_at: datetime | None
    rights: Rights
    robots: Robots | None
    gate: str
    health: Health
    last_answer_at: datetime | None
    pages_read: int
    pages_failed: int
    limits: LimitsLine | None
    identity: PoolLine | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLine:
    """A stream of a declared source, which is also its endpoint at the gate and in statistics."""

    name: str
    kind: Kind
    method: str
    path: str
    targets: list[str]
    lists: list[str]
    when: str | None
    emits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """What came of the fetches from one endpoint on the source's own day."""

    endpoint: str
    success: int
    failure: int
    retries: int
    throttled: int
    not_modified: int
    items: int
    changed: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDetail(SourceLine):
    """A source with all there is to know of it."""

    streams: list[StreamLine]
    policy: Any
    gates: list[GateLine]
    decisions: list[GateEntry]
    today: list[Today]


async def undescribed(tx: Tx, shelved: Collection[str]) -> dict[str, str | None]:
    """Places that no shop describes, with their address where one is known: what targets belong to, suppliers whose
    columns a person settled, what was decided about, what waited at the gate."""
    found: dict[str, str | None] = {}
    for row in await tx.fetch(NAMED):
        found[row["name"]] = row["base_url"] or found.get(row["name"])
    return {name: base for name, base in sorted(found.items()) if name not in shelved}


async def listed(tx: Tx, known: Sequence[Known]) -> list[SourceLine]:
    """All sources, in the order they are given."""
    decided = {one.source: one for one in await decisions.all_decided(tx)}
    pool = await roster.show(tx)
    gates = await gate.lines(
        tx, [one.name for one in known], on={one.source for one in decided.values() if one.enabled}
    )
    answers = await source_health.answers(tx)
    return [
        SourceLine(
            **_facts(
                one,
                decided,
                pool,
                [line for line in gates if line.source == one.name],
                source_health.told(answers, one.name),
            )
        )
        for one in known
    ]


async def one(tx: Tx, known: Known) -> SourceDetail:
    """One source, with its streams, its policy, its gates, what they decided, and what was fetched today."""
    name = known.name
    decided = {one.source: one for one in await decisions.all_decided(tx)}
    gates = await gate.lines(tx, [name], source=name, on={one.source for one in decided.values() if one.enabled})
    policy = known.policy
    answered = source_health.told(await source_health.answers(tx), name)
    return SourceDetail(
        **_facts(known, decided, await roster.show(tx, name), gates, answered),
        streams=_streams(known.source),
        policy=None if policy is None else _policy(policy),
        gates=gates,
        decisions=await gate.journal(tx, name, limit=LAST_DECISIONS),
        today=[] if policy is None else await _today(tx, name, policy),
    )


def _facts(
    known: Known,
    decided: Mapping[str, Decision],
    pool: Sequence[Shown],
    gates: Sequence[GateLine],
    answered: Answers,
) -> dict[str, Any]:
    source, policy = known.source, known.policy
    decision = decided.get(known.name)
    enabled = decision is not None and decision.enabled
    return {
        "name": known.name,
        "origin": known.origin,
        "intake": _intake(known),
        "contains_code": known.contains_code,
        "trusted": policy is not None and policy.trusted,
        "problem": known.problem,
        "description": source.description if isinstance(source, Declared) else "",
        "base": known.base,
        "version": source.version if source else None,
        "kinds": list(source.target_kinds) if isinstance(source, Declared) else [],
        "gate": BROKEN if policy is None else gate.in_words(gates),
        "health": health_of(gates, answered, broken=policy is None, enabled=enabled),
        "last_answer_at": answered.at,
        "pages_read": answered.read,
        "pages_failed": answered.failed,
        "limits": _limits(policy) if policy else None,
        "identity": _pool(policy, [one for one in pool if one.source == known.name]) if policy else None,
        **_decision(decision),
    }


def _intake(known: Known) -> str:
    if known.source is None or not isinstance(known.source, Declared):
        return "http" if known.source is None else "code"
    if known.source.inbound is not None:
        return "webhook"
    return "excel" if getattr(known.source, "files", None) is not None else "http"


def _decision(found: Decision | None) -> dict[str, Any]:
    made = found is not None and bool(found.by)
    return {
        "enabled": found is not None and found.enabled,
        "why": found.why if found and made else None,
        "decided_by": found.by if found and made else None,
        "decided_at": found.at if found and made else None,
        "rights": found.rights if found else Rights.UNKNOWN,
        "robots": _robots(found) if found else None,
    }


def _robots(decision: Decision) -> Robots | None:
    told = decision.robots
    if told is None or decision.robots_fetched_at is None:
        return None
    values: dict[str, Any] = {one.name: told.get(one.name) for one in fields(Robots) if one.name != "fetched_at"}
    return Robots(fetched_at=decision.robots_fetched_at, **values)


def _policy(policy: Policy) -> dict[str, Any]:
    """The whole policy; headers that somebody wrote a secret into are masked."""
    plain: dict[str, Any] = msgspec.to_builtins(policy, enc_hook=lambda _: "read by the shop")
    identity = plain["identity"] | {name: redact(plain["identity"][name]) for name in ("headers", "query")}
    if identity["issue"] is not None:
        identity["issue"] = redact(identity["issue"])
    return plain | {"headers": redact(plain["headers"]), "identity": identity}


def _limits(policy: Policy) -> LimitsLine:
    found = policy.limits
    return LimitsLine(
        rate=found.rate, burst=found.burst, concurrency=found.concurrency, endpoints=dict(found.endpoints)
    )


def _pool(policy: Policy, members: Sequence[Shown]) -> PoolLine:
    identity, quota = policy.identity, policy.identity.quota
    states = [one.state for one in members if one.place < identity.size]
    return PoolLine(
        kind=identity.kind,
        size=identity.size,
        quota_calls=quota.calls if quota else None,
        quota_seconds=quota.per.total_seconds() if quota else None,
        states={state: states.count(state) for state in IdentityState} if states else {},
    )


def _streams(source: Source | None) -> list[StreamLine]:
    if not isinstance(source, Declared):
        return []
    return [
        StreamLine(
            name=stream.name,
            kind=stream.kind,
            method=stream.request.method,
            path=stream.request.path,
            targets=sorted(stream.target_kinds),
            lists=sorted(stream.lists),
            when=stream.when or None,
            emits=stream.emits.value,
        )
        for stream in source.streams.values()
    ]


async def _today(tx: Tx, name: str, policy: Policy) -> list[Today]:
    day = date.fromisoformat(day_of(tx.now, policy.window.zone))
    sums: dict[str, Counts] = {}
    for found in await counts.daily(tx, day, day, source=name):
        endpoint = found.place.endpoint
        sums[endpoint] = sums.get(endpoint, Counts()) + found.counts
    return [
        Today(endpoint=endpoint, **{each: getattr(total, each) for each in counts.NAMES})
        for endpoint, total in sorted(sums.items())
    ]
