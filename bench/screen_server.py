"""The screen alone on a shop's folder: what `bobusang up` serves, without its worker and without leading upkeep, so
that what this process takes is what pages and the live channel take."""

from __future__ import annotations

import asyncio
import os
import sys

from bobusang.entry.cli.process import listening
from bobusang.entry.worker import Roles, Stop, run
from bobusang.kit import json, log
from bobusang.settings import Settings
from bobusang.wiring import opened


async def serve(home: str, database_url: str) -> None:
    """Until it is asked to stop; the first line of stdout says where."""
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        settings = Settings(home=home, database_url=database_url, port=port)
        async with opened(settings) as app:
            ready = json.dumps({"url": f"http://127.0.0.1:{port}", "pid": os.getpid()})
            await run(app, Roles(None, False, listener), Stop(), lambda: print(ready, flush=True))


if __name__ == "__main__":
    log.configure("ERROR", "json")
    asyncio.run(serve(*sys.argv[1:3]))
