"""The audit log: who did what to which thing, before and after, in the transaction that did it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.redact import redact
from bobusang.kit.sql import Bulk
from bobusang.platform.notifier import shortened
from bobusang.platform.tables import audit_log

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

LARGEST = 1_000_000

_ENTRY = Bulk(audit_log, ("at", "actor", "action", "subject_type", "subject_id", "before_data", "after_data"))


@dataclass(frozen=True, slots=True)
class Subject:
    """What was changed, such as `Subject("schedule", 7)`."""

    type: str
    id: str | int


@dataclass(frozen=True, slots=True)
class Entry:
    """One act; `before` and `after` are any data, None where there was or is nothing."""

    actor: str
    action: str
    subject: Subject
    before: Any = None
    after: Any = None


async def record(tx: Tx, actor: str, action: str, subject: Subject, before: Any = None, after: Any = None) -> None:
    """Write down one act."""
    await record_all(tx, Entry(actor, action, subject, before, after))


async def record_all(tx: Tx, *entries: Entry) -> None:
    """Write down many acts in one statement."""
    await tx.insert(_ENTRY, [_row(tx, entry) for entry in entries])


def _row(tx: Tx, entry: Entry) -> tuple[Any, ...]:
    subject = entry.subject
    return (
        tx.now,
        shortened(entry.actor, 200),
        entry.action,
        subject.type,
        str(subject.id),
        _data(entry.before, "before"),
        _data(entry.after, "after"),
    )


def _data(value: Any, name: str) -> str | None:
    if value is None:
        return None
    try:
        plain = msgspec.to_builtins(value)
    except TypeError as error:
        raise Invalid(f"{name} cannot be written into the audit log: {error}", field=name) from error
    return json.payload(redact(plain), limit=LARGEST, name=name)
