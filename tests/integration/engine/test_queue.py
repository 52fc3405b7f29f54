"""The queue on every database."""

from __future__ import annotations

from bobusang.testing.queue_suite import QueueSuite


class TestQueue(QueueSuite):
    pass
