"""The handlers `conveyor.plan` and `conveyor.sift`: where a brand begins, and what each of its products needs now.

A product whose mark still holds (its version, the rates, its rivals, its end date) needs nothing: most of a PARTIAL run
ends here, eighty products in one statement.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from bobusang.engine.outcome import Done, Outcome
from bobusang.flows.collect.run import mode_of, source_of, target_of
from bobusang.flows.collect.steps import Steps
from bobusang.flows.conveyor import marks
from bobusang.flows.conveyor.goods import named_of
from bobusang.flows.conveyor.model import Stage
from bobusang.flows.conveyor.onward import carried, follows, sifted, stages_of
from bobusang.kit.sql import Statement
from bobusang.stages.collect import runs
from bobusang.stages.collect.model import Run as CollectRun
from bobusang.stages.collect.model import RunMode
from bobusang.stages.convert.converting import VERSION
from bobusang.stages.register import accounts
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from bobusang.engine.model import NewTask, Run, Task
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.source import Source, Target
    from bobusang.stages.convert.stamping import Stamps
    from bobusang.stages.register.model import Account

CHUNK = 100
_DUE = """
    m.product_id is null or m.version <> p.version or m.stamp not in (:stamps...) or m.due_at <= :now
      or r.due_at <= :now or r.checked_at > m.marked_at"""
_MARKED = """
    left join conveyor_marks m on m.product_id = p.id and m.market = :market
    left join competitor_prices r on r.market = m.market and r.model = m.model"""
# What is on the market, or once was: nothing else is touched by PARTIAL. No order: for its sake SQLite would walk all
# products of the mall.
LISTED = Statement(f"""
    select p.product_id, p.version, p.in_stock, p.listed from products p {_MARKED}
    where p.mall = :mall and p.product_id in (:keys...) and ({_DUE})
      and exists (select 1 from listings l
        where l.account_id in (:accounts...) and l.product_id = p.id and l.retired = 0 and l.market_id is not null
          and coalesce(l.state, '') in (:states...))""")
EVERY = Statement(f"""
    select p.product_id, p.version, p.in_stock, p.listed, p.brand, p.brand_ko, p.category, p.locked, p.updated_at,
      c.state, c.source_version, c.converter_version, c.stamp,
      case when {_DUE} then 1 else 0 end as due,
      case when exists (select 1 from image_revisits v where v.product_id = p.id) then 1 else 0 end as revisit
    from products p {_MARKED} left join conversions c on c.product_id = p.id and c.market = :market
    where p.mall = :mall and p.product_id in (:keys...)""")
_OF_BRAND = """
    select p.id, p.product_id from mall_brands b join products p on p.mall = b.mall_name and p.{} = b.mall_brand_name_{}
    where b.mall_name = :mall and b.mall_brand_no = :brand"""
# What its list no longer shows and the market may still: without a mark nobody knows that it was told, and a mark says
# nothing of an account that was switched off then.
_UNTOLD = """
      and p.listed = :no and exists (select 1 from listings l
        where l.account_id in (:accounts...) and l.product_id = p.id and l.retired = 0 and l.market_id is not null
          and (l.state = 'LIVE' or not exists (select 1 from conveyor_marks m
            where m.product_id = p.id and m.market = :market and m.version = p.version)))"""


def _of_brand(narrowed: str = "") -> Statement:
    """The products of a brand by either of its names. Not `or`: for its sake all products of the mall would be read."""
    either = (_OF_BRAND.format(*names) + narrowed for names in (("brand", "en"), ("brand_ko", "ko")))
    return Statement(" union ".join(either) + " order by 1")


ABSENT = _of_brand(_UNTOLD)
OF_BRAND = _of_brand()


class Sifting:
    """Both handlers, for one process."""

    def __init__(self, belt: Belt) -> None:
        self._belt = belt
        self._collecting = Steps(belt.collector)

    async def plan(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Begin a brand: its first pages, and what its list will not show; without COLLECT all that is known of it."""
        return [await self._planned(task) for task in batch]

    async def _planned(self, task: Task) -> Outcome:
        run, collects = task.run, follows(task.run, Stage.COLLECT)
        if not collects and not _is_listed(self._belt.collector.sources.get(source_of(run)), target_of(run)):
            begun: Outcome = await self._opened(task)
        else:
            [begun] = await self._collecting.plan([task])
        if not isinstance(begun, Done):
            return begun
        async with self._belt.db.read() as tx:
            named = {"mall": source_of(run), "brand": str(run.target.get("key", ""))}
            if collects:
                selling = [one.id for one in await _accounts(tx, self._belt.market) if one.enabled]
                rows = await tx.fetch(ABSENT, **named, market=self._belt.market, no=False, accounts=selling)
            else:
                rows = await tx.fetch(OF_BRAND, **named)
        keys = [row["product_id"] for row in rows]
        keys = keys[: run.input["limit"]] if run.input.get("limit") else keys
        known = [
            one
            for start in range(0, len(keys), CHUNK)
            for one in sifted(keys[start : start + CHUNK], f"known:{start // CHUNK}")
        ]
        asks = begun.spawn or ()
        return Done(output=begun.output, spawn=(*(asks if collects else ()), *known))

    async def _opened(self, task: Task) -> Done:
        """The run of a brand that its source is never asked for: what a supplier sends by itself."""
        run = task.run

        async def work(tx: Tx) -> None:
            begun = CollectRun(task.job_id, source_of(run), target_of(run).name, mode_of(run), 0, tx.now)
            await runs.opened(tx, begun)

        await self._belt.db.transact(work)
        return Done(output={"asks": 0})

    async def sift(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Of each page's products, those that need something, on their way to the first stage that they need."""
        groups: dict[tuple[str, bool, bool], list[Task]] = defaultdict(list)
        for task in batch:
            partial = mode_of(task.run) is RunMode.PARTIAL
            groups[source_of(task.run), partial, bool(task.run.input.get("live_only"))].append(task)
        found: dict[int, Outcome] = {}
        async with self._belt.db.read() as tx:
            stamp = await marks.stamp(tx, self._belt.market, self._belt.today(tx.now))
            for (mall, partial, live_only), tasks in groups.items():
                keys = sorted({key for task in tasks for key in task.input["keys"]})
                rows = await sought(tx, self._belt.market, mall, keys, stamp, partial=partial, live_only=live_only)
                stamps = None if partial else await stamps_of(tx, self._belt, mall)
                for task in tasks:
                    mine = [rows[key] for key in task.input["keys"] if key in rows]
                    spawn = [one for row in mine for one in self._next(task.run, row, stamps)]
                    found[task.id] = Done(output={"of": len(task.input["keys"]), "due": len(spawn)}, spawn=tuple(spawn))
        return [found[task.id] for task in batch]

    def _next(self, run: Run, row: Row, stamps: Stamps | None) -> tuple[NewTask, ...]:
        urgent = row["in_stock"] in (False, 0) or row["listed"] in (False, 0)
        stage = first(stages_of(run), row, stamps)
        return () if stage is None else carried(run, stage, row["product_id"], row["version"], urgent=urgent)


async def stamps_of(tx: Tx, belt: Belt, mall: str) -> Stamps:
    """By what the products of a mall are converted now."""
    return (await belt.lookup.look(tx, mall, belt.gate, belt.unknown_color)).stamps


async def sought(
    tx: Tx, market: str, mall: str, keys: Sequence[str], stamp: str, *, partial: bool, live_only: bool = False
) -> dict[str, Row]:
    """By key, the products that a run looks at: of FULL all, of PARTIAL those that are due among what is listed, or
    (`live_only`) on sale."""
    found: dict[str, Row] = {}
    stamps = [stamp, marks.unraised(stamp)] if partial else [stamp]
    told: dict[str, Any] = {"mall": mall, "market": market, "stamps": stamps, "now": tx.now}
    if partial:
        told["accounts"] = [one.id for one in await _accounts(tx, market)]
        told["states"] = [State.LIVE] if live_only else list(State)
    for start in range(0, len(keys), 500):
        rows = await tx.fetch(LISTED if partial else EVERY, **told, keys=keys[start : start + 500])
        found |= {row["product_id"]: row for row in rows}
    return found


async def _accounts(tx: Tx, market: str) -> list[Account]:
    return [one for one in await accounts.every(tx) if one.market == market]


def first(stages: Container[Stage], row: Row, stamps: Stamps | None) -> Stage | None:
    """Where a product goes: to be made anew, to have its pictures and price looked at, or nowhere. What is held is
    tried again by every FULL, so it goes on as soon as a person has accepted what it lacked. What a person has said of
    pictures waits for a run that looks at them."""
    if stamps is None:  # PARTIAL
        return Stage.PRICE
    made = row["state"] == "READY" and row["converter_version"] == VERSION and row["source_version"] == row["version"]
    made = made and row["stamp"] == stamps.of(named_of(row))
    if not made and Stage.CONVERT in stages:
        return Stage.CONVERT
    may_look = Stage.IMAGE in stages
    if row["state"] is None or not (row["due"] or (may_look and row["revisit"])):
        return None
    return Stage.IMAGE if may_look else Stage.PRICE


def _is_listed(source: Source | None, target: Target) -> bool:
    """Whether a source can be asked for this target."""
    if source is None:
        return False
    kinds: Sequence[str] | None = getattr(source, "target_kinds", None)
    return kinds is None or target.kind in kinds
