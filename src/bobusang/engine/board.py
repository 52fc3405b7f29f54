"""Which lane a free slot claims from next: fair shares by weight, and nothing asked of lanes known to be empty."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.queue import START, Cursor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set
    from datetime import datetime

    from bobusang.engine.budgets import Grant
    from bobusang.engine.lanes import Lane
    from bobusang.engine.queue import Claim

WEIGHTS = (16.0, 4.0, 1.0)
"""How many turns HIGH, NORMAL and LOW get when they compete in different lanes."""
ASK_AGAIN = timedelta(seconds=1)
BELIEVED = timedelta(seconds=5)


@dataclass(slots=True, eq=False)
class Look:
    """A claim under way: where it started, the smallest sort key that was rung for meanwhile, and the instants of its
    transactions, by which a claim is found again whose commit was not answered."""

    start: Cursor
    rung: int | None = None
    urgent: bool = False
    """Whether something urgent was among it."""
    tries: list[datetime] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Spot:
    """What we believe of a lane."""

    lane: Lane
    stocked: bool = True
    since: float | None = None
    """When it got work after it had none, on the clock of `ticks`; None: it is ripe, as what is urgent always is."""
    cursor: Cursor = START
    blocked_until: datetime | None = None
    full: bool = False
    pool: str = ""
    """The pool that refused it."""
    reason: str = ""
    served: float = 0.0
    """Virtual time: grows by batch ÷ weight, so a lane with twice the weight gets twice the share."""
    looks: list[Look] = field(default_factory=list)

    def open(self) -> None:
        """Not blocked as far as we know."""
        self.blocked_until, self.full = None, False

    def stock(self, tick: float) -> bool:
        """It has work; whether that is news."""
        if self.stocked:
            return False
        self.stocked, self.since = True, tick
        return True

    def ripens_in(self, linger: timedelta | None, tick: float) -> float:
        """Seconds for which its tasks are left to come together."""
        return 0.0 if linger is None or self.since is None else self.since + linger.total_seconds() - tick


@dataclass(slots=True)
class Board:
    """The lanes of one worker process, and the bells its free slots wait for, one a handler."""

    spots: dict[int, Spot] = field(default_factory=dict)
    bells: dict[str, asyncio.Event] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a lane was heard of that is not on the board yet."""
    ticks: Callable[[], float] = time.monotonic

    def bell(self, handler: str) -> asyncio.Event:
        """What the free slots of a handler wait for: work for others must not wake them all."""
        return self.bells.setdefault(handler, asyncio.Event())

    def ring(self) -> None:
        """Wake all free slots."""
        for bell in self.bells.values():
            bell.set()

    def stocked(self) -> list[int]:
        """The lanes that are believed to have work."""
        return [lane for lane, spot in self.spots.items() if spot.stocked]

    def learn(self, lanes: Iterable[tuple[Lane, int | None]]) -> bool:
        """Take in what the database knows (what it does not know any more is gone); whether there is new work."""
        floor = min((spot.served for spot in self.spots.values()), default=0.0)
        seen, changed = {}, False
        for lane, due in lanes:
            spot = self.spots.get(lane.id) or Spot(lane, stocked=False, served=floor)
            if due is not None and spot.stock(self.ticks()):
                spot.cursor, changed = Cursor(due - 1), True
                self.bell(lane.handler).set()
            seen[lane.id] = spot
        self.spots = seen
        return changed

    def hear(self, note: str) -> None:
        """A ring: `ready:<lane>:<due>` (with `:now` if it is urgent), `lane:<id>`, `pools` (a budget changed),
        `freed:<pool>,<pool>` (a batch of them is over), or empty: something changed somewhere."""
        kind, _, rest = note.partition(":")
        match kind:
            case "ready":
                lane, due, *urgent = rest.split(":")
                self._stock(int(lane), int(due), urgent=bool(urgent))
                return
            case "lane":
                self.news.set()
                return
            case "pools":
                for spot in self.spots.values():
                    spot.open()
            case "freed":
                self._free(frozenset(rest.split(",")))
                return
            case "":
                self._free()
                self.news.set()
            case _:
                return
        self.ring()

    def _free(self, pools: Set[str] | None = None) -> None:
        """Open what these pools (None: any) refused because they were full, and wake those who wait for it."""
        for spot in self.spots.values():
            if spot.full and (pools is None or spot.pool in pools):
                spot.open()
                self.bell(spot.lane.handler).set()

    def _stock(self, lane: int, due: int, *, urgent: bool) -> None:
        spot = self.spots.get(lane)
        if spot is None:
            self.news.set()
            return
        is_news = spot.stock(self.ticks())
        if due <= spot.cursor.due:
            spot.cursor = Cursor(due - 1)
        for look in spot.looks:
            look.rung = due if look.rung is None else min(look.rung, due)
            look.urgent |= urgent
        if urgent:
            spot.since = None
        if is_news or urgent:  # else the free slots know of it, and wait until it is ripe or open
            self.bell(spot.lane.handler).set()

    def pick(
        self,
        handler: str,
        now: datetime,
        *,
        idle: bool = False,
        linger: timedelta | None = None,
        frees: Set[str] = frozenset(),
    ) -> Spot | None:
        """The lane of this handler that is owed most. An idle slot leaves a lane that another one is claiming from, and
        those that share a pool with it: one bell wakes them all, and most often the first takes everything. One that
        got work just now is left to ripen. `frees`: pools of what the slot has finished; with that it may take what
        these refused, unless they refused another handler to which more is owed."""
        best: Spot | None = None
        asked = self._asked() if idle else frozenset()
        for spot in self.spots.values():
            if spot.lane.handler != handler or not spot.stocked:
                continue
            if idle and (spot.looks or not asked.isdisjoint(spot.lane.pools)):
                continue
            if spot.blocked_until is not None and not (spot.full and spot.pool in frees):
                if spot.blocked_until > now:
                    continue
                spot.open()
            if spot.ripens_in(linger, self.ticks()) > 0:
                continue
            if best is None or spot.served < best.served:
                best = spot
        return None if best is not None and frees and self._is_owed_more(best, frees) else best

    def _is_owed_more(self, than: Spot, pools: Set[str]) -> bool:
        """Whether a lane of another handler, which these pools refused because they were full, has had less."""
        others = (one for one in self.spots.values() if one.lane.handler != than.lane.handler and one.stocked)
        return any(one.full and one.pool in pools and one.served < than.served for one in others)

    def _asked(self) -> frozenset[str]:
        """The pools of all lanes that somebody is claiming from."""
        return frozenset(pool for spot in self.spots.values() if spot.looks for pool in spot.lane.pools)

    def look(self, spot: Spot) -> Look:
        """A claim begins."""
        look = Look(spot.cursor)
        spot.looks.append(look)
        return look

    def lost(self, spot: Spot, look: Look) -> None:
        """A claim failed: what it had locked is runnable again, behind a cursor that others may have moved."""
        spot.looks.remove(look)
        spot.stocked, spot.since, spot.cursor = True, None, START
        self._tell(spot)

    def claimed(self, spot: Spot, look: Look, claim: Claim | None, asked: int) -> None:
        """Note what a claim brought."""
        spot.looks.remove(look)
        count = 0 if claim is None else len(claim.entries)
        if claim is not None:
            last = claim.entries[-1]
            spot.served += count / WEIGHTS[claim.entries[0].queue]
            spot.cursor = max(spot.cursor, Cursor(last.due, last.task_id))
        if count < asked:
            # Nothing is left ahead. Behind us is only what was rung for, or what the next look at all lanes will find:
            # to search from the start each time would be to step over every dead row again.
            spot.stocked, spot.since = look.rung is not None, None if look.urgent else self.ticks()
        if look.rung is not None and look.rung <= spot.cursor.due:
            spot.cursor = Cursor(look.rung - 1)
        self._tell(spot)

    def _tell(self, spot: Spot) -> None:
        """Wake the idle slots that left this lane, or one that shares a pool with it, to us."""
        for one in (spot, *self._beside(spot)):
            if one.stocked:
                self.bell(one.lane.handler).set()

    def _beside(self, spot: Spot) -> list[Spot]:
        pools = frozenset(spot.lane.pools)
        if not pools:
            return []
        return [one for one in self.spots.values() if one is not spot and not pools.isdisjoint(one.lane.pools)]

    def block(self, spot: Spot, grant: Grant, now: datetime) -> None:
        """A budget said no: until then, or until something in its pool finishes; to all lanes of a pool that gives
        nobody anything. It is asked again soon all the same, because whoever lifts a block, or takes claims back, may
        be unable to ring for us."""
        soon = now + (ASK_AGAIN if grant.until is None else BELIEVED)
        refused = [one for one in self._beside(spot) if grant.pool in one.lane.pools] if grant.is_used_up else ()
        for one in (spot, *refused):
            one.blocked_until, one.full = min(grant.until or soon, soon), grant.until is None
            one.pool, one.reason = grant.pool, grant.reason

    def wakes_at(self, handler: str) -> datetime | None:
        """When the next blocked lane of this handler may be tried again."""
        times = [spot.blocked_until for spot in self._waiting(handler) if spot.blocked_until is not None]
        return min(times, default=None)

    def ripens_in(self, handler: str, linger: timedelta | None) -> float | None:
        """In how many seconds the next lane of this handler is ripe; None when there is no unripe one."""
        tick = self.ticks()
        left = [spot.ripens_in(linger, tick) for spot in self._waiting(handler)]
        return min((seconds for seconds in left if seconds > 0), default=None)

    def _waiting(self, handler: str) -> list[Spot]:
        return [spot for spot in self.spots.values() if spot.lane.handler == handler and spot.stocked]
