"""A crowd of clients that write and search at once through the API, and know what each answer must show.

Every write makes a product dearer by one, so a price says which state of it is seen. A state counts as delivered once
no event of the product waits in the database any more; from then on, and for as long as a cache may take to notice, no
answer may show an older one.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import aiohttp

    from bobusang.kit.db import Database

WORDS = ("패딩", "코트")
MALL = "manual"
FIRST_PRICE = 1000
CONTESTED = 5
OF_A_CLIENT = 3
OFTEN = 20
"""Of so many rounds five are of a write, and one waits for what was written."""
TWICE = 0.2
"""The share of requests that are sent twice under one name."""

WAITING = Statement("""
    select event_key from outbox where event_key in (:keys...)
    union all
    select d.event_key from deliveries d join subscriptions s on s.id = d.subscription_id
    where s.name = 'search' and d.event_key in (:same...)""")
ACTS = Statement("select subject_id, action, after_data from audit_log where subject_type = 'product' order by id")


@dataclass(slots=True)
class Item:
    """A product as whoever writes it knows it."""

    key: str
    brand: str
    word: str = WORDS[0]
    id: int = 0
    price: int = FIRST_PRICE
    etag: str = ""
    there: bool = True
    version: int = 0
    accepted: list[int] = field(default_factory=list)
    """The prices that were accepted, in their order."""
    delivered: list[tuple[float, int, int]] = field(default_factory=list)
    """When it was known that a version, with its price, had been delivered."""

    @property
    def event_key(self) -> str:
        return f"{MALL}:{self.key}"

    @property
    def name(self) -> str:
        return f"{self.word} {self.key}"

    def told(self, price: int, word: str) -> dict[str, Any]:
        """What a source says of it."""
        name = f"{word} {self.key}"
        return {"product_id": self.key, "name": name, "brand": self.brand, "price": price, "currency": "KRW"}

    def accept(self, price: int, word: str | None = None, *, there: bool = True) -> None:
        if price != self.price or not self.accepted:
            self.accepted.append(price)
        self.price, self.word, self.there = price, word or self.word, there
        self.version += 1

    def least(self, until: float) -> int:
        """The price below which nobody may see it who asks at that time."""
        return max((price for at, _, price in self.delivered if at <= until), default=0)

    def is_certain(self, until: float) -> bool:
        """Whether its present state must be seen by who asks at that time."""
        return any(at <= until and version == self.version for at, version, _ in self.delivered)


class Crowd:
    """Clients of one API, on a database in which they look only whether events wait. `notice`: seconds after which a
    cache that is not told of a change must have noticed it."""

    def __init__(self, session: aiohttp.ClientSession, db: Database, *, seed: int, notice: float) -> None:
        self._session = session
        self._db = db
        self._seed = seed
        self._notice = notice
        self.over = asyncio.Event()
        self.index_is_lost = False
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.items: dict[int, Item] = {}
        self.contested: list[Item] = []

    async def open(self) -> None:
        """Make the products that all want to change."""
        for number in range(CONTESTED):
            item = Item(f"SHARED{number:02}", "SHARED")
            await self._tell(item, item.word)
            self.contested.append(item)

    async def client(self, number: int) -> None:
        """Write and search until it is over."""
        chance = random.Random(self._seed * 1000 + number)
        told = [Item(f"C{number:02}N{place}", f"BRAND{number:02}") for place in range(OF_A_CLIENT - 1)]
        edited = Item(f"C{number:02}E", f"BRAND{number:02}")
        for item in (*told, edited):
            await self._tell(item, chance.choice(WORDS))
        while not self.over.is_set():
            match chance.randrange(OFTEN):
                case 0:
                    await self._tell(chance.choice(told), chance.choice(WORDS), twice=chance.random() < TWICE)
                case 1:
                    await self._bulk(told, chance.choice(WORDS))
                case 2:
                    await self._edit(edited, chance.choice(WORDS))
                case 3:
                    await self._haggle(chance.choice(self.contested))
                case 4:
                    await self._come_and_go(chance.choice(told))
                case 5:
                    await self._rest([*told, edited])
            await self._look(chance.choice(WORDS), [*told, edited])
            await self._look_around(chance.choice(WORDS))

    # --- writing ---

    async def _tell(self, item: Item, word: str, *, twice: bool = False) -> None:
        """As a source does, under a name of its own."""
        if not item.there:
            return
        new = not item.id
        price = item.price + (not new)
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        answers = [
            await self._call("POST", "/products", json=item.told(price, word), headers=headers)
            for _ in range(1 + twice)
        ]
        status, found, _ = answers[0]
        if status != (201 if new else 200) or any(one[:2] != (status, found) for one in answers):
            self._is_wrong(f"POST {item.key}: {answers}")
            return
        if twice and answers[1][2].get("Idempotency-Replayed") != "true":
            self._is_wrong(f"POST {item.key}: done twice")
        item.id, item.etag = found["id"], answers[0][2]["ETag"]
        self.items[item.id] = item
        item.accept(price, word)
        self.done["told"] += 1

    async def _bulk(self, items: Sequence[Item], word: str) -> None:
        told = [item for item in items if item.there]
        lines = "".join(json.dumps(item.told(item.price + 1, word)) + "\n" for item in told)
        headers = {"content-type": "application/x-ndjson"}
        async with self._session.post("/products/bulk", data=lines, headers=headers) as answer:
            found = [json.loads(line) for line in (await answer.text()).splitlines()]
        expected = [{"line": place, "id": item.id, "result": "changed"} for place, item in enumerate(told, start=1)]
        if found != expected:
            self._is_wrong(f"bulk of {lines}: {found}, written were {await self._written(told)}")
            return
        for item in told:
            item.accept(item.price + 1, word)
        self.done["told in bulk"] += len(told)

    async def _edit(self, item: Item, word: str) -> None:
        """By what it was when we wrote it last: nobody else does."""
        body = {"price": item.price + 1, "name": f"{word} {item.key}"}
        status, found, headers = await self._call(
            "PATCH", f"/products/{item.id}", json=body, headers={"If-Match": item.etag}
        )
        if status != 200:
            self._is_wrong(f"PATCH {item.key}: {status} {found}")
            return
        item.etag = headers["ETag"]
        item.accept(item.price + 1, word)
        self.done["edited"] += 1

    async def _haggle(self, item: Item) -> None:
        """Make a product dearer that others make dearer too: whoever comes second reads it again."""
        while not self.over.is_set():
            _, found, headers = await self._call("GET", f"/products/{item.id}")
            price = found["price"] + 1
            status, refused, _ = await self._call(
                "PATCH", f"/products/{item.id}", json={"price": price}, headers={"If-Match": headers["ETag"]}
            )
            if status == 200:
                item.accepted.append(price)
                if price > item.price:
                    item.price, item.version = price, item.version + 1
                self.done["haggled"] += 1
                return
            if (status, refused["code"]) != (412, "outdated"):
                self._is_wrong(f"PATCH {item.key}: {status} {refused}")
                return
            self.done["outdated"] += 1

    async def _come_and_go(self, item: Item) -> None:
        if item.there:
            status, found, _ = await self._call("DELETE", f"/products/{item.id}")
        else:
            status, found, _ = await self._call("POST", f"/products/{item.id}/restore")
        if status != (204 if item.there else 200):
            self._is_wrong(f"{item.key} was {item.there}: {status} {found}")
            return
        item.accept(item.price, there=not item.there)
        self.done["deleted or restored"] += 1

    # --- searching ---

    async def _look(self, word: str, mine: Sequence[Item]) -> None:
        """For products that only we change: just those that are called so are found, as they are."""
        await self._note_delivered(mine)
        since = time.monotonic() - self._notice
        certain = all(item.is_certain(since) for item in mine)
        found = await self._search(keyword=word, brand=mine[0].brand)
        if found is None or not certain:
            return
        expected = {item.id: item.price for item in mine if item.there and item.word == word}
        self.done[f"certain answers: {found['served']}"] += 1
        if _prices(found) != expected or found["total"] != len(expected):
            self._is_wrong(f"{found['served']}: {word} of {mine[0].brand} is {_prices(found)}, not {expected}")

    async def _rest(self, mine: Sequence[Item]) -> None:
        """Write nothing until it is certain what must be seen."""
        while not self.over.is_set() and not all(item.is_certain(time.monotonic() - self._notice) for item in mine):
            await self._look(mine[0].word, mine)

    async def _look_around(self, word: str) -> None:
        """For what everybody looks for."""
        await self._note_delivered(self.contested)
        await self._search(keyword=word, sort="price", limit="100")

    async def _search(self, **query: str) -> dict[str, Any] | None:
        """An answer in which nothing is older than it may be; None while there is no index."""
        since = time.monotonic() - self._notice
        least = {id: item.least(since) for id, item in self.items.items()}
        status, found, headers = await self._call("GET", "/search", params=query)
        if status == 503 and self.index_is_lost and found["code"] == "unavailable":
            self.done["no index"] += 1
            await asyncio.sleep(0.1)
            return None
        if status != 200:
            self._is_wrong(f"GET /search {query}: {status} {found}")
            return None
        served: str = headers["X-Cache"]
        self.done[f"searched: {served}"] += 1
        for id, price in _prices(found).items():
            if price < least.get(id, 0):
                self._is_wrong(f"{served}: product {id} is shown at {price}, though {least[id]} had been delivered")
        return {**found, "served": served}

    async def _note_delivered(self, items: Sequence[Item]) -> None:
        """Look which products have no event on its way: what was accepted of them before has been delivered."""
        before = [(item, item.version, item.price) for item in items]
        waiting = await self._waiting(items)
        for item, version, price in before:
            if item.event_key not in waiting and (not item.delivered or item.delivered[-1][1] != version):
                item.delivered = [*item.delivered[-10:], (time.monotonic(), version, price)]

    async def _waiting(self, items: Iterable[Item]) -> set[str]:
        keys = sorted({item.event_key for item in items})
        async with self._db.read() as tx:
            return {row["event_key"] for row in await tx.fetch(WAITING, keys=keys, same=keys)}

    # --- afterwards ---

    async def delivered(self) -> None:
        """Until no event waits any more."""
        async with asyncio.timeout(120):
            while await self._waiting(self.items.values()):  # noqa: ASYNC110  (what is waited for is in a database)
                await asyncio.sleep(0.05)

    async def lost_updates(self) -> list[str]:
        """What was accepted and is not in SQL, or not in its order."""
        written = await self._written(self.items.values())
        lost = []
        for id, item in self.items.items():
            accepted = sorted(item.accepted) if item in self.contested else item.accepted
            if written[id] != accepted:
                lost.append(f"{item.key}: accepted were {accepted}, written {written[id]}")
            status, found, _ = await self._call("GET", f"/products/{id}")
            expected = (200, item.price, item.name) if item.there else (404, None, None)
            if (status, found.get("price"), found.get("name")) != expected:
                lost.append(f"{item.key}: {expected} was accepted, {found} is there")
        return lost

    async def _written(self, items: Iterable[Item]) -> dict[int, list[int]]:
        """The prices that these were given, by the audit log, in their order."""
        prices: dict[int, list[int]] = {item.id: [] for item in items}
        async with self._db.read() as tx:
            for act in await tx.fetch(ACTS):
                after, id = json.loads(act["after_data"] or "{}"), int(act["subject_id"])
                if "price" in after and act["action"] != "product.restore" and id in prices:
                    prices[id].append(after["price"])
        return prices

    async def unlike_sql(self) -> list[str]:
        """Answers, made and kept, that do not say what was accepted last."""
        unlike = []
        for brand in sorted({item.brand for item in self.items.values()}):
            for word in WORDS:
                expected = {
                    item.id: item.price
                    for item in self.items.values()
                    if item.brand == brand and item.there and item.word == word
                }
                for _ in range(2):
                    _, found, headers = await self._call("GET", "/search", params={"keyword": word, "brand": brand})
                    if _prices(found) != expected:
                        unlike.append(f"{headers['X-Cache']}: {word} of {brand} is {_prices(found)}, not {expected}")
        return unlike

    async def _call(self, method: str, path: str, **request: Any) -> tuple[int, Any, Mapping[str, str]]:
        async with self._session.request(method, path, **request) as answer:
            body = await answer.read()
            return answer.status, json.loads(body) if body else {}, answer.headers

    def _is_wrong(self, what: str) -> None:
        self.wrong.append(what)


def _prices(found: Mapping[str, Any]) -> dict[int, int]:
    return {one["id"]: one["price"] for one in found["items"]}
