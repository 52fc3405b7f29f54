"""The seed of tests that try something else each time; on CI the same each time: what lands is not up to chance."""

from __future__ import annotations

import os
import random

ON_CI = 20_260_127


def chosen() -> int:
    """What BOBUSANG_SEED says, to see a failure again; else a new one, except on CI."""
    return int(os.environ.get("BOBUSANG_SEED", "0")) or (ON_CI if os.environ.get("CI") else random.randrange(1, 10**6))
