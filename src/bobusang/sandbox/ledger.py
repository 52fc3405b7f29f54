"""A supplier's ledger: since when it has each product, when that last changed, and what changed; sold out ones too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.sandbox.chance import drawn

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.sandbox.mall import Mall
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.world import World

AGE = 90
"""What the age of a product that was there at the start is drawn for."""
OLDEST_DAYS = 700


@dataclass(frozen=True, slots=True)
class Entry:
    """One product: `gone` is known by its number still, and sold no more."""

    no: int
    created: datetime
    updated: datetime
    gone: bool


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a product."""

    no: int
    kind: str
    before: str
    after: str
    at: datetime


def entries(world: World, mall: str) -> tuple[Entry, ...]:
    """All products that there are or were, by number."""
    return _entries(world, mall, world.version)


def events(world: World, mall: str) -> tuple[Event, ...]:
    """All that happened since the start, the oldest first."""
    return _events(world, mall, world.version)


@lru_cache(maxsize=8)
def _entries(world: World, mall: str, version: int) -> tuple[Entry, ...]:
    shelves = world.mall(mall)
    last = {one.no: one.at for one in events(world, mall)}
    found = [
        no
        for brand in shelves.brands
        for numbers in (shelves.numbers(world.hours, brand), shelves.gone(world.hours, brand))
        for no in numbers
    ]
    return tuple(_entry(world, shelves, no, last.get(no)) for no in sorted(found))


def _entry(world: World, shelves: Mall, no: int, last: datetime | None) -> Entry:
    born, gone = shelves.life(no)
    created = world.chronicle.at(born)
    if born < 0:
        created -= timedelta(minutes=1 + drawn(no, AGE) % (OLDEST_DAYS * 24 * 60))
    return Entry(no, created, max(created, last) if last else created, gone <= world.hours)


@lru_cache(maxsize=8)
def _events(world: World, mall: str, version: int) -> tuple[Event, ...]:
    shelves, found = world.mall(mall), []
    for brand in shelves.brands:
        for no in (*shelves.numbers(world.hours, brand), *shelves.gone(world.hours, brand)):
            for before, after, moment in world.chronicle.leaps:
                found += _between(shelves, no, before, after, moment)
            if moment_told := world.chronicle.told(mall, no):
                found += _told(shelves, no, world.hours, moment_told)
    return tuple(sorted(found, key=lambda one: (one.at, one.no, one.kind)))


def _between(shelves: Mall, no: int, before: float, after: float, moment: datetime) -> list[Event]:
    was, now = shelves.fated(before, no), shelves.fated(after, no)
    if was is None or now is None:
        return [Event(no, "discontinued", "available", "discontinued", moment)] if was is not None else []
    return _differences(no, was, now, moment)


def _told(shelves: Mall, no: int, hours: float, moment: datetime) -> list[Event]:
    was, now = shelves.fated(hours, no), shelves.standing(hours, no)
    if now is None:
        return [Event(no, "discontinued", "available", "discontinued", moment)]
    changed = _differences(no, was, now, moment) if was is not None else []
    return changed or [Event(no, "infoChanged", "", "", moment)]


def _differences(no: int, was: Standing, now: Standing, moment: datetime) -> list[Event]:
    found = []
    if was.price != now.price:
        kind = "priceIncreased" if now.price > was.price else "priceDecreased"
        found.append(Event(no, kind, str(was.price), str(now.price), moment))
    if was.sold_out != now.sold_out:
        words = ("available", "soldout") if now.sold_out else ("soldout", "available")
        found.append(Event(no, "soldout" if now.sold_out else "restocked", *words, moment))
    elif was.stocks != now.stocks:
        found.append(Event(no, "stockChanged", str(was.stock), str(now.stock), moment))
    return found
