"""A market's webhooks from a process of its own: signed as the market signs, so many a second, each answer timed."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import aiohttp
import msgspec

from bobusang.kit import json
from bobusang.sandbox.buyma.post import signature

STAMP = "2030-01-01T{:02}:{:02}:{:06.3f}+09:00"
"""A later time of the market for each, so that none is the same as another, and each is the newest."""
CONNECTIONS = 64


class Order(msgspec.Struct):
    """What is to be sent, read from stdin."""

    url: str
    secret: str
    rate: float
    seconds: float
    hour: int
    """The market's hour that they are said to be of."""
    letters: list[tuple[str, dict[str, Any]]]
    """Events and bodies, as the market has sent them before."""


async def post(order: Order) -> dict[str, Any]:
    """Milliseconds from sending to the answer, how late each was sent (ours, not theirs), and the answers' statuses."""
    count = int(order.rate * order.seconds)
    waits, late, statuses = [0.0] * count, [0.0] * count, [0] * count
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as http:
        begun = time.perf_counter()

        async def one(number: int) -> None:
            due = begun + number / order.rate
            await asyncio.sleep(due - time.perf_counter())
            event, letter = order.letters[number % len(order.letters)]
            body = json.dumps({**letter, "updated_at": stamp(order.hour, number)}).encode()
            headers = {"X-Buyma-Event": event, "X-Buyma-Hmac-Sha256": signature(order.secret, body)}
            sent = time.perf_counter()
            async with http.post(order.url, data=body, headers=headers) as answer:
                await answer.read()
            waits[number], late[number] = (time.perf_counter() - sent) * 1000, (sent - due) * 1000
            statuses[number] = answer.status

        await asyncio.gather(*(one(number) for number in range(count)))
        ended = time.perf_counter()
    return {"waits": waits, "late": late, "statuses": statuses, "begun": begun, "ended": ended}


def stamp(hour: int, number: int) -> str:
    """When the market did it, as it says."""
    return STAMP.format(hour, number // 60_000, number / 1000 % 60)


if __name__ == "__main__":
    found = asyncio.run(post(msgspec.json.decode(sys.stdin.buffer.read(), type=Order)))
    sys.stdout.write(json.dumps(found) + "\n")
