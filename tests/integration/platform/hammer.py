"""The program that takes tokens as fast as it can: `python -m tests.integration.platform.hammer URL PREFIX SECONDS`.

One line a grant: when it was asked for, when it was answered (both by the machine's monotonic clock), how many.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from datetime import timedelta

from bobusang.kit.clock import SystemClock
from bobusang.platform.limiter import Limit
from bobusang.platform.limiters.redis import RedisLimiter

LIMIT = Limit(50, timedelta(seconds=2), burst=10)
KEY = "mustit"


async def hammer(url: str, prefix: str, seconds: float) -> None:
    limiter = RedisLimiter(url, SystemClock(), prefix=prefix)
    ends = time.monotonic() + seconds
    while (asked := time.monotonic()) < ends:
        taken = await limiter.take(KEY, LIMIT, random.randint(1, 5))
        if taken.count:
            print(asked, time.monotonic(), taken.count, flush=True)
    await limiter.close()


if __name__ == "__main__":
    asyncio.run(hammer(sys.argv[1], sys.argv[2], float(sys.argv[3])))
