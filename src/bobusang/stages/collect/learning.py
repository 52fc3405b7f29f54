"""What the gate learns from answers about a source and one of its endpoints (pure)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.stages.collect import breaker as breakers
from bobusang.stages.collect.identity import place_in_row, rest
from bobusang.stages.collect.policy import BackOff

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.stages.collect.admission import Standing
    from bobusang.stages.collect.breaker import Tripping
    from bobusang.stages.collect.responses import Tally


def is_news(tally: Tally) -> bool:
    """Whether there is anything in it besides answers."""
    return bool(tally.broken or tally.throttled or tally.halted or tally.opened)


def learned(
    whole: Standing,
    part: Standing,
    tally: Tally,
    *,
    now: datetime,
    tripping: Tripping,
    probe: int = 0,
    pooled: bool,
    jitter: float = 0.0,
) -> tuple[Standing, Standing]:
    """Where the source (`whole`) and the endpoint (`part`) stand after some calls.

    A 429 blames the identity that was leased for it; where nobody was, the source as a whole asked for a rest.
    """
    part = replace(part, breaker=breakers.counted(part.breaker, tally, now, tripping, probe=probe))
    if tally.broken and tally.retry_after is not None:
        asked = now + tally.retry_after
        part = replace(part, blocked_until=max(asked, part.blocked_until or asked))
    if tally.throttled and not pooled:
        whole = _throttled(whole, tally, now, jitter)
    if tally.halted:
        whole = replace(whole, breaker=breakers.halted(whole.breaker, tally.halted, now))
    return whole, part


def _throttled(whole: Standing, tally: Tally, now: datetime, jitter: float) -> Standing:
    if whole.blocked_until is not None and whole.blocked_until > now:
        return whole  # what was under way when the rest began tells nothing new
    back_off = tally.back_off or BackOff()
    place = place_in_row(whole.blocked_in_a_row, whole.forgiven_at, now)
    until = now + rest(back_off, place, tally.retry_after, jitter)
    return replace(whole, blocked_until=until, blocked_in_a_row=place, forgiven_at=until + back_off.forgive)
