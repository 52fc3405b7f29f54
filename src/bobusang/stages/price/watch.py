"""Other offers in the database: what the last searches showed of each model, and which models are due again.

FOUND, EMPTY  a search succeeded: this is the lowest comparable offer, or nobody else offers it new
UNCLEAR       a search succeeded, and of what it showed nothing can be compared: perhaps somebody does
FAILED        the last search failed: what the one before it showed stays, and no price moves by it
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.money import Money
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.stages.price.interval import DEFAULT_PACE, Pace, Place, adapted, due_at
from bobusang.stages.price.model import Rival, Search
from bobusang.stages.price.rivals import NEW_ONLY, NOBODY, Excluded, Likeness, Own, model_key, select
from bobusang.stages.price.tables import MODEL_LENGTH, SELLER_LENGTH, competitor_prices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.price.model import Offer
    from bobusang.stages.price.rivals import Selection

TITLE_LENGTH = 500
NO_RIVALS = {Excluded.OWN, Excluded.USED}
"""Of whoever is left out for anything else nobody knows that he sells something else."""

KNOWN = Statement("select * from competitor_prices where market = :market and model in (:models...)")
DUE = Statement("""
    select model from competitor_prices where market = :market and due_at <= :now order by due_at, id limit :limit""")
_NEW = Bulk(competitor_prices, ("market", "model", "search", "interval_seconds", "due_at"), keep=True)
_SEEN = (
    *("search", "total", "currency", "seller", "title", "offers", "comparable", "excluded"),
    *("found_at", "checked_at", "failures", "interval_seconds", "due_at"),
)
_FOUND = Revise(competitor_prices, "id", _SEEN)
_FAILED = Revise(competitor_prices, "id", ("search", "checked_at", "failures", "due_at"))


@dataclass(frozen=True, slots=True)
class Searched:
    """What came of a search for a model; `offers` is None when it failed, empty when it showed nobody."""

    model: str
    offers: tuple[Offer, ...] | None
    ours: Money | None = None
    """The lowest total that we ourselves ask for it."""


@dataclass(frozen=True, slots=True)
class Market:
    """What a search of one market is judged by."""

    name: str
    currency: str
    own: Own = NOBODY
    """Of all our accounts there."""
    likeness: Likeness = NEW_ONLY
    pace: Pace = DEFAULT_PACE


async def follow(tx: Tx, market: Market, models: Iterable[str]) -> int:
    """Search these models from now on; how many are new."""
    keys = sorted({key for model in models if 0 < len(key := model_key(model)) <= MODEL_LENGTH})
    first = int(market.pace.first.total_seconds())
    return await tx.insert(_NEW, [(market.name, key, Search.NEVER, first, tx.now) for key in keys])


async def due(tx: Tx, market: str, *, limit: int) -> list[str]:
    """The models that are to be searched now, the longest overdue first."""
    return [row["model"] for row in await tx.fetch(DUE, market=market, now=tx.now, limit=limit)]


async def fresh(tx: Tx, market: str, models: Iterable[str]) -> set[str]:
    """Of these models, by key, those that were searched and are not due again yet."""
    return {row["model"] for row in await _rows(tx, market, models) if utc(row["due_at"]) > tx.now}


async def record(tx: Tx, market: Market, searches: Sequence[Searched]) -> dict[str, Rival]:
    """Keep what searches showed; the rivals as they are now known, by model key."""
    last = {model_key(one.model): one for one in searches}
    await follow(tx, market, last)
    rows = {row["model"]: row for row in await _rows(tx, market.name, last)}
    found, failed = [], []
    for key, row in sorted(rows.items()):
        offers = last[key].offers
        if offers is None:
            failed.append(_failed(row, tx.now, market.pace))
        else:
            found.append(_found(row, last[key], offers, market, tx.now))
    await tx.revise(_FOUND, sorted(found, key=lambda values: int(str(values[0]))))
    await tx.revise(_FAILED, sorted(failed, key=lambda values: int(str(values[0]))))
    return await rivals(tx, market.name, last)


async def rivals(tx: Tx, market: str, models: Iterable[str]) -> dict[str, Rival]:
    """What is known of these models, by model key."""
    return {row["model"]: _rival(row) for row in await _rows(tx, market, models)}


async def _rows(tx: Tx, market: str, models: Iterable[str]) -> Sequence[Row]:
    keys = sorted({model_key(model) for model in models} - {""})
    return await tx.fetch(KNOWN, market=market, models=keys) if keys else ()


def _found(row: Row, one: Searched, offers: Sequence[Offer], market: Market, now: datetime) -> tuple[object, ...]:
    chosen = select(offers, one.model, market.currency, market.own, market.likeness)
    lowest = chosen.lowest
    total = None if chosen.total is None else chosen.total.amount_minor
    interval = adapted(timedelta(seconds=row["interval_seconds"]), _place(total, one.ours, row["total"]), market.pace)
    return (
        row["id"],
        _ended(chosen),
        total,
        market.currency,
        "" if lowest is None else _kept(lowest.seller, SELLER_LENGTH),
        "" if lowest is None else _kept(lowest.title, TITLE_LENGTH),
        chosen.offers,
        chosen.comparable,
        json.dumps(dict(sorted(chosen.excluded.items()))),
        now,
        now,
        0,
        int(interval.total_seconds()),
        due_at(f"{market.name}/{row['model']}", now, interval, market.pace),
    )


def _ended(chosen: Selection) -> Search:
    if chosen.lowest is not None:
        return Search.FOUND
    return Search.EMPTY if chosen.excluded.keys() <= NO_RIVALS else Search.UNCLEAR


def _place(total: int | None, ours: Money | None, before: int | None) -> Place:
    """Whether we are still the lowest; where we do not sell it, whether anything moved down."""
    if ours is not None:
        return Place.LOST if total is not None and total <= ours.amount_minor else Place.KEPT
    return Place.LOST if total is not None and before is not None and total < before else Place.KEPT


def _failed(row: Row, now: datetime, pace: Pace) -> tuple[object, ...]:
    interval = adapted(timedelta(seconds=row["interval_seconds"]), Place.UNKNOWN, pace)
    due = due_at(f"{row['market']}/{row['model']}", now, interval, pace)
    return (row["id"], Search.FAILED, now, row["failures"] + 1, due)


def _rival(row: Row) -> Rival:
    total = None if row["total"] is None else Money(row["total"], row["currency"])
    search, counts = Search(row["search"]), (row["offers"], row["comparable"])
    return Rival(search, total, row["seller"], row["title"], *counts, utc(row["found_at"]))


def _kept(text: str, length: int) -> str:
    return text.replace("\0", "")[:length]


def of(known: Mapping[str, Rival], model: str) -> Rival:
    """The rival of a model among those that are known."""
    return known.get(model_key(model), Rival(Search.NEVER))
