"""Weighing a batch of readings: compared with the truth, judged by the guards, and then written, held or let go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from bobusang.catalog import records, seen
from bobusang.catalog.model import Change, ChangeKind, Reading
from bobusang.stages.collect import held
from bobusang.stages.collect.guards import Guard, contradiction, judge, overturns, without
from bobusang.stages.collect.held import Hold, Open, Standing
from bobusang.stages.collect.model import RunMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Tx
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.runs import Tally

OF_RUNS = frozenset({Guard.MASS_CHANGE, Guard.NULL_RATE})


@dataclass(slots=True)
class Sighting:
    """A reading in its run, and what has become of it so far."""

    tally: Tally
    reading: Reading
    bare: bool = False
    """The page only named the item: it is seen, and not registered by that."""
    change: Change | None = None
    gone: bool = False
    """The page says that the item is no more …"""
    contradicted: bool = False
    """… but the list of the same run shows it."""
    hold: Hold | None = None
    dropped: bool = False


@dataclass(slots=True)
class Weighed:
    """What is to be done with a batch."""

    write: list[tuple[Tally, Change]] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    open: dict[str, Open] = field(default_factory=dict)
    moot: list[int] = field(default_factory=list)
    """Open held writes that a newer reading has made pointless."""
    confirmed: list[tuple[int, Change]] = field(default_factory=list)
    """Held prices that enough runs have read by now; they are among what is written."""
    dropped: int = 0


async def weigh(tx: Tx, source: str, policy: Policy, sightings: Sequence[Sighting]) -> Weighed:
    """Decide on the readings of one source; nothing is written yet."""
    await _compare(tx, policy, sightings)
    await _look_up(tx, source, policy, sightings)
    for one in sightings:
        _judge(one, policy)
    standing = Standing(await held.standing_open(tx, source, [one.reading for one in sightings]))
    suspects = [one.hold for one in sightings if one.hold is not None]
    if suspects:
        standing.rejected = await held.standing_rejected(tx, source, suspects)
        await _go_on_without(tx, policy, sightings, standing)
    return _sorted(sightings, standing, policy)


async def _compare(tx: Tx, policy: Policy, sightings: Sequence[Sighting]) -> None:
    changes = await records.compare(tx, [one.reading for one in sightings], groups=policy.groups)
    for one, change in zip(sightings, changes, strict=True):
        one.change = change
        unregistered = not change.record_id
        one.dropped = unregistered and (one.bare or one.tally.run.mode is RunMode.PARTIAL)


async def _look_up(tx: Tx, source: str, policy: Policy, sightings: Sequence[Sighting]) -> None:
    """Find out which of those that are said to be no more the list of this run shows."""
    gone = [one for one in sightings if one.gone and not one.dropped]
    if not gone:
        return
    run = gone[0].tally.run
    scope = await seen.scope(tx, source, run.scope)
    keys = [one.reading.snapshot.key for one in gone]
    shown = await seen.listed_in_run(tx, scope, run.job_id, keys, type=policy.type)
    for one in gone:
        one.contradicted = one.reading.snapshot.key in shown


def _judge(one: Sighting, policy: Policy, *, again: bool = False) -> None:
    change = one.change
    if one.dropped or change is None or change.kind is ChangeKind.SAME:
        return
    stream = one.reading.stream
    if (overturns(change) or one.contradicted) and not again:
        one.tally.overturned(stream)
    found = judge(policy.guards, change, one.tally.facts(stream))
    if found is None and one.contradicted and not again:
        found = contradiction()
    if found is None or (found.guard is Guard.PRICE_JUMP and policy.guards.price_confirm == 1):
        return
    if found.guard in OF_RUNS and not one.tally.tripped:
        one.tally.trip(found.guard, found.reason)
    one.hold = Hold(one.tally.run, change, found)


async def _go_on_without(tx: Tx, policy: Policy, sightings: Sequence[Sighting], standing: Standing) -> None:
    """What a person has said no to is as good as unread: the rest of that reading counts.

    All readings of such a record are compared again, because each was compared with what the one before it made.
    """
    refused = [one for one in sightings if one.hold is not None and standing.refused(one.hold)]
    if not refused:
        return
    for one in refused:
        assert one.hold is not None
        left = without(one.reading.snapshot, one.hold.held.fields)
        one.reading = msgspec.structs.replace(one.reading, snapshot=left)
        one.hold = None
    keys = {one.reading.snapshot.key for one in refused}
    again = [one for one in sightings if one.reading.snapshot.key in keys and one.hold is None and not one.dropped]
    await _compare(tx, policy, again)
    for one in refused:
        _judge(one, policy, again=True)
        one.dropped = one.dropped or (one.hold is not None and standing.refused(one.hold))
        one.hold = None if one.dropped else one.hold


def _sorted(sightings: Sequence[Sighting], standing: Standing, policy: Policy) -> Weighed:
    weighed = Weighed(open=standing.open)
    for one in sightings:
        assert one.change is not None
        confirmed = one.hold and standing.confirmed(one.hold, policy.guards.price_confirm)
        if one.dropped:
            weighed.dropped += 1
        elif confirmed:
            weighed.confirmed.append((confirmed.id, one.change))
            weighed.write.append((one.tally, one.change))
        elif one.hold is not None:
            weighed.holds.append(one.hold)
            one.tally.held += 1
        else:
            weighed.write.append((one.tally, one.change))
    if standing.open:
        busy = {hold.open_key for hold in weighed.holds}
        busy |= {held.open_key(change.reading) for _, change in weighed.confirmed}
        read = {held.open_key(one.reading) for one in sightings} - busy
        weighed.moot = [found.id for key, found in standing.open.items() if key in read]
    return weighed
