"""What readings would change: one select for the whole batch, a second one only for what says something new."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from bobusang.catalog import rules
from bobusang.catalog.model import Change, ChangeKind, SourceType
from bobusang.catalog.tables.records import ID_LENGTH, READER_LENGTH, STREAM_LENGTH, SYSTEM_LENGTH
from bobusang.kit import json
from bobusang.kit.db import Contended
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.model import Reading, Snapshot
    from bobusang.kit.db import Row, Tx

Key = tuple[SourceType, str, str]
"""Type, system and the system's own id."""

KNOWN = Statement("""
    select id, source_id, version, version_id, digests from source_records
    where source_type = :type and source_system = :system and source_id in (:keys...)""")
FIELDS = Statement("select id, normalized_data from source_data where id in (:ids...)")


class State:
    """A record as it stands while the readings of a batch are folded over it, one after the other."""

    __slots__ = ("digests", "fields", "record_id", "version", "version_id")

    def __init__(self, row: Row | None = None) -> None:
        self.record_id: int = row["id"] if row else 0
        self.version: int = row["version"] if row else 0
        self.version_id: int = row["version_id"] if row else 0
        self.digests: dict[str, str] = json.loads(row["digests"]) if row else {}
        self.fields: rules.Fields | None = None


def key_of(snapshot: Snapshot) -> Key:
    """What makes a record one."""
    return (snapshot.type, snapshot.source, snapshot.key)


async def compare(
    tx: Tx, readings: Sequence[Reading], *, groups: Mapping[str, str], anew: bool = False
) -> list[Change]:
    """What each reading would change, in their order; nothing is written and nothing locked.

    A stream whose saying is the one remembered is SAME, and its record's fields are not even loaded. Readings of one
    record are folded: each is compared with what those before it made of it. Leaving some of these changes out of
    `write` is safe: what follows is then written by its own fields alone. `anew`: somebody says so on purpose, so it
    counts also when he has said so before and another stream has spoken since.
    """
    for reading in readings:
        _check(reading)
    states = await _states(tx, [reading.snapshot for reading in readings])
    sayings = [rules.saying(reading.snapshot) for reading in readings]
    if anew:
        for state in states.values():
            state.digests = {}
    await _load(tx, states, readings, sayings)
    return [_compared(states, *pair, groups) for pair in zip(readings, sayings, strict=True)]


def _check(reading: Reading) -> None:
    snapshot = reading.snapshot
    for name, text, limit in (
        ("key", snapshot.key, ID_LENGTH),
        ("source", snapshot.source, SYSTEM_LENGTH),
        ("stream", reading.stream, STREAM_LENGTH),
        ("reader", reading.reader, READER_LENGTH),
    ):
        if not 0 < len(text) <= limit or "\0" in text:
            raise Invalid(
                f"a reading of {snapshot.source}: its {name} '{text[:50]}' must have 1 to {limit} characters, no NUL",
                hint="mend the reader of this source",
                field=name,
            )


async def _states(tx: Tx, snapshots: Sequence[Snapshot]) -> dict[Key, State]:
    states: dict[Key, State] = {}
    keys = sorted({key_of(snapshot) for snapshot in snapshots})
    for (kind, system), part in groupby(keys, key=lambda key: key[:2]):
        rows = await tx.fetch(KNOWN, type=kind.value, system=system, keys=[key[2] for key in part])
        states |= {(kind, system, row["source_id"]): State(row) for row in rows}
    return states


async def _load(tx: Tx, states: Mapping[Key, State], readings: Sequence[Reading], sayings: Sequence[str]) -> None:
    """The fields of the records of which some stream says something new."""
    needed: dict[int, State] = {}
    for reading, saying in zip(readings, sayings, strict=True):
        state = states.get(key_of(reading.snapshot))
        if state is not None and state.digests.get(reading.stream) != saying:
            needed[state.version_id] = state
    if needed:
        for row in await tx.fetch(FIELDS, ids=sorted(needed)):
            needed[row["id"]].fields = json.loads(row["normalized_data"])


def _compared(states: dict[Key, State], reading: Reading, saying: str, groups: Mapping[str, str]) -> Change:
    key = key_of(reading.snapshot)
    state = states.get(key)
    if state is None:
        state = states[key] = State()
    elif state.digests.get(reading.stream) == saying:
        return Change(ChangeKind.SAME, reading, state.record_id, state.version)
    before = state.fields
    if before is None and state.version:  # written since this transaction began to read: nobody knows what is news
        raise Contended(f"{key[1]} {key[2]} was changed by someone else meanwhile")
    after = rules.merge(before or {}, reading.snapshot)
    changes = () if before is None else rules.diff(before, after, groups)
    kind = ChangeKind.CHANGED if changes else ChangeKind.SAME if state.version else ChangeKind.NEW
    change = Change(kind, reading, state.record_id, state.version, before, after, changes, saying)
    state.digests = remembered(state.digests, change)
    if kind is not ChangeKind.SAME:
        state.fields = after
        state.version += 1
    return change


def remembered(digests: Mapping[str, str], change: Change) -> dict[str, str]:
    """The digests to keep once a change is written.

    A record that is proved absent forgets what its pages said: the first of them that describes it again is news,
    though it says what it said before.
    """
    kept = {} if change.after.get("listed") is False else digests
    return {**kept, change.reading.stream: change.digest}
