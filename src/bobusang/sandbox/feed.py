"""A JSON feed of exchange notices, by cursor or by page."""

from __future__ import annotations

from datetime import timedelta
from math import floor
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.chance import Chance, drawn, seeded
from bobusang.sandbox.world import BEGIN

if TYPE_CHECKING:
    from bobusang.sandbox.scene import Scene
    from bobusang.sandbox.world import World

PAGE, MOST_PAGE = 25, 100
FIRST = 120
"""Entries at hour 0."""
KEPT = 2000
EVERY_HOURS = 3.0
UPDATE_HOURS = 12.0
CURRENCIES = ("USD", "JPY", "EUR", "CNY", "GBP")


def entries(world: World) -> list[dict[str, Any]]:
    """What the feed holds now, newest first."""
    last = FIRST + floor(world.hours / EVERY_HOURS)
    return [_entry(world, place) for place in range(last - 1, max(-1, last - 1 - KEPT), -1)]


def _entry(world: World, place: int) -> dict[str, Any]:
    chance = Chance(seeded(world.seed, "feed", place))
    hour = (place - FIRST + 1) * EVERY_HOURS
    currency, rate = chance.pick(CURRENCIES), chance.between(900, 1900)
    updates = min(3, floor((world.hours - hour) / UPDATE_HOURS))  # a quote is corrected three times, then final
    return {
        "id": f"fx-{place:05}",
        "title": f"{currency} 고시환율 {place + 1}회차",
        "currency": currency,
        "rate": rate + drawn(world.seed, place, updates) % 5,
        "final": updates >= 3,
        "published_at": _instant(hour),
        "updated_at": _instant(hour + updates * UPDATE_HOURS),
    }


def _instant(hour: float) -> str:
    return (BEGIN + timedelta(hours=hour)).isoformat()


def page(scene: Scene, *, number: int, cursor: str, size: int) -> dict[str, Any]:
    """One page: after a cursor where one is given, else by its number."""
    every = entries(scene.world)
    if cursor:
        ids = [entry["id"] for entry in every]
        start = ids.index(cursor) + 1 if cursor in ids else len(every)
        stop = start + size
    else:
        start, stop = scene.page(len(every), number, size)
    items = every[start:stop]
    return {
        "items": items,
        "total": scene.total(len(every)),
        "page": number,
        "next_cursor": items[-1]["id"] if items and stop < len(every) else None,
    }
