"""Where the crawlers put what they read: the catalog's own `products` table, in batches, every commit on the disk."""

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime

Item = tuple[int, str, str, int, int | None, str, str]
"""key, brand, name, price, list_price, image, url: what every contender reads of a box."""

BATCH = 500
MALL = "okmall"
PRAGMAS = ("journal_mode = wal", "synchronous = full", "temp_store = memory", "wal_autocheckpoint = 4000")
INSERT = """
    insert into products (id, mall, product_id, brand, name, price, list_price, image, url, currency, version,
      created_at, updated_at)
    values (?1, ?8, cast(?1 as text), ?2, ?3, ?4, ?5, ?6, ?7, 'KRW', 1, ?9, ?9)
    on conflict (id) do update set brand = excluded.brand, name = excluded.name, price = excluded.price,
      list_price = excluded.list_price, image = excluded.image, url = excluded.url, updated_at = excluded.updated_at"""


class Shelf:
    """Holds items back until there are enough for one transaction, as a careful pipeline does."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in PRAGMAS:
            self._connection.execute(f"pragma {pragma}")
        self._waiting: list[Item] = []
        self.items = 0

    def add(self, item: Item) -> None:
        """One more."""
        self._waiting.append(item)
        if len(self._waiting) >= BATCH:
            self.flush()

    def extend(self, items: Iterable[Item]) -> None:
        """A whole page."""
        self._waiting.extend(items)
        if len(self._waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what waits, in one transaction."""
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
        self._connection.execute("begin immediate")
        self._connection.executemany(INSERT, [(*item, MALL, now) for item in self._waiting])
        self._connection.execute("commit")
        self.items += len(self._waiting)
        self._waiting.clear()

    def close(self) -> None:
        """Write the rest."""
        if self._waiting:
            self.flush()
        self._connection.close()
