"""Rates of exchange in the database: believed, or held until a person has looked at them.

TRUSTED  may be used; the newest of a pair is, whichever way it is written
HELD     jumped, crept, or the first one is out of its band: no price of its pair until a person accepts or rejects it,
         or a newer one is believed
REJECTED is never used
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform import audit
from bobusang.platform.bus import Event, publish
from bobusang.stages.price.fx import DAY, FxTrust, checked, doubt, quoted_at
from bobusang.stages.price.model import Fx, FxQuote, FxState
from bobusang.stages.price.tables import REASON_LENGTH, SOURCE_LENGTH, fx_quotes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

CAUTIOUS = FxTrust()

Pair = frozenset[str]
"""Two currencies, whichever way their rate is written."""

NEWEST = Statement("""
    select * from fx_quotes where state in ('TRUSTED', 'HELD') and base in (:codes...) and quote in (:codes...)
      and quoted_at >= (select coalesce(max(t.quoted_at), :never) from fx_quotes t
        where t.base = fx_quotes.base and t.quote = fx_quotes.quote and t.state = 'TRUSTED')
    order by quoted_at, id""")
# Each way from its newest one of a day before on: what new rates are judged by.
TRUSTED = Statement("""
    select * from fx_quotes where state = 'TRUSTED' and base in (:codes...) and quote in (:codes...)
      and quoted_at >= (select coalesce(max(t.quoted_at), :never) from fx_quotes t
        where t.base = fx_quotes.base and t.quote = fx_quotes.quote and t.state = 'TRUSTED'
          and t.quoted_at <= :day_before)
    order by quoted_at, id""")
THERE = Statement("""
    select base, quote, source, quoted_at from fx_quotes
    where base in (:codes...) and quote in (:codes...) and quoted_at >= :since""")
ONE = Statement("select * from fx_quotes where id = :id")
DECIDE = Statement("""
    update fx_quotes set state = :state, decided_by = :who, decided_at = :now where id = :id and state = 'HELD'""")
LISTED = Statement("""
    select * from fx_quotes where base = :base and quote = :quote order by quoted_at desc, id desc limit :limit""")
_NEW = Bulk(
    fx_quotes, ("base", "quote", "rate", "spread", "source", "quoted_at", "state", "reason", "created_at"), keep=True
)


async def record(tx: Tx, quotes: Sequence[FxQuote], trust: FxTrust = CAUTIOUS) -> list[FxQuote]:
    """Keep quotes that are new, the oldest first, each believed or held against those before it; those that are."""
    given = sorted((checked(one, tx.now) for one in quotes), key=lambda one: (one.quoted_at, one.source))
    if not given:
        return []
    codes = sorted({code for one in given for code in (one.base, one.quote)})
    rows = await tx.fetch(THERE, codes=codes, since=given[0].quoted_at)
    there = {(row["base"], row["quote"], row["source"], utc(row["quoted_at"])) for row in rows}
    trusted = await _trusted(tx, codes, given[0].quoted_at - DAY)
    kept, reasons = [], []
    for one in given:
        name = (one.base, one.quote, one.source[:SOURCE_LENGTH], one.quoted_at)
        if name in there:
            continue
        why = doubt(one, trusted[_pair(one)], trust)
        kept.append(_with(one, FxState.HELD if why else FxState.TRUSTED))
        reasons.append(why)
        there.add(name)
        if not why:
            insort(trusted[_pair(one)], kept[-1], key=quoted_at)
    await tx.insert(_NEW, [_row(one, why, tx) for one, why in zip(kept, reasons, strict=True)])
    held = [(one, why) for one, why in zip(kept, reasons, strict=True) if why]
    await publish(tx, *(_event(one, why) for one, why in held))
    return kept


async def known(tx: Tx, local: str, currencies: Iterable[str]) -> dict[str, Fx]:
    """What is known of the way from each currency to the market's; a held newer rate comes with the trusted one."""
    wanted = sorted({*currencies} - {local})
    if not wanted:
        return {}
    found = await _known(tx, [*wanted, local])
    return {code: found[pair] for code in wanted if (pair := frozenset((code, local))) in found}


async def decide(tx: Tx, id: int, who: str, *, accept: bool) -> FxQuote:
    """A person's word on a held rate."""
    row = await tx.first(ONE, id=id)
    if row is None:
        raise Missing(f"there is no rate {id}")
    state = FxState.TRUSTED if accept else FxState.REJECTED
    if not await tx.execute(DECIDE, state=state, who=who, now=tx.now, id=id):
        raise Conflict(f"rate {id} is {row['state']}, not held")
    await audit.record(tx, who, "price.fx", audit.Subject("fx_quote", id), row["state"], state)
    return _with(_quote(row), state)


async def listed(tx: Tx, base: str, quote: str, *, limit: int = 50) -> list[FxQuote]:
    """The last rates of a pair, the newest first."""
    return [_quote(row) for row in await tx.fetch(LISTED, base=base, quote=quote, limit=limit)]


async def _known(tx: Tx, codes: Sequence[str]) -> dict[Pair, Fx]:
    pairs: dict[Pair, Fx] = {}
    for row in await tx.fetch(NEWEST, codes=sorted(set(codes)), never=_NEVER):
        one = _quote(row)
        before = pairs.get(_pair(one), Fx())
        # Held before this one was believed: it was only a glitch, written the other way.
        held = before.held if before.held and before.held.quoted_at >= one.quoted_at else None
        pairs[_pair(one)] = Fx(before.quote, one) if one.state is FxState.HELD else Fx(one, held)
    return pairs


async def _trusted(tx: Tx, codes: Sequence[str], day_before: datetime) -> dict[Pair, list[FxQuote]]:
    """The trusted rates of each pair since then, the oldest first; what a person has accepted begins anew."""
    pairs: dict[Pair, list[FxQuote]] = defaultdict(list)
    for row in await tx.fetch(TRUSTED, codes=codes, never=_NEVER, day_before=day_before):
        one = _quote(row)
        if row["decided_by"] is not None:
            pairs[_pair(one)].clear()
        pairs[_pair(one)].append(one)
    return pairs


_NEVER = utc("1970-01-01 00:00:00.000000")


def _pair(one: FxQuote) -> Pair:
    return frozenset((one.base, one.quote))


def _with(one: FxQuote, state: FxState) -> FxQuote:
    return FxQuote(one.base, one.quote, one.rate, one.source, one.quoted_at, one.spread, state, one.id)


def _quote(row: Row) -> FxQuote:
    when = utc(row["quoted_at"])
    return FxQuote(
        row["base"], row["quote"], row["rate"], row["source"], when, row["spread"], FxState(row["state"]), row["id"]
    )


def _row(one: FxQuote, why: str, tx: Tx) -> tuple[object, ...]:
    source, reason = one.source[:SOURCE_LENGTH], why[:REASON_LENGTH]
    return (one.base, one.quote, one.rate, one.spread, source, one.quoted_at, one.state, reason, tx.now)


def _event(one: FxQuote, why: str) -> Event:
    payload = {"base": one.base, "quote": one.quote, "rate": one.rate, "source": one.source, "reason": why}
    return Event("price.fx_held", f"{one.base}/{one.quote}", payload)
