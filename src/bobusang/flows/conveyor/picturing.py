"""The handler `conveyor.image`: a product's pictures are fetched, checked and put in order before it is priced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.tables.images import Rights
from bobusang.engine.outcome import Done, Fail, Outcome, Retry, Skip
from bobusang.flows.collect.asks import pools_of
from bobusang.flows.collect.waiting import put_off
from bobusang.flows.conveyor import goods
from bobusang.flows.conveyor.door import ENDPOINT
from bobusang.flows.conveyor.model import Stage
from bobusang.flows.conveyor.onward import carried
from bobusang.kit.errors import Throttled, Verdict
from bobusang.kit.sql import Statement
from bobusang.stages.collect import decisions
from bobusang.stages.image.model import Wanted
from bobusang.stages.register import accounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.engine.model import Task
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.flows.conveyor.goods import Known
    from bobusang.stages.image.model import Pictured, Worked

PUBLISHED = Statement("""
    select product_id, market_id from listings
    where account_id in (:accounts...) and product_id in (:ids...) and retired = 0""")


class Picturing:
    """The handler, for one process. What it finds is saved at once: it is the same whoever finds it, and a product
    that has to be tried again must not fetch its good pictures twice."""

    def __init__(self, belt: Belt) -> None:
        self._belt = belt

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Fetch what is not there yet, and put it in order."""
        async with self._belt.db.read() as tx:
            known = await goods.of_tasks(tx, batch)
        found = await self._pictured(list(known.values()))
        now = self._belt.db.clock.now()
        return [became(task, known.get(task.id), found, now) for task in batch]

    async def _pictured(self, known: Sequence[Known]) -> dict[int, Pictured]:
        service = self._belt.picturing
        async with self._belt.db.read() as tx:
            sellers = [one.id for one in await accounts.every(tx)]
            rows = await tx.fetch(PUBLISHED, accounts=sellers, ids=sorted({one.id for one in known}))
            published = {row["product_id"] for row in rows if row["market_id"] is not None}
            rights = await decisions.rights(tx, sorted({one.mall for one in known}))
            wanted = {one.id: _wanted(one, rights, is_published=one.id in published) for one in known}
            plan = await service.plan(tx, list(wanted.values()), self._belt.recipe)
        worked: Worked = await service.work(plan)
        saved = await self._belt.db.transact(lambda tx: service.save(tx, worked))
        return {one.product_id: one for one in saved.pictured}


def became(task: Task, known: Known | None, found: Mapping[int, Pictured], now: datetime) -> Outcome:
    """What a task does after the pictures of its product were fetched. Pure."""
    if known is None or known.id not in found:
        return Skip("the product is not known any more")
    pictured = found[known.id]
    trouble = pictured.trouble
    if isinstance(trouble, Throttled):  # only now is it known that it asks the mall, so only now it has pools
        return put_off(trouble.until, now, trouble.message, pool=pools_of(known.mall, ENDPOINT))
    may_come = trouble is not None and trouble.verdict is Verdict.RETRY
    if may_come and task.attempt < task.step.max_retries:
        return Retry(str(trouble))
    price = carried(task.run, Stage.PRICE, known.key, known.version)
    ready = sum(image.is_ready for image in pictured.images)
    if ready and pictured.lacks_cover:  # a market would keep the second one as the cover for as long as it is listed
        return Fail(f"its cover cannot be had: {pictured.lacks_cover}")
    if not ready:
        reasons = "; ".join(dict.fromkeys(image.reason for image in pictured.images if image.reason))
        words = f"it has no picture that may be shown: {reasons or 'the mall shows none'}"
        if may_come:
            return Fail(f"its pictures cannot be had: {trouble}")
        return Skip(words, price if pictured.published else ())  # what is listed must not be sold when it is out
    return Done(output={"pictures": ready}, spawn=price)


def _wanted(known: Known, rights: Mapping[str, Rights], *, is_published: bool) -> Wanted:
    said = known.fields.get("images")
    urls = tuple(url for url in map(_address, said if isinstance(said, list) else ()) if url)
    by_right = rights.get(known.mall, Rights.UNKNOWN)
    return Wanted(known.id, known.mall, urls, is_published, known.url, by_right)


def _address(said: object) -> str:
    if isinstance(said, dict):
        said = said.get("url")
    return said if isinstance(said, str) else ""
