"""Which brands a batch runs: the accepted ones of malls that may be collected, or those among them that are named; and,
in PARTIAL, those that are blocked by now but still on sale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import brands as catalog
from bobusang.catalog.model import Review
from bobusang.flows.collect.starting import ready
from bobusang.flows.conveyor.model import Brand, Mode
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.nearest import did_you_mean
from bobusang.kit.sql import Statement
from bobusang.stages.collect import decisions
from bobusang.stages.register import accounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.catalog.brands import MallBrand
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

MOST_BRANDS = 10_000
# By what is live, which is far less than a mall has: a brand's own products have no index by their Korean name.
ON_SALE = Statement("""
    select distinct p.mall, p.brand, p.brand_ko from listings l join products p on p.id = l.product_id
    where l.account_id in (:accounts...) and l.state = 'LIVE' and l.retired = 0 and p.mall in (:malls...)""")


async def chosen(
    tx: Tx, collector: Collector, malls: Sequence[str] = (), names: Sequence[str] = (), *, mode: Mode = Mode.FULL
) -> list[Brand]:
    """The brands to run: all accepted ones of these malls, or of every mall that is enabled; or those that are named,
    by the mall's key or by a name of theirs. PARTIAL has those besides that are not accepted any more and still on
    sale: whoever blocks a brand does not want its price and stock to go wrong.

    Raises Conflict for a mall that is off and where nothing is accepted, Missing for a name that nobody knows.
    """
    for mall in malls:
        await ready(tx, collector, mall)
    where = list(dict.fromkeys(malls)) or await enabled(tx, collector)
    if not where:
        raise Conflict("no mall is enabled", hint='`bobusang source enable NAME --why "…"` says why one may be')
    still = await on_sale(tx, where) if mode is Mode.PARTIAL else []
    if names:
        return await _named(tx, where, names, still)
    found = [*await accepted(tx, where), *still]
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


async def on_sale(tx: Tx, malls: Sequence[str]) -> list[Brand]:
    """The brands of these malls that are not accepted, and of which something is live."""
    sellers = [one.id for one in await accounts.every(tx)]
    if not sellers or not malls:
        return []
    rows = await tx.fetch(ON_SALE, accounts=sellers, malls=list(malls))
    english = {(row["mall"], row["brand"]) for row in rows if row["brand"]}
    korean = {(row["mall"], row["brand_ko"]) for row in rows if row["brand_ko"]}
    if not rows:
        return []
    known = [one for mall in malls for one in await catalog.listed(tx, mall, limit=MOST_BRANDS)]
    return [
        Brand(one.mall, one.key)
        for one in known
        if one.review is not Review.ACCEPTED
        and ((one.mall, one.name_en) in english or (one.mall, one.name_ko) in korean)
    ]


async def _named(tx: Tx, malls: Sequence[str], names: Sequence[str], still: Sequence[Brand]) -> list[Brand]:
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
        good = [one for one in same if one.review is Review.ACCEPTED or Brand(one.mall, one.key) in still]
        if not good:
            one = same[0]
            raise Conflict(
                f"brand '{one.key}' of {one.mall} is {one.review.value}, not accepted",
                hint=f"`bobusang brand accept {one.id}`",
            )
        found |= dict.fromkeys(Brand(one.mall, one.key) for one in good)
    return list(found)
