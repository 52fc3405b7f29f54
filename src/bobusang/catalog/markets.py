"""What markets and models say of a record: written beside its current version, found by market, status and age ([C]).

`source_markets` repeats of `market_data` what is searched for. Lists run by record id: pass the last one as `after`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog.tables import source_data, source_markets, source_records
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Bulk, Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.kit.db import Row, Tx

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
STALE = timedelta(hours=6)
ACTIVE = "active"
LARGEST = 1_000_000

_SHOWN = """
    select m.record_id, r.source_system, r.source_id, r.version, d.market_data, m.last_sync
    from source_markets m join source_records r on r.id = m.record_id join source_data d on d.id = r.version_id"""
BY_MARKET = Statement(f"{_SHOWN} where m.market = :market and m.record_id > :after order by m.record_id limit :limit")
BY_STATUS = Statement(f"""{_SHOWN}
    where m.market = :market and m.status = :status and m.record_id > :after order by m.record_id limit :limit""")
STALEST = Statement(f"""{_SHOWN}
    where m.market = :market and m.last_sync < :before order by m.last_sync, m.record_id limit :limit""")
QUALITY = Statement("""
    select id, source_system, source_id, version, quality from source_records
    where quality >= :score order by quality, id limit :limit""")
QUALITY_AFTER = Statement("""
    select id, source_system, source_id, version, quality from source_records
    where quality >= :score and (quality > :score or id > :after) order by quality, id limit :limit""")
TOTALS = Statement("""
    select market, status, count(*) as records from source_markets group by market, status order by market, status""")
LOCK = Statement(
    "select id, version_id from source_records where id in (:ids...) order by id for update",
    sqlite="select id, version_id from source_records where id in (:ids...) order by id",
)
LEARNED = Statement("select id, market_data, ai_data from source_data where id in (:ids...)")
UNLIST = Statement("delete from source_markets where market = :market and record_id in (:ids...)")

_MARKETS = Bulk(source_markets, ("market", "record_id", "status", "last_sync"))
_MARKET_DATA = Revise(source_data, "id", ("market_data", "updated_at"))
_AI_DATA = Revise(source_data, "id", ("ai_data", "updated_at"))
_QUALITY = Revise(source_records, "id", ("quality",))


@dataclass(frozen=True, slots=True)
class Sync:
    """What a market says of a record: `status`, `listing_id`, `price`, `last_sync` (an instant) and more; None: nothing
    any more."""

    record_id: int
    market: str
    info: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Offered:
    """A record on a market."""

    record_id: int
    system: str
    key: str
    version: int
    info: Mapping[str, Any]
    last_sync: datetime | None


@dataclass(frozen=True, slots=True)
class Scored:
    """A record and its quality score."""

    record_id: int
    system: str
    key: str
    version: int
    quality: float


@dataclass(frozen=True, slots=True)
class Totals:
    """How many records a market has, by status."""

    market: str
    records: int
    by_status: Mapping[str, int] = field(default_factory=dict)


async def by_market(tx: Tx, market: str, *, after: int = 0, limit: int = 100) -> list[Offered]:
    """Records that are on a market, in whatever state."""
    return _offered(market, await tx.fetch(BY_MARKET, market=market, after=after, limit=limit))


async def active_in_market(tx: Tx, market: str, *, after: int = 0, limit: int = 100) -> list[Offered]:
    """Records that are for sale on a market."""
    rows = await tx.fetch(BY_STATUS, market=market, status=ACTIVE, after=after, limit=limit)
    return _offered(market, rows)


async def needs_price_update(
    tx: Tx, market: str, *, now: datetime, older_than: timedelta = STALE, limit: int = 100
) -> list[Offered]:
    """Records whose market has not been told anything for so long, those never synced first."""
    return _offered(market, await tx.fetch(STALEST, market=market, before=now - older_than, limit=limit))


async def quality_above(tx: Tx, score: float, *, after: int | None = None, limit: int = 100) -> list[Scored]:
    """Records with at least this quality score, from the lowest; to go on, pass the last score and id."""
    if after is None:
        rows = await tx.fetch(QUALITY, score=score, limit=limit)
    else:
        rows = await tx.fetch(QUALITY_AFTER, score=score, after=after, limit=limit)
    return [Scored(row["id"], row["source_system"], row["source_id"], row["version"], row["quality"]) for row in rows]


async def totals_by_market(tx: Tx) -> list[Totals]:
    """How many records each market has."""
    found: dict[str, dict[str, int]] = {}
    for row in await tx.fetch(TOTALS):
        found.setdefault(row["market"], {})[row["status"]] = row["records"]
    return [Totals(market, sum(by_status.values()), by_status) for market, by_status in found.items()]


def _offered(market: str, rows: Sequence[Row]) -> list[Offered]:
    return [
        Offered(
            row["record_id"],
            row["source_system"],
            row["source_id"],
            row["version"],
            json.loads(row["market_data"])[market],
            synced if (synced := utc(row["last_sync"])) != NEVER else None,
        )
        for row in rows
    ]


# --- writing ---------------------------------------------------------------------------------------------------------


async def set_market_data(tx: Tx, syncs: Sequence[Sync], *, missing_ok: bool = False) -> None:
    """Keep what markets say, each entry replacing that market's last one; the other markets' stay.

    `missing_ok`: what they say of records that we do not have is dropped, instead of refused.
    """
    current = await _current(tx, {sync.record_id for sync in syncs}, missing_ok=missing_ok)
    syncs = [sync for sync in syncs if sync.record_id in current]
    known = {row["id"]: json.loads(row["market_data"] or "{}") for row in await _learned(tx, current)}
    for sync in syncs:
        document = known[current[sync.record_id]]
        document.pop(sync.market, None)
        if sync.info is not None:
            document[sync.market] = dict(sync.info)
    await tx.revise(_MARKET_DATA, _documents(tx, known, "market_data"))
    await _index(tx, syncs)


async def _index(tx: Tx, syncs: Sequence[Sync]) -> None:
    last = {(sync.market, sync.record_id): sync.info for sync in syncs}
    for market in sorted({market for market, _ in last}):
        await tx.execute(UNLIST, market=market, ids=sorted(id for name, id in last if name == market))
    await tx.insert(
        _MARKETS,
        [
            (market, id, str(info.get("status") or ""), _instant(info.get("last_sync")))
            for (market, id), info in sorted(last.items(), key=lambda item: item[0])
            if info is not None
        ],
    )


def _instant(value: object) -> datetime:
    if value is None:
        return NEVER
    try:
        return utc(value) if isinstance(value, datetime) else utc(str(value))
    except ValueError:
        hint = "write an instant such as 2026-01-27T12:00:00Z"
        raise Invalid(f"last_sync '{value}' is no instant", hint=hint, field="last_sync") from None


async def set_ai_data(tx: Tx, data: Mapping[int, Mapping[str, Any]]) -> None:
    """Keep what models say of records (by id), over what they said before; `quality_score` is 0 to 1."""
    current = await _current(tx, data)
    known = {row["id"]: json.loads(row["ai_data"] or "{}") for row in await _learned(tx, current)}
    for record_id, said in data.items():
        known[current[record_id]] |= said
    scores = [(id, _score(known[current[id]]["quality_score"])) for id in sorted(data) if "quality_score" in data[id]]
    await tx.revise(_AI_DATA, _documents(tx, known, "ai_data"))
    await tx.revise(_QUALITY, scores)


def _score(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Invalid(f"quality_score {value!r} is no number from 0 to 1", field="quality_score")
    return float(value)


async def _current(tx: Tx, ids: Iterable[int], *, missing_ok: bool = False) -> dict[int, int]:
    """Record → its current version, locked so that no new version is made without what is written now."""
    wanted = sorted(set(ids))
    found = {row["id"]: row["version_id"] for row in await tx.fetch(LOCK, ids=wanted)} if wanted else {}
    unknown = [id for id in wanted if id not in found]
    if unknown and not missing_ok:
        raise Missing(f"there is no source record {unknown[0]}", field="record_id")
    return found


async def _learned(tx: Tx, current: Mapping[int, int]) -> Sequence[Row]:
    return await tx.fetch(LEARNED, ids=sorted(current.values())) if current else ()


def _documents(tx: Tx, known: Mapping[int, Any], name: str) -> list[tuple[int, str | None, datetime]]:
    return [
        (id, json.payload(document, limit=LARGEST, name=name) if document else None, tx.now)
        for id, document in sorted(known.items())
    ]
