"""Relay: events leave the outbox for their subscribers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Crowd, Duty

if TYPE_CHECKING:
    from bobusang.platform.relay import Relay as Outbox

PAUSE = timedelta(seconds=0.5)
"""Events come in crowds: what is written meanwhile goes with the next pass, several changes of a product as one. Each
pass costs some transactions, and a commit of the search index, however few its events are."""
CROWD = Crowd(50, timedelta(seconds=1.5))
"""A run tells of each product three times within seconds, and the index is the dearer the smaller its commits are."""


def relay(outbox: Outbox, name: str, crowd: Crowd | None = None) -> Duty:
    """At once when an event was written, and twice a second for those put off."""
    return Duty(f"relay {name}", timedelta(seconds=0.5), outbox.step, frozenset({"outbox"}), PAUSE, crowd)


def prune(outbox: Outbox) -> Duty:
    """What nobody took for too long goes."""
    return Duty("prune", timedelta(minutes=10), outbox.prune)
