"""Whether a source is well: may it be asked, does it answer, and can its pages be read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.stages.collect.admission import Cause
from bobusang.stages.collect.tables import AnswerWord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Tx
    from bobusang.views.gate import GateLine

LATELY = timedelta(hours=1)
UNSTEADY = 0.1
"""A larger share of pages that failed, or that could not be read, is more than the odd one."""

# Rows without a job are sums of past days, written when they were folded.
_OF = "from fetch_counts f where f.source = d.source and f.job_id is not null"
_LAST = f"(select f.{{column}} {_OF} order by f.at desc, f.id desc limit 1)"
_LATELY = f"(select sum(f.{{column}}) {_OF} and f.at >= :since)"
ANSWERS = Statement(f"""
    select d.source, {_LAST.format(column="at")} as at, {_LAST.format(column="success")} as success,
      {_LAST.format(column="failure")} as failure, {_LATELY.format(column="success")} as successes,
      {_LATELY.format(column="failure")} as failures from source_decisions d""")


class Health(StrEnum):
    """How a source is, in a word."""

    HEALTHY = "healthy"
    UNSTEADY = "unsteady"
    """Some pages fail, or cannot be read."""
    FAILING = "failing"
    """All of them do."""
    UNTRIED = "untried"
    """It may be asked, and nobody has, for days."""
    WAITING = "waiting"
    """It is left alone for a while."""
    STOPPED = "stopped"
    """It waits for a person: halted, or without its key."""
    OFF = "off"
    BROKEN = "broken"
    """Its shop.yaml cannot be read."""


@dataclass(frozen=True, slots=True)
class Answers:
    """When a source was last asked, and what came of it lately: pages that were read, and those that were not."""

    at: datetime | None = None
    read: int = 0
    failed: int = 0


async def answers(tx: Tx) -> dict[str, Answers]:
    """By source, for all that anybody has decided about: of the last hour, or of when it was last asked."""
    found = {}
    for row in await tx.fetch(ANSWERS, since=tx.now - LATELY):
        if row["at"] is not None:
            read, failed = (
                (row["success"], row["failure"]) if row["successes"] is None else (row["successes"], row["failures"])
            )
            found[row["source"]] = Answers(utc(row["at"]), int(read), int(failed))
    return found


def health_of(gates: Sequence[GateLine], answered: Answers, *, broken: bool, enabled: bool) -> Health:
    """The gravest that is true."""
    if broken:
        return Health.BROKEN
    if not enabled:
        return Health.OFF
    waits = [line for line in gates if line.answer is AnswerWord.WAIT and not _is_ordinary(line)]
    if any(line.needs_person for line in waits):
        return Health.STOPPED
    if waits:
        return Health.WAITING
    if answered.failed and not answered.read:
        return Health.FAILING
    if answered.failed > UNSTEADY * (answered.read + answered.failed):
        return Health.UNSTEADY
    return Health.HEALTHY if answered.read else Health.UNTRIED


def _is_ordinary(line: GateLine) -> bool:
    return line.cause is not None and Cause(line.cause).is_ordinary


def told(found: Mapping[str, Answers], source: str) -> Answers:
    """What is known of a source; nothing where nobody has asked it."""
    return found.get(source, Answers())
