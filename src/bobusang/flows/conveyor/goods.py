"""Products on the belt: what is known of them now, loaded for a batch by the mall's own keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bobusang.catalog.products import COLUMNS
from bobusang.flows.collect.run import source_of
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.stages.convert.converting import read_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.engine.model import Task
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.convert.options import Sorted
    from bobusang.stages.convert.stamping import Named

KNOWN = Statement("""
    select p.*, d.normalized_data from products p
      join source_records r on r.id = p.id join source_data d on d.id = r.version_id
    where p.mall = :mall and p.product_id in (:keys...)""")
SEEN = Statement("""
    select record_id, max(last_seen_at) as value from source_seen where record_id in (:ids...) group by record_id""")

EDITED = {name: name for name in COLUMNS if name not in ("seller_id", "image", "in_stock", "listed")}
"""The columns that a person may have edited, by the field each stands for."""
REMEMBERED = 512
"""Documents that are kept as they were understood: each stage asks for a product again, within seconds of the last."""
USUAL = 32_000
"""Characters; longer ones, of which there are few, would fill the memory."""


class Told:
    """What a mall tells of a product. Several share it, so nobody changes it."""

    __slots__ = ("_options", "fields")

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self._options: Sorted | None = None

    @property
    def options(self) -> Sorted:
        """Its options, read when they are first asked for."""
        if self._options is None:
            self._options = read_options(self.fields)
        return self._options


@dataclass(frozen=True, slots=True)
class Known:
    """A product as it is known now; what a person has edited stands in place of what the mall says."""

    id: int
    mall: str
    key: str
    version: int
    told: Told
    changed_at: datetime
    named: Named = (None, None, None, "")

    @property
    def fields(self) -> Mapping[str, Any]:
        return self.told.fields

    @property
    def options(self) -> Sorted:
        return self.told.options

    @property
    def sku(self) -> str:
        """What people call it by, everywhere."""
        return sku_of(self.mall, self.key)

    @property
    def url(self) -> str:
        said = self.fields.get("url")
        return said if isinstance(said, str) else ""

    def is_whole(self, *, in_parts: bool) -> bool:
        """Whether all is known that converting needs. A mall may tell options, stock and pictures on pages of their
        own, and the first of them comes too early; where one page tells all, no options are no choice, and options
        say by themselves whether there are any."""
        told = isinstance(self.fields.get("sold_out"), bool), isinstance(self.fields.get("options"), list)
        return isinstance(self.fields.get("images"), list) and (all(told) if in_parts else any(told))

    @property
    def is_gone(self) -> bool:
        """Whether the mall has it no more: its page says so, or its whole list was seen without it."""
        return self.fields.get("gone") is True or self.fields.get("listed") is False


def sku_of(mall: str, key: str) -> str:
    """A product's name on all markets: the mall's own key, which is not unique among malls, behind the mall's."""
    return f"{mall}-{key}"


async def load(tx: Tx, mall: str, keys: Iterable[str]) -> dict[str, Known]:
    """By key, those that are known."""
    wanted = sorted(set(keys))
    rows = await tx.fetch(KNOWN, mall=mall, keys=wanted) if wanted else ()
    return {row["product_id"]: known(row) for row in rows}


async def of_tasks(tx: Tx, tasks: Iterable[Task]) -> dict[int, Known]:
    """By task, the product that each is about; one that is not known is not there."""
    keys: dict[str, list[Task]] = {}
    for task in tasks:
        keys.setdefault(source_of(task.run), []).append(task)
    found: dict[int, Known] = {}
    for mall, mine in keys.items():
        loaded = await load(tx, mall, [task.input["key"] for task in mine])
        found |= {task.id: loaded[task.input["key"]] for task in mine if task.input["key"] in loaded}
    return found


async def seen(tx: Tx, ids: Sequence[int]) -> dict[int, datetime]:
    """When a page last showed each of them."""
    rows = await tx.fetch(SEEN, ids=sorted(set(ids))) if ids else ()
    return {row["record_id"]: utc(row["value"]) for row in rows}


def known(row: Row) -> Known:
    """A product as its row tells it."""
    document: str = row["normalized_data"]
    told = _told(document) if len(document) <= USUAL else Told(json.loads(document))
    if row["locked"]:
        edited = {EDITED[name]: row[name] for name in json.loads(row["locked"]) if name in EDITED}
        told = Told({**told.fields, **edited})
    return Known(row["id"], row["mall"], row["product_id"], row["version"], told, utc(row["updated_at"]), named_of(row))


@lru_cache(maxsize=REMEMBERED)
def _told(document: str) -> Told:
    return Told(json.loads(document))


def named_of(row: Row) -> Named:
    """What a product's stamp is of. An edit makes no version, so its time stands for what was edited."""
    edited = f"{row['locked']} {row['updated_at']}" if row["locked"] else ""
    return row["brand"], row["brand_ko"], row["category"], edited
