"""The model of the queue, explored until the time is up."""

from __future__ import annotations

import time

from tests.integration.engine.machine import explore


def test_the_queue_does_what_its_model_does(url: str, seconds: float) -> None:
    over = time.monotonic() + seconds
    while True:
        explore(url, examples=100, steps=80)
        if time.monotonic() > over:
            return
