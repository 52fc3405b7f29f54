"""Products made or changed by (mall, product id) or by address, many at once, with history like collected ones.

What is told here speaks as a source does, in a stream of its own: the crawler's next news may change it, and what a
person has locked stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.catalog import records
from bobusang.catalog.model import ChangeKind, Reading, Snapshot
from bobusang.catalog.rules import digest
from bobusang.catalog.tables.records import READER_LENGTH
from bobusang.flows.catalogue.telling import Told, tell
from bobusang.kit.errors import BobusangError, Conflict, Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from bobusang.catalog.model import Change
    from bobusang.kit.db import Tx

HAND = "manual"
"""The mall of what no mall sells: made by hand, or by a program."""
STREAM = "api"
CURRENCY = "KRW"

BY_URL = Statement("select id, mall, product_id, url from products where url in (:urls...)")
REMOVED = Statement("""
    select r.source_system as mall, r.source_id as product_id, g.url from removed_products g
      join source_records r on r.id = g.id where g.url in (:urls...)""")
KNOWN = Statement("""
    select r.id, r.source_id, p.id as product from source_records r left join products p on p.id = r.id
    where r.source_type = 'supplier_product' and r.source_system = :mall and r.source_id in (:keys...)""")

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A product as it is told: by its mall's id, or by its address alone; `fields` as a page would say them."""

    fields: Mapping[str, Any]
    mall: str | None = None
    product_id: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one: its number and whether it is new, changed or the same, or why not."""

    id: int = 0
    kind: ChangeKind = ChangeKind.SAME
    error: BobusangError | None = None


async def upsert(
    tx: Tx, wanted: Sequence[Wanted], actor: str, groups: Callable[[str], Mapping[str, str]] = lambda _: {}
) -> list[Outcome]:
    """Make or change these, in their order; one that cannot be is told so and keeps no other from it."""
    keys = await _keys(tx, wanted)
    known = await _known(tx, [key for key in keys if not isinstance(key, BobusangError)])
    outcomes: list[Outcome] = [Outcome()] * len(wanted)
    by_mall: dict[str, list[tuple[int, Reading]]] = {}
    for place, (one, key) in enumerate(zip(wanted, keys, strict=True)):
        refused = key if isinstance(key, BobusangError) else _refused(key, known)
        if refused is not None:
            outcomes[place] = Outcome(error=refused)
        else:
            assert isinstance(key, tuple)
            by_mall.setdefault(key[0], []).append((place, _reading(one, key, actor, new=key not in known)))
    for mall, told in sorted(by_mall.items()):
        readings = [reading for _, reading in told]
        changes = await records.compare(tx, readings, groups=groups(mall), anew=True)
        written = await records.write(tx, changes, run=0, now=tx.now, groups=groups(mall), sighted=False)
        for (place, _), change, id in zip(told, changes, written.ids, strict=True):
            outcomes[place] = Outcome(id, change.kind)
        await tell(tx, actor, [_told(*pair) for pair in zip(changes, written.ids, strict=True) if _is_news(pair[0])])
    return outcomes


async def _keys(tx: Tx, wanted: Sequence[Wanted]) -> list[Key | BobusangError]:
    """Which product each means, one that was deleted where no other has the address; an address that nobody has makes a
    key of its own, the same whoever tells it."""
    urls = {str(one.fields["url"]) for one in wanted if one.product_id is None and one.fields.get("url")}
    found = await _by_url(tx, BY_URL, urls)
    found |= await _by_url(tx, REMOVED, urls - found.keys())
    return [_key(one, found) for one in wanted]


async def _by_url(tx: Tx, ask: Statement, urls: Set[str]) -> dict[str, list[Key]]:
    found: dict[str, list[Key]] = {}
    for row in await tx.fetch(ask, urls=sorted(urls)) if urls else ():
        found.setdefault(row["url"], []).append((row["mall"], row["product_id"]))  # MariaDB also finds other capitals
    return found


def _key(one: Wanted, by_url: Mapping[str, Sequence[Key]]) -> Key | BobusangError:
    if one.product_id is not None:
        return one.mall or HAND, one.product_id
    url = one.fields.get("url")
    if not url:
        return Invalid("product_id: is required", hint="or an url, by which it is found again", field="product_id")
    mine = [key for key in by_url.get(url, ()) if one.mall in (None, key[0])]
    if len(mine) > 1:
        names = " and ".join(f"{mall}/{id}" for mall, id in sorted(mine)[:2])
        return Conflict(f"{names} have this url", hint="say which by mall and product_id", field="url")
    return mine[0] if mine else (one.mall or HAND, f"url-{digest(url)}")


async def _known(tx: Tx, keys: Sequence[Key]) -> dict[Key, tuple[int, bool]]:
    """The records of those that are known, and whether each still has its product."""
    by_mall: dict[str, set[str]] = {}
    for mall, key in keys:
        by_mall.setdefault(mall, set()).add(key)
    return {
        (mall, row["source_id"]): (row["id"], row["product"] is not None)
        for mall, named in sorted(by_mall.items())
        for row in await tx.fetch(KNOWN, mall=mall, keys=sorted(named))
    }


def _refused(key: Key, known: Mapping[Key, tuple[int, bool]]) -> Conflict | None:
    id, is_there = known.get(key, (0, True))
    if is_there:
        return None
    hint = f"POST /products/{id}/restore brings it back"
    return Conflict(f"product {id} ({key[0]}/{key[1]}) was deleted", hint=hint, field="product_id")


def _reading(one: Wanted, key: Key, actor: str, *, new: bool) -> Reading:
    fields = dict(one.fields)
    if new and fields.get("price") is not None:
        fields.setdefault("currency", CURRENCY)
    return Reading(Snapshot(*key, fields), STREAM, f"api by {actor}"[:READER_LENGTH])


def _is_news(change: Change) -> bool:
    return change.kind is not ChangeKind.SAME


def _told(change: Change, id: int) -> Told:
    snapshot = change.reading.snapshot
    if change.kind is ChangeKind.NEW:
        return Told(id, snapshot.source, snapshot.key, "product.add", None, dict(change.after))
    before, after = ({one.field: getattr(one, side) for one in change.fields} for side in ("old", "new"))
    return Told(id, snapshot.source, snapshot.key, "product.change", before, after)
