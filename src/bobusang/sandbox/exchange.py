"""A bank that quotes the yen in won: seeded, moving with the world's clock, and quoted at this machine's time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.buyma.rivals import WON_PER_YEN
from bobusang.sandbox.chance import drawn, seeded

if TYPE_CHECKING:
    from bobusang.sandbox.world import World

STEP_HOURS = 6


def latest(world: World, *, times: int = 1) -> dict[str, Any]:
    """The rate of the moment, up to one part in a hundred beside the mean; times are ours, or it would be of a year
    in which nobody trades."""
    turn = int(world.hours * world.pace // STEP_HOURS)
    moved = drawn(seeded(world.seed, "exchange"), turn) % 201 - 100
    rate = WON_PER_YEN * (1 + moved / 10_000) * times
    return {"base": "JPY", "time": datetime.now(UTC).isoformat(), "rates": {"KRW": f"{rate:.4f}"}}
