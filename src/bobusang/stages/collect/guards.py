"""Guards: when a change is not believed, it is held and shown to a person with the numbers that made it suspicious.

A guard of a record (price jump, option fall, contradiction) stops that record's change. A guard of a run (mass change,
null rate) stops all further changes of the run: the pages, or our reading of them, have most likely changed. All are
pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.model import Change, ChangeKind, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.stages.collect.policy import Guards

FEW = 3
"""Fewer than so many are never a rate or a fall: one unreadable price in a list of thirty is no drift."""


class Guard(StrEnum):
    """What stopped a write."""

    PRICE_JUMP = "price_jump"
    OPTION_FALL = "option_fall"
    MASS_CHANGE = "mass_change"
    NULL_RATE = "null_rate"
    COVERAGE = "coverage"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Held:
    """A change that must not be written before a person agrees."""

    guard: Guard
    reason: str
    fields: tuple[str, ...]
    """The fields at issue, as a snapshot names them."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run has seen so far, the change to be judged included."""

    known: int = 0
    """Items that the list had before the run; 0: there was nothing yet that a mass change could harm."""
    changed: int = 0
    """Items of which this stream of the run would overturn something known."""
    seen: Mapping[str, int] = field(default_factory=dict)
    """By field: how many readings should have told it."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """By field: in how many of them it could not be read."""
    tripped: str = ""
    """The guard that has stopped this run already."""
    reason: str = ""


def judge(guards: Guards, change: Change, run: RunFacts) -> Held | None:
    """Whether a change is held: by what it says itself first, then by what its run looks like."""
    match change.kind:
        case ChangeKind.SAME:
            return None
        case ChangeKind.NEW:
            return _unless_harmless(change, trip(guards, run))
        case ChangeKind.CHANGED:
            held = price_jump(guards, change) or option_fall(guards, change)
            return held or _of(change, trip(guards, run))


def trip(guards: Guards, run: RunFacts) -> tuple[Guard, str] | None:
    """The guard that stops all further changes of a run, and why."""
    if run.tripped:
        return Guard(run.tripped), run.reason
    return mass_change(guards, run) or null_rate(guards, run)


def price_jump(guards: Guards, change: Change) -> Held | None:
    """More than so much of the old price at once, up or down; or no price where there was one."""
    moved = next((one for one in change.fields if one.field == "price"), None)
    if moved is None or moved.old is None:
        return None
    if not moved.new:
        return Held(Guard.PRICE_JUMP, f"price {moved.old:,} → {'none' if moved.new is None else 0}", ("price",))
    if abs(moved.new - moved.old) <= share(guards.price_jump) * moved.old:
        return None
    by = f"{(moved.new - moved.old) / moved.old:+.0%}, " if moved.old else ""
    reason = f"price {moved.old:,} → {moved.new:,} ({by}more than {guards.price_jump:.0%} is held)"
    return Held(Guard.PRICE_JUMP, reason, ("price",))


def option_fall(guards: Guards, change: Change) -> Held | None:
    """Too many options vanish at once: most likely half a page.

    An option that is still shown, as sold out, has not vanished: the page says so, and to hold that would oversell. The
    same is true of a page that says in so many words that all is sold out.
    """
    if change.before is None or change.reading.snapshot.fields.get("sold_out") is True:
        return None
    before = _offered(change.before)
    gone = before - _offered(change.after)
    if not gone or len(gone) <= share(guards.option_fall) * len(before):
        return None
    reason = f"{len(gone)} of {len(before)} options vanish at once (more than {guards.option_fall:.0%} is held)"
    return Held(Guard.OPTION_FALL, reason, ("options",))


def contradiction() -> Held:
    """An item's page that says "no more" while the list of the same run shows it: one of both is wrong. A mall whose
    item pages are away for a moment answers 404 to all of them."""
    reason = "its own page says that it is no more, but the list of this run shows it"
    return Held(Guard.CONTRADICTION, reason, ("gone", "listed"))


def mass_change(guards: Guards, run: RunFacts) -> tuple[Guard, str] | None:
    """Too much of what is known is overturned in one run."""
    enough = run.known > 0 and run.changed >= guards.mass_least
    if not enough or run.changed <= share(guards.mass_change) * run.known:
        return None
    reason = f"{run.changed:,} of {run.known:,} known items change in one run (more than {guards.mass_change:.0%})"
    return Guard.MASS_CHANGE, reason


def null_rate(guards: Guards, run: RunFacts) -> tuple[Guard, str] | None:
    """A field that pages should tell is unreadable too often."""
    for name, rate in guards.null_rate.items():
        unknown, seen = run.unknown.get(name, 0), run.seen.get(name, 0)
        if unknown >= FEW and unknown > share(rate) * max(seen, run.known):
            return Guard.NULL_RATE, f"{name} could not be read in {unknown:,} of {seen:,} readings (limit {rate:.1%})"
    return None


def overturns(change: Change) -> bool:
    """Whether something known would become something else; learning what was not known yet overturns nothing."""
    return change.kind is ChangeKind.CHANGED and any(one.old is not None for one in change.fields)


def believable(snapshot: Snapshot) -> Snapshot:
    """A snapshot without the price that a sold-out page no longer shows: the last one stays, and grows old."""
    fields = snapshot.fields
    if fields.get("sold_out") is True and "price" in fields and not fields["price"]:
        return without(snapshot, ("price",))
    return snapshot


def without(snapshot: Snapshot, names: tuple[str, ...]) -> Snapshot:
    """A snapshot that says nothing of these fields."""
    kept = {name: value for name, value in snapshot.fields.items() if name not in names}
    return msgspec.structs.replace(snapshot, fields=kept)


def share(limit: float) -> Fraction:
    """A share as it was written (0.1 is a tenth), so that a limit is met exactly."""
    return Fraction(str(limit))


def _unless_harmless(change: Change, tripped: tuple[Guard, str] | None) -> Held | None:
    """A new record overturns nothing, and what is unknown of it stays unknown: no null rate holds it. But a mass change
    says that pages are being misread, and a new record would be made of that."""
    return None if tripped is None or tripped[0] is Guard.NULL_RATE else _of(change, tripped)


def _of(change: Change, tripped: tuple[Guard, str] | None) -> Held | None:
    if tripped is None:
        return None
    said = (one.field.partition(".")[0] for one in change.fields)
    return Held(*tripped, tuple(sorted(set(said if change.fields else change.reading.snapshot.fields))))


def _offered(fields: Mapping[str, Any]) -> set[str]:
    """The codes of the options that a product has."""
    return {option["code"] for option in fields.get("options") or () if not option.get("gone")}
