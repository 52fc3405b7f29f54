"""REGISTER against the sandbox's market, explored until the time is up."""

from __future__ import annotations

import time

from tests.integration.register.machine import explore


def test_whatever_dies_or_is_lost_the_market_has_what_is_wanted(url: str, seconds: float) -> None:
    over = time.monotonic() + seconds
    while True:
        explore(url, examples=50, steps=60)
        if time.monotonic() > over:
            return
