"""Numbers for rows that must be known before they are inserted, taken from the database in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.sql import Dialect, Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

BLOCK = 1000
"""The increment of the sequences; a process that ends wastes at most one block."""


def sequence(tx: Tx, name: str) -> Ids:
    """The ids of a sequence, from the blocks that the database of this transaction has handed to this process."""
    found = tx.sequences.get(name)
    if found is None:
        found = tx.sequences[name] = Ids(name)
    return found


class Ids:
    """Ids of one sequence (`<name>_ids`, or on SQLite a row of `id_blocks`): unique over all processes, mostly
    rising."""

    def __init__(self, name: str) -> None:
        self._free: list[int] = []
        self._name = name
        self._next = Statement(
            sqlite="update id_blocks set next = next + :span where name = :name returning next - :span as value",
            postgres=f"select nextval('{name}_ids') as value from generate_series(1, :blocks)",
            mariadb=f"select next value for {name}_ids as value",
        )

    async def take(self, tx: Tx, count: int) -> list[int]:
        """That many fresh ids, in rising order."""
        while len(self._free) < count:
            await self._fetch(tx, count - len(self._free))
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def _forget(self) -> None:
        self._free = []

    async def _fetch(self, tx: Tx, missing: int) -> None:
        blocks = -(-missing // BLOCK)
        if tx.dialect is Dialect.SQLITE:
            # Here the block is given back by a rollback, so what is left of it must be forgotten with it.
            tx.after_rollback(self._forget)
            start = await tx.value(self._next, span=blocks * BLOCK, name=self._name)
            self._free.extend(range(start, start + blocks * BLOCK))
        elif tx.dialect is Dialect.POSTGRES:
            for row in await tx.fetch(self._next, blocks=blocks):
                self._free.extend(range(row["value"], row["value"] + BLOCK))
        else:
            start = await tx.value(self._next)
            self._free.extend(range(start, start + BLOCK))
