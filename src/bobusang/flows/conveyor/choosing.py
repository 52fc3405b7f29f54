"""Which brands a batch runs: the accepted ones of malls that may be collected, or those among them that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import brands as catalog
from bobusang.catalog.model import Review
from bobusang.flows.collect.starting import ready
from bobusang.flows.conveyor.model import Brand
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect import decisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.catalog.brands import MallBrand
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

MOST_BRANDS = 10_000


async def chosen(tx: Tx, collector: Collector, malls: Sequence[str] = (), names: Sequence[str] = ()) -> list[Brand]:
    """The brands to run: all accepted ones of these malls, or of every mall that is enabled; or those that are named,
    by the mall's key or by a name of theirs.

    Raises Conflict for a mall that is off and where nothing is accepted, Missing for a name that nobody knows.
    """
    for mall in malls:
        await ready(tx, collector, mall)
    where = list(dict.fromkeys(malls)) or await enabled(tx, collector)
    if not where:
        raise Conflict("no mall is enabled", hint='`bobusang source enable NAME --why "…"` says why one may be')
    if names:
        return await _named(tx, where, names)
    found = await accepted(tx, where)
    if not found:
        raise Conflict(
            f"no brand of {', '.join(malls) or 'a mall that is enabled'} is accepted",
            hint="`bobusang brand collect MALL`, then `bobusang brand accept`",
        )
    return found


async def enabled(tx: Tx, collector: Collector) -> list[str]:
    """The malls that may be collected, by name."""
    decided = [one.source for one in await decisions.all_decided(tx) if one.enabled]
    return [name for name in decided if name in collector.sources and collector.source(name).policy.trusted]


async def accepted(tx: Tx, malls: Iterable[str]) -> list[Brand]:
    """The brands of these malls that a person has accepted."""
    found = [one for mall in malls for one in await catalog.listed(tx, mall, review=Review.ACCEPTED, limit=MOST_BRANDS)]
    return [Brand(one.mall, one.key) for one in found]


async def _named(tx: Tx, malls: Sequence[str], names: Sequence[str]) -> list[Brand]:
    known = [one for mall in malls for one in await catalog.listed(tx, mall, limit=MOST_BRANDS)]
    by_name: dict[str, list[MallBrand]] = {}
    for one in known:
        for name in {word.casefold() for word in (one.key, one.name_ko, one.name_en) if word}:
            by_name.setdefault(name, []).append(one)
    found: dict[Brand, None] = {}
    for name in names:
        same = by_name.get(name.casefold(), [])
        if not same:
            hint = did_you_mean(name, {one.key for one in known}) or "`bobusang brand collect MALL` learns them"
            raise Missing(f"{', '.join(malls)}: there is no brand '{name}'", hint=hint, field="brands")
        good = [one for one in same if one.review is Review.ACCEPTED]
        if not good:
            one = same[0]
            raise Conflict(
                f"brand '{one.key}' of {one.mall} is {one.review.value}, not accepted",
                hint=f"`bobusang brand accept {one.id}`",
            )
        found |= dict.fromkeys(Brand(one.mall, one.key) for one in good)
    return list(found)
