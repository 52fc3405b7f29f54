"""Live listings whose source nobody has seen for long: people are told, then fewer can be ordered, then none
(docs/adr/0029)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.conveyor import marks
from bobusang.flows.market.closing import limited
from bobusang.flows.market.inbox import accounts_of
from bobusang.kit import log
from bobusang.kit.clock import utc
from bobusang.kit.errors import BobusangError
from bobusang.kit.sql import Statement
from bobusang.stages.register import closing, listings
from bobusang.stages.register.limiting import Limit, limit_of
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from bobusang.flows.collect.collector import Collector
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.kit.db import Database, Row, Tx
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.service import Register

EVERY = timedelta(hours=1)
CHUNK = 500
AT_ONCE = 50
DUE = (Limit.CAPPED, Limit.UNSEEN)
_SEEN = "(select max(s.last_seen_at) from source_seen s where s.record_id = l.product_id) as seen_at"
LIVE = Statement(f"""
    select l.id, l.unseen_at, p.mall, {_SEEN} from listings l join products p on p.id = l.product_id
    where l.account_id = :account and l.state = 'LIVE' and l.id > :after order by l.id limit :limit""")
TOLD = Statement(f"""
    select l.id, l.product_id, l.state, l.unseen_at, {_SEEN} from listings l
    where l.unseen_at > :never and coalesce(l.account_id, 0) = :account""")


def watch(belt: Belt) -> Duty:
    """Every hour."""
    watched = Watched(belt.db, belt.register, partial(is_asked, belt.collector))

    async def run() -> int:
        for account in await accounts_of(belt.db, belt.register):
            await watched.look(account)
        return 0

    return Duty("unseen listings", EVERY, run)


def is_asked(collector: Collector, mall: str) -> bool:
    """Whether we ask a mall for its products: what a supplier sends by himself, as files or webhooks, has no day on
    which it is due. A shop whose definition is broken is asked by nobody, and should be."""
    try:
        source = collector.sources.get(mall)
    except BobusangError:
        return True
    return source is not None and getattr(source, "target_kinds", None) != ()


@dataclass(frozen=True, slots=True)
class Watched:
    """The listings of a market, of the malls that are asked for them."""

    db: Database
    register: Register
    asked: Callable[[str], bool]

    async def look(self, account: Account) -> None:
        """Note what nobody has seen for long, let go what was seen again, and offer less of what people know of."""
        if account.policy.unseen.told:
            await self._note(account)
        async with self.db.read() as tx:
            found = await tx.fetch(TOLD, account=account.id, never=closing.NEVER)
        again = [row for row in found if _is_seen(row)]
        if again:
            await self.db.transact(lambda tx: self._let_go(tx, again))
        live = {row["id"]: utc(row["seen_at"]) for row in found if row["state"] == State.LIVE and not _is_seen(row)}
        if not account.enabled:
            return
        ids = sorted(live)
        try:
            for at in range(0, len(ids), AT_ONCE):
                await self._offer_less(account, {id: live[id] for id in ids[at : at + AT_ONCE]})
        except Exception as error:  # an account that cannot send must not keep the others waiting
            log.get("market").error("unseen listings cannot be sent", account=account.name, error=repr(error))

    async def _note(self, account: Account) -> None:
        """Walk all that is live."""
        before = self.db.clock.now() - timedelta(hours=account.policy.unseen.told)
        after, more = 0, True
        while more:
            async with self.db.read() as tx:
                rows = await tx.fetch(LIVE, account=account.id, after=after, limit=CHUNK)
            old = [row["id"] for row in rows if _is_older(row, before) and self.asked(row["mall"])]
            if old:
                await self.db.transact(lambda tx, old=old: closing.unseen(tx, old))  # type: ignore[misc]
            more = len(rows) == CHUNK
            after = rows[-1]["id"] if rows else after

    async def _let_go(self, tx: Tx, rows: Sequence[Row]) -> None:
        """Nothing limits them any more, and the next run looks at them though nothing else has changed."""
        await closing.seen(tx, [row["id"] for row in rows])
        await marks.forget(tx, self.register.market.name, [row["product_id"] for row in rows])

    async def _offer_less(self, account: Account, seen: Mapping[int, datetime | None]) -> None:
        """Send what the time since people were told asks for, by the guards of every run: a mall that fell silent is
        no reason to close a shop without asking."""
        async with self.db.read() as tx:
            known, now = await listings.some(tx, list(seen)), tx.now
        due = [one.id for one in known if limit_of(one, seen[one.id], account.policy, now) in DUE]
        if due:
            await limited(self.db, self.register, account, f"unseen {now:%Y-%m-%d}", due, seen)


def _is_older(row: Row, before: datetime) -> bool:
    """What a person wrote here was never seen, and is not noted."""
    seen = utc(row["seen_at"])
    return row["unseen_at"] is None and seen is not None and seen < before


def _is_seen(row: Row) -> bool:
    seen = utc(row["seen_at"])
    return seen is not None and seen > utc(row["unseen_at"])
