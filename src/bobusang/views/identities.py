"""Identities: who we are at a source, in which state, and what became of their calls; never their secrets."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.stages.collect import roster
from bobusang.stages.collect.admission import NEVER
from bobusang.stages.collect.roster import Shown
from bobusang.stages.collect.tables import IdentityState

_TOLD = tuple(one.name for one in fields(Shown))


@dataclass(frozen=True, slots=True)
class IdentityLine(Shown):
    """An identity, its state as of now, its session without its secrets, and what became of its calls.

    A DISABLED one without `rest_until` rests until a person lets it recover.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What became of some calls: rates are of all calls, null where there was none."""

    calls: int
    successes: int
    throttles: int
    failures: int
    success_rate: float | None
    throttle_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance(Rates):
    """What became of the calls of one identity."""

    id: int
    place: int
    state: IdentityState
    health: int
    throttled_in_a_row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Analytics(Rates):
    """What became of the calls of a source's identities together, and of each, the least successful first."""

    source: str
    size: int
    states: dict[IdentityState, int]
    identities: list[Performance]


async def listed(
    tx: Tx, *, source: str = "", state: IdentityState | None = None, after: int | None = None, limit: int
) -> list[IdentityLine]:
    """Identities by number. A pool is small, and its states are as of now: they are not in the table."""
    found = sorted(await roster.show(tx, source), key=lambda one: one.id)
    chosen = [one for one in found if one.id > (after or 0) and state in (None, one.state)]
    return [line(one) for one in chosen[:limit]]


async def one(tx: Tx, identity: int, source: str = "") -> IdentityLine:
    """One identity."""
    for found in await roster.show(tx, source):
        if found.id == identity:
            return line(found)
    raise Missing(f"there is no identity {identity}", hint="`bobusang identity list` shows them")


async def analytics(tx: Tx, source: str = "") -> list[Analytics]:
    """What became of the calls, by source and identity."""
    pools: dict[str, list[Shown]] = {}
    for found in await roster.show(tx, source):
        pools.setdefault(found.source, []).append(found)
    return [analysed(name, members) for name, members in pools.items()]


def line(found: Shown) -> IdentityLine:
    """An identity, without the instant that means never."""
    rest = found.rest_until
    told = {name: getattr(found, name) for name in _TOLD}
    return IdentityLine(**told | {"rest_until": None if rest is None or rest >= NEVER else rest})


def analysed(source: str, members: Sequence[Shown]) -> Analytics:
    """What became of the calls of a source's identities."""
    calls, successes = sum(one.calls for one in members), sum(one.successes for one in members)
    throttles = sum(one.throttles for one in members)
    states = [one.state for one in members]
    return Analytics(
        source=source,
        size=len(members),
        states={state: states.count(state) for state in IdentityState},
        calls=calls,
        successes=successes,
        throttles=throttles,
        failures=sum(one.failures for one in members),
        success_rate=successes / calls if calls else None,
        throttle_rate=throttles / calls if calls else None,
        identities=[_performance(one) for one in sorted(members, key=_least_first)],
    )


def _least_first(found: Shown) -> tuple[float, int]:
    return (2.0 if found.success_rate is None else found.success_rate), found.id


def _performance(found: Shown) -> Performance:
    return Performance(
        id=found.id,
        place=found.place,
        state=found.state,
        health=found.health,
        throttled_in_a_row=found.throttled_in_a_row,
        calls=found.calls,
        successes=found.successes,
        throttles=found.throttles,
        failures=found.failures,
        success_rate=found.success_rate,
        throttle_rate=found.throttle_rate,
    )
