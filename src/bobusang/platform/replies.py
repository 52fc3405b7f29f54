"""Replies that are given again: what was answered to a request that named itself, for a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.tables import api_replies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Tx

KEEP = timedelta(days=1)
AT_ONCE = 1000
FOUND = Statement(
    "select digest, status, headers, body, created_at from api_replies where actor = :actor and name = :name"
)
DROP = Statement("delete from api_replies where actor = :actor and name = :name")
OLD = Statement("select actor, name from api_replies where created_at < :before order by created_at limit :limit")

_NEW = Bulk(api_replies, ("actor", "name", "digest", "status", "headers", "body", "created_at"))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it went out."""

    status: int
    headers: Mapping[str, str]
    body: str


async def given(tx: Tx, actor: str, name: str, digest: str) -> Reply | None:
    """What was answered to this very request; None when it is new. Another request under its name is refused."""
    row = await tx.first(FOUND, actor=actor, name=name)
    if row is None:
        return None
    if utc(row["created_at"]) < tx.now - KEEP:
        await tx.execute(DROP, actor=actor, name=name)
        return None
    if row["digest"] != digest:
        raise Invalid(
            f"the Idempotency-Key '{name}' was used for another request",
            hint="a new request needs a new key",
            field="Idempotency-Key",
        )
    return Reply(row["status"], json.loads(row["headers"]), row["body"])


async def keep(tx: Tx, actor: str, name: str, digest: str, reply: Reply) -> None:
    """Remember an answer, in the transaction that earned it; `Duplicate` when the same request was quicker."""
    row = (actor, name, digest, reply.status, json.dumps(dict(reply.headers)), reply.body, tx.now)
    await tx.insert(_NEW, [row])


async def forget(tx: Tx) -> int:
    """Drop a bounded part of what is too old; how many."""
    rows = await tx.fetch(OLD, before=tx.now - KEEP, limit=AT_ONCE)
    for row in rows:
        await tx.execute(DROP, actor=row["actor"], name=row["name"])
    return len(rows)
