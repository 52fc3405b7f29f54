"""What a batch of changes makes of each record before it is written: versions, digests, hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.catalog import rules
from bobusang.catalog.comparing import Key, key_of, remembered
from bobusang.catalog.model import ChangeKind
from bobusang.kit import json
from bobusang.kit.db import Contended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.catalog.model import Change, FieldChange
    from bobusang.kit.db import Row


@dataclass(slots=True)
class Version:
    """One version to be written; its numbers in the database are given when all are known."""

    draft: Draft
    change: Change
    number: int
    fields: rules.Fields
    changes: tuple[FieldChange, ...]
    id: int = 0
    parent_id: int | None = None


class Draft:
    """One record: as it is in the database, and what is to become of it."""

    __slots__ = (
        "changed_at",
        "created",
        "digests",
        "fields",
        "hashes",
        "id",
        "key",
        "names",
        "version",
        "version_id",
        "versions",
    )

    def __init__(self, key: Key, row: Row | None = None) -> None:
        self.key = key
        self.names = (key[0].value, key[1], key[2])
        self.created = row is None
        self.id: int = row["id"] if row else 0
        self.version: int = row["version"] if row else 0
        self.version_id: int = row["version_id"] if row else 0
        self.digests: dict[str, str] = json.loads(row["digests"]) if row else {}
        self.hashes: dict[str, str] = json.loads(row["hashes"]) if row else {}
        self.changed_at: datetime | None = row["last_changed_at"] if row else None
        self.fields: rules.Fields = {}
        self.versions: list[Version] = []

    def take(self, change: Change, grouping: rules.Grouping) -> bool:
        """Apply one change; whether it made a version."""
        if change.version < self.version:
            raise Contended(f"{self.key[1]} {self.key[2]} was changed by someone else meanwhile")
        if change.version > self.version:
            return self._rebase(change, grouping)
        self.digests = remembered(self.digests, change)
        if change.kind is ChangeKind.SAME:
            return False
        return self._add(change, change.after, change.fields, grouping)

    def _rebase(self, change: Change, grouping: rules.Grouping) -> bool:
        """A change before this one was left out (it is held): only its own fields count, and its stream is not
        remembered as heard, for it may have said again what is held."""
        after = rules.replay(self.fields, change.fields)
        changes = rules.diff(self.fields, after, grouping.groups)
        return bool(changes) and self._add(change, after, changes, grouping)

    def _add(
        self, change: Change, after: rules.Fields, changes: tuple[FieldChange, ...], grouping: rules.Grouping
    ) -> bool:
        self.version += 1
        self.fields = after
        self.hashes = grouping.hashes(after)
        self.versions.append(Version(self, change, self.version, after, changes))
        return True


def locked_ids(changes: Sequence[Change]) -> list[int]:
    """The records that will be written to, in the order in which they are locked."""
    return sorted({change.record_id for change in changes if change.record_id and change.digest})


def broken(changes: Sequence[Change], drafts: Mapping[Key, Draft]) -> list[Draft]:
    """Records of which the first change was left out: what they are now has to be loaded."""
    first: dict[Key, Change] = {}
    for change in changes:
        if change.kind is ChangeKind.CHANGED:
            first.setdefault(key_of(change.reading.snapshot), change)
    return [drafts[key] for key, change in first.items() if key in drafts and change.version > drafts[key].version]


def fold(changes: Sequence[Change], drafts: dict[Key, Draft], groups: Mapping[str, str]) -> list[ChangeKind | None]:
    """Apply all changes to their drafts, in order; what each of them came to, None for one that is left out."""
    grouping = rules.grouping(groups)
    return [_folded(change, drafts, grouping) for change in changes]


def _folded(change: Change, drafts: dict[Key, Draft], grouping: rules.Grouping) -> ChangeKind | None:
    key = key_of(change.reading.snapshot)
    draft = drafts.get(key)
    if change.kind is ChangeKind.NEW:
        if draft is not None:
            raise Contended(f"{key[1]} {key[2]} was made by someone else meanwhile")
        draft = drafts[key] = Draft(key)
    if draft is None:  # nothing new is said of a known record; or the change that would have made it is left out
        return ChangeKind.SAME if change.record_id else None
    if not change.digest:
        return ChangeKind.SAME
    return change.kind if draft.take(change, grouping) else ChangeKind.SAME
