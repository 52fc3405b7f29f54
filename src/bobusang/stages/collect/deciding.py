"""What a person says to held writes: approved ones are written with their evidence, rejected ones are remembered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bobusang.catalog import records, seen
from bobusang.catalog.model import Change, ChangeKind
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.stages.collect import held
from bobusang.stages.collect.guards import Guard
from bobusang.stages.collect.tables import HeldState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bobusang.kit.db import Tx
    from bobusang.stages.collect.held import Filter, HeldWrite
    from bobusang.stages.collect.policy import Policy

AT_ONCE = 500

_LOCK = "select * from held_writes where id in (:ids...) order by id"
LOCK = Statement(f"{_LOCK} for update", sqlite=_LOCK)


@dataclass(frozen=True, slots=True)
class Refused:
    """A held write that could not be approved, and why."""

    id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of a decision on many."""

    done: int = 0
    refused: tuple[Refused, ...] = ()
    next: int | None = None
    """Hand it back as `before` to go on; None: there are no further ones."""


class Deciding:
    """Approving and rejecting; `policy` finds that of a source by its name."""

    def __init__(self, policy: Callable[[str], Policy]) -> None:
        self._policy = policy

    async def approve(self, tx: Tx, id: int, actor: str) -> HeldWrite:
        """Write what was held. Conflict when it is decided already, or when the record has moved on meanwhile: the
        message says what is now."""
        one = await _one(tx, id)
        decided = await self._approve(tx, [one], actor)
        if decided.refused:
            raise Conflict(decided.refused[0].reason, hint="reject it, or wait for the next reading")
        return await held.get(tx, id)

    async def reject(self, tx: Tx, id: int, actor: str) -> HeldWrite:
        """Say no: the same reading is neither held nor written again for a while (`held.REMEMBERED`)."""
        await _reject(tx, [await _one(tx, id)], actor)
        return await held.get(tx, id)

    async def approve_all(
        self, tx: Tx, which: Filter, actor: str, *, before: int | None = None, limit: int = AT_ONCE
    ) -> Decided:
        """Approve those that match, the newest first, a bounded number at a time; refused ones stay open."""
        found, after = await _matching(tx, which, before, limit)
        decided = await self._approve(tx, found, actor)
        return replace(decided, next=after)

    async def reject_all(
        self, tx: Tx, which: Filter, actor: str, *, before: int | None = None, limit: int = AT_ONCE
    ) -> Decided:
        """Reject those that match, the newest first, a bounded number at a time."""
        found, after = await _matching(tx, which, before, limit)
        await _reject(tx, found, actor)
        return Decided(len(found), next=after)

    async def _approve(self, tx: Tx, found: Sequence[HeldWrite], actor: str) -> Decided:
        done, refused = 0, []
        for source in sorted({one.source for one in found}):
            mine, second = _first_of_each([one for one in found if one.source == source])
            refused += [Refused(one.id, "another held write of this record was decided with it") for one in second]
            groups = self._policy(source).groups
            changes = await records.compare(tx, [one.reading for one in mine], groups=groups)
            judged = [(one, change, moved_on(one, change)) for one, change in zip(mine, changes, strict=True)]
            refused += [Refused(one.id, why) for one, _, why in judged if why]
            agreed = [(one, change) for one, change, why in judged if not why]
            await _write(tx, agreed, groups)
            await held.decide(tx, [one.id for one, _ in agreed], HeldState.APPROVED, actor)
            await audit.record_all(tx, *(_entry(actor, "held.approve", one) for one, _ in agreed))
            done += len(agreed)
        return Decided(done, tuple(refused))


def moved_on(one: HeldWrite, change: Change) -> str:
    """Why a held write can no longer be approved: the record says something else by now; empty when it can."""
    if change.kind is ChangeKind.NEW:
        return ""
    if not one.before and one.record_id is None:
        return f"{one.source} {one.key} is registered by now (version {change.version})"
    now = {moved.field: moved.old for moved in change.fields}
    for name, old in one.before.items():
        if name in now and now[name] != old:
            return (
                f"{name} of {one.source} {one.key} is {_shown(now[name])} now; it was {_shown(old)} when this was held"
            )
    return ""


async def _write(tx: Tx, agreed: Sequence[tuple[HeldWrite, Change]], groups: Mapping[str, str]) -> None:
    """Nothing was seen just now, except that a record which begins here was seen when it was held."""
    for run in sorted({one.job_id or 0 for one, _ in agreed}):
        mine = [(one, change) for one, change in agreed if (one.job_id or 0) == run]
        for fresh in (False, True):
            changes = [change for _, change in mine if (change.kind is ChangeKind.NEW) is fresh]
            if changes:
                await records.write(tx, changes, run=run, now=tx.now, groups=groups, sighted=fresh)
    await _forget_absent(tx, agreed)


async def _forget_absent(tx: Tx, agreed: Sequence[tuple[HeldWrite, Change]]) -> None:
    """What is absent by a person's word is no longer expected in its list."""
    scopes: dict[tuple[str, str], list[int]] = {}
    for one, change in agreed:
        if one.guard is Guard.COVERAGE:
            scopes.setdefault((one.source, change.reading.scope), []).append(change.record_id)
    for (source, scope), ids in sorted(scopes.items()):
        await seen.forget(tx, await seen.scope(tx, source, scope), ids)


def _first_of_each(found: Sequence[HeldWrite]) -> tuple[list[HeldWrite], list[HeldWrite]]:
    """One held write of each record, and the others: what the first changes, the second was not held against."""
    first: dict[str, HeldWrite] = {}
    second = [one for one in found if first.setdefault(one.key, one) is not one]
    return list(first.values()), second


async def _one(tx: Tx, id: int) -> HeldWrite:
    row = await tx.first(LOCK, ids=[id])
    if row is None:
        raise Missing(f"there is no held write {id}")
    one = held.held_write(row)
    if one.state is not HeldState.HELD:
        by = f" by {one.decided_by}" if one.decided_by else ""
        raise Conflict(f"held write {id} is {one.state} already{by}", hint="look at the record's history")
    return one


async def _matching(tx: Tx, which: Filter, before: int | None, limit: int) -> tuple[list[HeldWrite], int | None]:
    """Open ones that match, locked; and where to go on."""
    ids = [one.id for one in await held.find(tx, which, before=before, limit=limit)]
    found = [held.held_write(row) for row in await tx.fetch(LOCK, ids=ids)] if ids else []
    return [one for one in found if one.state is HeldState.HELD], ids[-1] if len(ids) == limit else None


async def _reject(tx: Tx, found: Sequence[HeldWrite], actor: str) -> None:
    await held.decide(tx, [one.id for one in found], HeldState.REJECTED, actor)
    await audit.record_all(tx, *(_entry(actor, "held.reject", one) for one in found))


def _entry(actor: str, action: str, one: HeldWrite) -> Entry:
    told = {"source": one.source, "key": one.key, "guard": one.guard, "raw_id": one.raw_id}
    return Entry(actor, action, Subject("held_write", one.id), {**told, "fields": one.before}, {"fields": one.after})


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)[:100]
