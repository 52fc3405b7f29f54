"""The webhook inbox: raw bytes first, each kept once with the verdict on its signature, replayable."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Revise, Statement
from bobusang.stages.register.tables import InboxState, webhook_inbox

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.register.market import Market
    from bobusang.stages.register.model import Account

LARGEST = 1 << 20
LARGEST_FORGED = 4 << 10
"""Of what nobody signed only the beginning is kept: it must not fill the disk."""
MOST_FORGED = 20
"""So many of an account's hour are kept: enough to see what comes, from a wrong secret or from a stranger. Who guesses
an address may knock as often as he likes; the rest is one row that counts, and a month of it is 100 MB at most."""
HOUR = timedelta(hours=1)
NOT_KEPT = "forged ones of an hour that were counted and not kept"
DOORBELL = "webhooks"

_ADD = """
    insert into webhook_inbox (account_id, dedupe, headers, body, genuine, state, received_at)
    values (:account, :dedupe, :headers, :body, :genuine, :state, :now)"""
ADD = Statement(
    f"{_ADD} on conflict (account_id, dedupe) do update set times = webhook_inbox.times + 1",
    mariadb=f"{_ADD} on duplicate key update times = times + 1",
)
_COUNT = """
    insert into webhook_inbox (account_id, dedupe, headers, body, genuine, state, times, note, received_at)
    values (:account, :dedupe, '{}', :body, :genuine, 'FORGED', :more, :note, :now)"""
COUNT = Statement(
    f"{_COUNT} on conflict (account_id, dedupe) do update set times = webhook_inbox.times + excluded.times",
    mariadb=f"{_COUNT} on duplicate key update times = times + values(times)",
)
FORGED = Statement("""
    select received_at from webhook_inbox where account_id = :account and state = 'FORGED'
    order by id desc limit :limit""")
TAKE = Statement(
    """select * from webhook_inbox where account_id = :account and state = 'RECEIVED'
       order by id limit :limit for update skip locked""",
    sqlite="select * from webhook_inbox where account_id = :account and state = 'RECEIVED' order by id limit :limit",
)
_TAKE_ONE = "select * from webhook_inbox where account_id = :account and state = 'RECEIVED' and id = :id"
TAKE_ONE = Statement(f"{_TAKE_ONE} for update skip locked", sqlite=_TAKE_ONE)
FIRST = Statement("""
    select id from webhook_inbox where account_id = :account and state = 'RECEIVED' order by id limit :limit""")
WAITING = Statement("""
    select count(*) as value from (
      select id from webhook_inbox where account_id = :account and state = 'RECEIVED' limit :limit) as waiting""")
AGAIN = Statement("""
    update webhook_inbox set state = 'RECEIVED', applied_at = null
    where account_id = :account and id in (:ids...) and genuine = true and state <> 'RECEIVED'""")
PICK = Statement("""
    select * from webhook_inbox where account_id = :account and state = :state and id < :before
    order by id desc limit :limit""")
LAST_ID = 2**62

_KEEP = Revise(webhook_inbox, "id", ("state", "listing_id", "call_id", "note", "applied_at"))


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook as it came."""

    id: int
    account_id: int
    headers: Mapping[str, str]
    body: bytes
    state: InboxState
    received_at: datetime
    note: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Received:
    """A webhook that is not stored yet."""

    account_id: int
    dedupe: str
    headers: str
    body: bytes
    genuine: bool

    def row(self, now: datetime) -> dict[str, object]:
        """As the inbox keeps it."""
        return {
            "account": self.account_id,
            "dedupe": self.dedupe,
            "headers": self.headers,
            "body": self.body,
            "genuine": self.genuine,
            "state": InboxState.RECEIVED if self.genuine else InboxState.FORGED,
            "now": now,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a webhook."""

    id: int
    state: InboxState
    note: str = ""
    listing_id: int | None = None
    call_id: int | None = None


def checked(account: Account, market: Market, secret: str, headers: Mapping[str, str], body: bytes) -> Received:
    """A webhook to be stored as it came, and whether the market signed it; what it says is read later, by `apply`."""
    if len(body) > LARGEST:
        raise Invalid(f"a webhook of {len(body):,} bytes, at most {LARGEST:,} are taken", field="body")
    lower = {name.lower(): value for name, value in headers.items()}
    genuine = market.genuine(secret, lower, body)
    # Only headers that the market signs or names: the rest may hold a proxy's secrets.
    kept = {name: value[:500] for name, value in lower.items() if name.startswith("x-") and "auth" not in name}
    if not genuine:
        kept = _few(kept)
    mark = dedupe(lower.get(market.abilities.event_header, ""), body, genuine=genuine)
    return Received(account.id, mark, json.dumps(kept), body if genuine else body[:LARGEST_FORGED], genuine)


def _few(headers: Mapping[str, str]) -> dict[str, str]:
    """The first of a stranger's headers."""
    sizes = accumulate(len(name) + len(value) for name, value in headers.items())
    return {name: headers[name] for name, size in zip(headers, sizes, strict=True) if size <= LARGEST_FORGED}


async def store(tx: Tx, received: Sequence[Received]) -> None:
    """Keep webhooks in the order they came; one that is there already is counted, and so are forged ones beyond what
    an hour may bring."""
    room = {one: await _room(tx, one) for one in sorted({one.account_id for one in received if not one.genuine})}
    more: Counter[int] = Counter()
    kept: list[Received] = []
    for one in received:
        if one.genuine or room[one.account_id] > 0:
            kept.append(one)
        else:
            more[one.account_id] += 1
        if not one.genuine:
            room[one.account_id] -= 1
    await tx.execute_each(ADD, [one.row(tx.now) for one in kept])
    await tx.execute_each(COUNT, [_counted(account, count, tx.now) for account, count in sorted(more.items())])
    if any(one.genuine for one in received):
        tx.ring(DOORBELL)


async def _room(tx: Tx, account: int) -> int:
    """How many forged ones may still be kept."""
    rows = await tx.fetch(FORGED, account=account, limit=MOST_FORGED)
    return MOST_FORGED - len([row for row in rows if utc(row["received_at"]) > tx.now - HOUR])


def _counted(account: int, more: int, now: datetime) -> dict[str, object]:
    """The row that counts those of an hour."""
    dedupe = hashlib.sha256(f"{NOT_KEPT} {now:%Y-%m-%d %H}".encode()).hexdigest()
    told = {"account": account, "dedupe": dedupe, "more": more, "note": NOT_KEPT}
    return told | {"body": b"", "genuine": False, "now": now}


def dedupe(event: str, body: bytes, *, genuine: bool) -> str:
    """The same webhook again; a forgery never shadows the real one."""
    return hashlib.sha256(b"\0".join((str(genuine).encode(), event.encode(errors="replace"), body))).hexdigest()


async def take(tx: Tx, account: int, *, limit: int, only: int | None = None) -> list[Webhook]:
    """Webhooks that nobody has applied, oldest first, for us alone; or only this one, unless somebody else has it."""
    if only is not None:
        return [webhook_of(row) for row in await tx.fetch(TAKE_ONE, account=account, id=only)]
    return [webhook_of(row) for row in await tx.fetch(TAKE, account=account, limit=limit)]


async def first(tx: Tx, account: int, *, limit: int) -> list[int]:
    """Which webhooks are the oldest that nobody has applied; for looking only."""
    return [row["id"] for row in await tx.fetch(FIRST, account=account, limit=limit)]


async def give_up(tx: Tx, account: int, id: int, why: str) -> None:
    """Keep a webhook that cannot take effect, for whoever mends that."""
    taken = await take(tx, account, limit=1, only=id)
    await save(tx, [Verdict(one.id, InboxState.UNREADABLE, why) for one in taken])


async def waiting(tx: Tx, account: int, *, limit: int) -> int:
    """How many webhooks nobody has applied, as far as one counts."""
    return int(await tx.value(WAITING, account=account, limit=limit))


async def save(tx: Tx, verdicts: Sequence[Verdict]) -> None:
    """Keep what became of webhooks."""
    rows = [(one.id, one.state, one.listing_id, one.call_id, one.note[:500], tx.now) for one in verdicts]
    await tx.revise(_KEEP, sorted(rows))


async def replay(tx: Tx, account: int, ids: Sequence[int]) -> int:
    """Apply these again, whatever became of them; never a forged one."""
    changed = await tx.execute(AGAIN, account=account, ids=list(ids))
    tx.ring(DOORBELL)
    return changed


async def pick(tx: Tx, account: int, state: InboxState, *, before: int = LAST_ID, limit: int = 100) -> list[Webhook]:
    """Webhooks of one kind, newest first: what could not be matched is shown, not dropped."""
    return [webhook_of(row) for row in await tx.fetch(PICK, account=account, state=state, before=before, limit=limit)]


def webhook_of(row: Row) -> Webhook:
    return Webhook(
        row["id"],
        row["account_id"],
        json.loads(row["headers"]),
        bytes(row["body"]),
        InboxState(row["state"]),
        utc(row["received_at"]),
        row["note"],
        row["times"],
    )
