"""Anything in any order: the queue stays what its model says it is. `make soak` explores further."""

from __future__ import annotations

import pytest

from bobusang.kit.sql import Dialect
from tests.integration.engine.machine import explore

EXAMPLES = {Dialect.SQLITE: 60, Dialect.POSTGRES: 20, Dialect.MARIADB: 15}


@pytest.mark.timeout(600)
def test_the_queue_does_what_its_model_does(url: str) -> None:
    explore(url, examples=EXAMPLES[Dialect(url.partition(":")[0])], steps=40)
