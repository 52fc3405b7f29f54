"""What pages say of items, as readings with their evidence, in batches that are weighed and written together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from bobusang.catalog.model import Reading, Snapshot
from bobusang.stages.collect.guards import believable
from bobusang.stages.collect.source import Extent, Kind
from bobusang.stages.collect.weighing import Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bobusang.catalog.model import SourceType
    from bobusang.stages.collect.model import Fetched, Run
    from bobusang.stages.collect.runs import Tally


@dataclass(slots=True)
class Batch:
    """Readings of one run by one kind of page."""

    source: str
    job_id: int
    kind: Kind
    gone: bool
    """Their pages say that the items are no more: they change the truth, and nothing was seen."""
    sightings: list[Sighting] = field(default_factory=list)


def batches(
    fetched: Sequence[Fetched],
    raw_ids: Sequence[int],
    tallies: Mapping[int, Tally],
    types: Mapping[str, SourceType],
) -> list[Batch]:
    """The readings of pages, in the order of the pages within each batch."""
    found: dict[tuple[str, int, Kind, bool], Batch] = {}
    for page, raw_id in zip(fetched, raw_ids, strict=True):
        for gone, one in _sightings(page, raw_id, tallies[page.job_id], types[page.source]):
            key = page.source, page.job_id, page.ask.kind, gone
            batch = found.get(key)
            if batch is None:
                batch = found[key] = Batch(*key)
            batch.sightings.append(one)
    return list(found.values())


def readings(page: Fetched, run: Run, raw_id: int | None = None) -> Iterator[Reading]:
    """What a page says of items, with where it comes from."""
    stream = page.ask.endpoint
    scope = run.scope if page.ask.kind is Kind.LIST else stream
    for one in page.found:
        if isinstance(one, Snapshot):
            yield Reading(believable(one), stream, page.reader, raw_id, scope)


def _sightings(page: Fetched, raw_id: int, tally: Tally, type: SourceType) -> Iterator[tuple[bool, Sighting]]:
    named = set()
    for reading in readings(page, tally.run, raw_id):
        named.add(reading.snapshot.key)
        if is_gone(reading.snapshot):
            yield True, Sighting(tally, _closed(reading), bare=True, gone=True)
        else:
            tally.read(reading.snapshot)
            yield False, Sighting(tally, reading)
    for one in page.found:
        if isinstance(one, Extent):
            for key in one.keys:
                if key not in named:
                    named.add(key)
                    yield False, Sighting(tally, _named(page, key, raw_id, tally.run, type), bare=True)


def is_gone(snapshot: Snapshot) -> bool:
    """Whether a page says in so many words that the item is no more."""
    return snapshot.fields.get("gone") is True


def _closed(reading: Reading) -> Reading:
    """An item that is no more is not listed either: explicit evidence, which needs no second run (but see guards)."""
    fields = {**reading.snapshot.fields, "listed": False}
    return msgspec.structs.replace(reading, snapshot=msgspec.structs.replace(reading.snapshot, fields=fields))


def _named(page: Fetched, key: str, raw_id: int, run: Run, type: SourceType) -> Reading:
    """A list that only names an item says that it is there, and no more."""
    return Reading(Snapshot(page.source, key, {}, type=type), page.ask.endpoint, page.reader, raw_id, run.scope)
