"""Holds: sends that a guard stopped, kept with the numbers until a person decides or the wish changes.

HELD ─ approve ─▶ APPROVED   exactly this may be sent for a day; an unanswered call is let go
     ─ reject ──▶ REJECTED   exactly this stays unsent
     ─ other wish ─▶ SUPERSEDED, and a hold of its own where a person may approve it: who approves by its number agrees
                     to what was read under that number, and to nothing that came since
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.platform.bus import Event, publish
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.tables import HoldState, listing_holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

VALID = timedelta(days=1)
"""How long an approval counts: a price agreed to yesterday is not agreed to today."""

OPEN = Statement("select id, open_key, digest, times from listing_holds where open_key in (:keys...)")
REPLACE = Statement("""
    update listing_holds set state = 'SUPERSEDED', open_key = null, decided_at = :now, updated_at = :now
    where id in (:ids...) and state = 'HELD'""")
APPROVED = Statement("""
    select listing_id, guard, digest from listing_holds
    where listing_id in (:listings...) and state = 'APPROVED' and decided_at > :since""")
TRIPPED = Statement("""
    select distinct guard from listing_holds
    where account_id = :account and run_id = :run and guard in (:guards...) and state = 'HELD'""")
SUPERSEDE = Statement("""
    update listing_holds set state = 'SUPERSEDED', open_key = null, decided_at = :now, updated_at = :now
    where listing_id in (:listings...) and state = 'HELD' and guard not in ('unanswered', 'two_products')""")
ANSWERED = Statement("""
    update listing_holds set state = 'SUPERSEDED', open_key = null, decided_at = :now, updated_at = :now
    where listing_id in (:listings...) and state = 'HELD' and guard = 'unanswered'""")
DECIDE = Statement("""
    update listing_holds set state = :state, open_key = null, decided_at = :now, decided_by = :who, updated_at = :now
    where id = :id and state = 'HELD'""")
ONE = Statement("select * from listing_holds where id = :id")
PICK = Statement("""
    select * from listing_holds where account_id = :account and state = :state and id < :before
    order by id desc limit :limit""")

_NEW = Bulk(
    listing_holds,
    (
        *("account_id", "listing_id", "run_id", "guard", "reason", "digest", "state", "open_key"),
        *("created_at", "updated_at"),
    ),
)
_AGAIN = Revise(listing_holds, "id", ("run_id", "reason", "digest", "times", "updated_at"))
LAST_ID = 2**62


@dataclass(frozen=True, slots=True)
class Halt:
    """A listing whose send a guard stopped; the digest is what exactly would have been sent."""

    listing_id: int
    trip: Trip
    digest: str

    @property
    def open_key(self) -> str:
        return f"{self.listing_id}/{self.trip.guard}"


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold as it is kept."""

    id: int
    account_id: int
    listing_id: int
    guard: Guard
    reason: str
    state: HoldState
    times: int
    created_at: datetime
    decided_by: str = ""


async def keep(tx: Tx, account: int, run: str, halts: Sequence[Halt]) -> None:
    """Hold these; one that is open already counts up. Whoever listens is told once of each."""
    if not halts:
        return
    halts = list({halt.open_key: halt for halt in halts}.values())
    rows = await tx.fetch(OPEN, keys=[halt.open_key for halt in halts])
    known = {row["open_key"]: row for row in rows}
    if moved := [known.pop(halt.open_key)["id"] for halt in halts if _is_another(halt, known.get(halt.open_key))]:
        await tx.execute(REPLACE, ids=sorted(moved), now=tx.now)
    again = [
        (
            known[halt.open_key]["id"],
            run,
            halt.trip.reason[:500],
            halt.digest,
            known[halt.open_key]["times"] + 1,
            tx.now,
        )
        for halt in halts
        if halt.open_key in known
    ]
    fresh = [halt for halt in halts if halt.open_key not in known]
    await tx.revise(_AGAIN, sorted(again))
    await tx.insert(_NEW, [_row(tx, account, run, halt) for halt in fresh])
    await publish(tx, *(_event(halt) for halt in fresh))


def _is_another(halt: Halt, row: Row | None) -> bool:
    return row is not None and halt.trip.guard.can_be_approved and row["digest"] != halt.digest


def _row(tx: Tx, account: int, run: str, halt: Halt) -> tuple[object, ...]:
    trip = halt.trip
    held = (account, halt.listing_id, run, trip.guard, trip.reason[:500], halt.digest, HoldState.HELD, halt.open_key)
    return (*held, tx.now, tx.now)


def _event(halt: Halt) -> Event:
    told = {"listing_id": halt.listing_id, "guard": halt.trip.guard, "reason": halt.trip.reason}
    return Event("listing.held", f"listing:{halt.listing_id}", told)


async def approved(tx: Tx, listing_ids: Iterable[int]) -> frozenset[tuple[int, str, str]]:
    """What a person has agreed to: listing, guard, and what exactly."""
    chosen = list(listing_ids)
    rows = await tx.fetch(APPROVED, listings=chosen, since=tx.now - VALID) if chosen else ()
    return frozenset((row["listing_id"], row["guard"], row["digest"]) for row in rows)


async def tripped(tx: Tx, account: int, run: str) -> frozenset[str]:
    """Which guards of runs have stopped this run."""
    rows = await tx.fetch(TRIPPED, account=account, run=run, guards=[Guard.CLOSED, Guard.CHANGED])
    return frozenset(row["guard"] for row in rows)


async def supersede(tx: Tx, listing_ids: Iterable[int]) -> None:
    """Nothing stops these listings any more."""
    if chosen := list(listing_ids):
        await tx.execute(SUPERSEDE, listings=chosen, now=tx.now)


async def answered(tx: Tx, listing_ids: Sequence[int]) -> None:
    """The market has spoken of these after all."""
    if listing_ids:
        await tx.execute(ANSWERED, listings=list(listing_ids), now=tx.now)


async def decide(tx: Tx, id: int, *, approve: bool, who: str) -> Hold:
    """A person's word."""
    row = await tx.first(ONE, id=id)
    if row is None:
        raise Missing(f"there is no hold {id}", field="id")
    hold = hold_of(row)
    if approve and not hold.guard.can_be_approved:
        hint = "change what the guard stands on: the quote, its floor or ceiling, or the switch"
        raise Conflict(f"a hold by {hold.guard} cannot be approved", hint=hint)
    state = HoldState.APPROVED if approve else HoldState.REJECTED
    if not await tx.execute(DECIDE, id=id, state=state, who=who, now=tx.now):
        raise Conflict(f"hold {id} is {hold.state} already", hint="what is held now stands in the list of holds")
    return hold


async def pick(
    tx: Tx, account: int, *, state: HoldState = HoldState.HELD, before: int = LAST_ID, limit: int = 100
) -> list[Hold]:
    """Holds of an account, newest first."""
    return [hold_of(row) for row in await tx.fetch(PICK, account=account, state=state, before=before, limit=limit)]


def hold_of(row: Row) -> Hold:
    return Hold(
        row["id"],
        row["account_id"],
        row["listing_id"],
        Guard(row["guard"]),
        row["reason"],
        HoldState(row["state"]),
        row["times"],
        utc(row["created_at"]),
        row["decided_by"] or "",
    )
