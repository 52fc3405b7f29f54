"""Searching a market for other offers of a model: through the gate and into the raw archive, as any source is asked."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.money import Money
from bobusang.stages.collect import counts
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.collect.fetcher import absolute
from bobusang.stages.collect.model import Fetched
from bobusang.stages.collect.policy import Reaction
from bobusang.stages.collect.source import Snapshot, Target
from bobusang.stages.price.model import Offer
from bobusang.stages.price.watch import Searched

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.fetcher import Visit
    from bobusang.stages.collect.source import Ask, Source

PATIENCE = timedelta(seconds=5)
"""How long a search waits for its turn where the gate only keeps the pace."""


async def search(
    collector: Collector, market: str, models: Iterable[str], *, patience: timedelta = PATIENCE
) -> list[Searched]:
    """What a market's search shows of each model. `offers` is None where the search failed, () where nobody offers it.

    A model whose turn does not come within the patience is left out: it was not searched, and is still due.
    """
    source = collector.source(market)
    wanted = [(model, _ask(source, model)) for model in dict.fromkeys(models)]
    until = collector.db.clock.now() + patience
    found: list[Searched] = []
    while wanted:
        # The gate counts calls, not how many are open at once.
        part, wanted = wanted[: source.policy.limits.concurrency], wanted[source.policy.limits.concurrency :]
        visits = await collector.fetcher.visit(source, [ask for _, ask in part])
        pairs = list(zip(part, visits, strict=True))
        await _keep(collector, source, [visit for _, visit in pairs])
        found += [Searched(model, _offers(visit)) for (model, _), visit in pairs if not _must_wait(visit)]
        late = [asked for asked, visit in pairs if _must_wait(visit)]
        waits = [visit.wait.until for visit in visits if visit.wait is not None and _must_wait(visit)]
        if waits and min(waits) > until:
            break
        if waits:
            await asyncio.sleep(max(0.0, (min(waits) - collector.db.clock.now()).total_seconds()))
        wanted = [*late, *wanted]
    return found


def _ask(source: Source, model: str) -> Ask:
    return next(iter(source.seeds(Target("model", model))))


def _must_wait(visit: Visit) -> bool:
    """Whether only the pace keeps it back; whoever is off, halted or broken has failed."""
    return visit.wait is not None and visit.wait.cause.is_ordinary


def _is_read(visit: Visit) -> bool:
    return visit.verdict is not None and visit.verdict.reaction is Reaction.READ and not visit.drifted


def _offers(visit: Visit) -> tuple[Offer, ...] | None:
    if not _is_read(visit):
        return None
    return offered([one for one in visit.found if isinstance(one, Snapshot)])


def offered(shown: Sequence[Snapshot]) -> tuple[Offer, ...] | None:
    """The offers of a page. One whose price cannot be read has none: it is not compared, and is somebody all the same.
    Where no price can be read the page cannot: nobody may take it for an empty one. Pure."""
    known = [str(one.fields["currency"]) for one in shown if one.fields.get("price") is not None]
    if shown and not known:
        return None
    return tuple(_offer(one.key, one.fields, known[0]) for one in shown)


def _offer(id: str, fields: Mapping[str, Any], usual: str) -> Offer:
    shipping, currency = fields.get("shipping"), str(fields.get("currency") or usual)
    return Offer(
        Money(fields.get("price") or 0, currency),
        None if shipping is None else Money(shipping, currency),
        str(fields.get("seller") or ""),
        bool(fields.get("used")),
        title=str(fields.get("title") or ""),
        id=id,
    )


async def _keep(collector: Collector, source: Source, visits: Sequence[Visit]) -> None:
    """Index the raw pages and count what came, so that a price can be traced to what its rival's page said."""
    made = [visit for visit in visits if visit.verdict is not None]
    if not made:
        return
    kept = [(_fetched(source, visit), _is_read(visit)) for visit in made if visit.answer is not None and visit.sha256]

    async def work(tx: Tx) -> None:
        for good in (True, False):
            pages = [page for page, is_read in kept if is_read is good]
            if pages:
                await collector.service.archive.index(tx, pages, good=good)
        total = sum((_counted(visit) for visit in made), Counts())
        await counts.add(tx, [(Place(source.name, "", made[0].ask.endpoint), total)], zone=source.policy.window.zone)

    await collector.db.transact(work)


def _counted(visit: Visit) -> Counts:
    size = len(visit.answer.body) if visit.answer is not None else 0
    if not _is_read(visit):
        return Counts(failure=1, bytes=size)
    return Counts(success=1, items=sum(isinstance(one, Snapshot) for one in visit.found), bytes=size)


def _fetched(source: Source, visit: Visit) -> Fetched:
    assert visit.answer is not None
    assert visit.at is not None
    return Fetched(
        source=source.name,
        target=str(visit.ask.given.get("target", "")),
        ask=visit.ask,
        found=(),
        reader=source.version,
        sha256=visit.sha256,
        url=absolute(source, visit.ask.url),
        fetched_at=visit.at,
        status=visit.answer.status,
        headers=visit.answer.headers,
        media=visit.media,
        size=len(visit.answer.body),
    )
