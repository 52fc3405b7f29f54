"""The gate in words: what waits, until when and why, and what it decided before."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from bobusang.engine.budgets import FOREVER
from bobusang.kit.db import Tx
from bobusang.stages.collect import decisions, gatebook
from bobusang.stages.collect.admission import UNTIL_ENABLED, Cause, Standing
from bobusang.stages.collect.gatebook import Shown
from bobusang.stages.collect.pools import pool_of
from bobusang.stages.collect.tables import AnswerWord, BreakerState
from bobusang.views import queues

OPEN = "open"
OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """A source, or one endpoint of it, as the gate sees it now; `endpoint` null: all of the source.

    `until` is null where nothing but a person ends the wait (`needs_person`). `tasks` are those in the queue for it,
    where they were counted.
    """

    source: str
    endpoint: str | None
    answer: AnswerWord
    cause: str | None
    until: datetime | None
    needs_person: bool
    reason: str | None
    breaker: BreakerState
    times_opened: int
    tasks: int | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEntry:
    """One line of the gate's journal."""

    id: int
    at: datetime
    source: str
    endpoint: str | None
    answer: AnswerWord
    until: datetime | None
    reason: str


async def lines(
    tx: Tx, sources: Sequence[str], *, source: str = "", counted: bool = False, on: Collection[str] | None = None
) -> list[GateLine]:
    """Where every source and endpoint stands; `sources` are those there are, also without anything to remember.

    `counted`: with how many tasks are in the queue, which a list of sources can do without. `on`: those that are
    enabled, where they are known already.
    """
    enabled = {one.source for one in await decisions.all_decided(tx) if one.enabled} if on is None else on
    names = [source] if source else sources
    shown = await gatebook.show(tx, source)
    known = {(one.source, one.endpoint): one for one in shown}
    places = {(name, "") for name in names} | known.keys()
    tasks = await _tasks(tx) if counted else None
    return [
        _line(
            place,
            known.get(place),
            enabled=place[0] in enabled,
            tasks=None if tasks is None else tasks[pool_of(*place)],
            now=tx.now,
        )
        for place in sorted(places)
    ]


async def journal(tx: Tx, source: str = "", *, before: int | None = None, limit: int = 100) -> list[GateEntry]:
    """What the gate decided, newest first."""
    return [
        GateEntry(
            id=one.id,
            at=one.at,
            source=one.source,
            endpoint=one.endpoint or None,
            answer=one.answer,
            until=_until(one.until),
            reason=one.reason,
        )
        for one in await gatebook.decisions(tx, source, before=before, limit=limit)
    ]


def in_words(found: Sequence[GateLine]) -> str:
    """The state of one source's gate: open, off, or why something waits."""
    waits = [line for line in found if line.answer is AnswerWord.WAIT]
    whole = next((line for line in waits if line.endpoint is None), None)
    if whole is not None:
        return OFF if whole.cause == Cause.OFF else f"{whole.cause}: {whole.reason}"
    if waits:
        return "; ".join(f"{line.endpoint} {line.cause}: {line.reason}" for line in waits)
    return OPEN


def _line(place: tuple[str, str], shown: Shown | None, *, enabled: bool, tasks: int | None, now: datetime) -> GateLine:
    standing = shown.standing if shown else Standing()
    cause, until, reason = _now(place[0], standing, whole=not place[1], enabled=enabled, now=now)
    return GateLine(
        source=place[0],
        endpoint=place[1] or None,
        answer=AnswerWord.GO if cause is None else AnswerWord.WAIT,
        cause=cause,
        until=_until(until),
        needs_person=until is not None and _until(until) is None,
        reason=reason,
        breaker=standing.breaker.state,
        times_opened=standing.breaker.times_opened,
        tasks=tasks,
        updated_at=shown.updated_at if shown else None,
    )


def _now(
    source: str, standing: Standing, *, whole: bool, enabled: bool, now: datetime
) -> tuple[str | None, datetime | None, str | None]:
    """Cause, end and reason of a wait that holds now."""
    if whole and not enabled:
        why = standing.answer_reason if standing.cause is Cause.OFF else None
        return Cause.OFF, UNTIL_ENABLED, why or f"`bobusang source enable {source}` with why it may be"
    breaker = standing.breaker
    if breaker.state is BreakerState.HALTED:
        why = breaker.reason or "no reason was given"
        return Cause.HALTED, FOREVER, f"{why}; `bobusang source resume {source}` when mended"
    if standing.waits(now):
        return standing.cause, standing.answer_until, standing.answer_reason
    if breaker.state is BreakerState.OPEN and breaker.open_until is not None and breaker.open_until > now:
        return Cause.BREAKER, breaker.open_until, breaker.reason
    if standing.blocked_until is not None and standing.blocked_until > now:
        return Cause.BACK_OFF, standing.blocked_until, "it asked for a rest"
    return None, None, None


def _until(until: datetime | None) -> datetime | None:
    return None if until is None or until >= UNTIL_ENABLED else until


async def _tasks(tx: Tx) -> Counter[str]:
    """What is in the queue, by pool."""
    found: Counter[str] = Counter()
    for lane in (await queues.board(tx)).lanes:
        for pool in lane.pools:
            found[pool] += lane.waiting + lane.delayed + lane.held
    return found
