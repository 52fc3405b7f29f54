"""The handlers of the daily crawl: `daily.crawl`, `daily.validate`, `daily.load`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import brands
from bobusang.catalog.model import Review
from bobusang.engine.model import NewTask
from bobusang.engine.outcome import Done, Fail, Outcome, Skip, Snooze
from bobusang.flows.collect import starting
from bobusang.flows.collect.starting import Wanted
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import raise_alert, settle_alerts
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.collect.model import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.engine.model import Task
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Row, Tx

BREATH = timedelta(seconds=5)
"""How long to wait before looking again whether the crawls have ended, or the search has caught up."""
PATIENCE = timedelta(minutes=30)
"""How long the search may take; what it has not taken by then it takes later."""
MOST_BRANDS = 10_000
INDEX = "search"
"""The consumer that writes the search."""

TARGETS = Statement("""
    select k.name as kind, t.target_key, t.name from crawl_targets t
      join crawl_sources s on s.id = t.source_id join target_types k on k.id = t.target_type_id
    where s.name = :source and t.is_active = true and k.name in (:kinds...) order by t.id limit :limit""")
OPEN = Statement("select count(*) as value from crawling_jobs where id in (:ids...) and completed_at is null")
ENDED = Statement("""
    select j.id, j.status, r.target, r.state, r.reason, r.tripped, r.listed, r.total, r.new, r.changed, r.held,
      r.missed, r.absent from crawling_jobs j left join collect_runs r on r.job_id = j.id
    where j.id in (:ids...) order by j.id""")
LAST = Statement("""
    select max(value) as value from
      (select max(id) as value from outbox union all select max(event_id) as value from deliveries) last_events""")
BEHIND = Statement("""
    select (select count(*) from outbox where id <= :mark) + (select count(*) from deliveries d
      join subscriptions s on s.id = d.subscription_id
      where s.name = :index and d.state = 'PENDING' and d.event_id <= :mark) as value""")
LOADED = Statement("""
    select count(*) as products, coalesce(sum(case when in_stock = true then 1 else 0 end), 0) as in_stock,
      count(distinct seller_id) as sellers from products where mall = :source and (listed is null or listed = true)""")


class Steps:
    """All three, for one process."""

    def __init__(self, engine: Engine, collector: Collector) -> None:
        self._engine = engine
        self._collector = collector

    async def crawl(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Collect each target by a job of its own, and wait until all of them have ended."""
        return [await self._engine.db.transact(lambda tx, task=task: self._crawled(tx, task)) for task in batch]  # type: ignore[misc]

    async def validate(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Say whether what was collected is to be believed; a person is called where it is not."""
        return [await self._engine.db.transact(lambda tx, task=task: self._validated(tx, task)) for task in batch]  # type: ignore[misc]

    async def load(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Each page is stored with its task; wait until the search shows it too, and tell what there is."""
        return [await self._engine.db.transact(lambda tx, task=task: self._loaded(tx, task)) for task in batch]  # type: ignore[misc]

    async def _crawled(self, tx: Tx, task: Task) -> Outcome:
        """The first task of the step starts the crawls, a second one waits for them: asking whether they have ended
        is one statement, starting again what runs already would be some for each target."""
        source = str(task.input["source"])
        jobs = task.input.get("jobs")
        if jobs is None:
            return await self._started(tx, task, source)
        left = await tx.value(OPEN, ids=jobs)
        if left:
            return Snooze(tx.now + BREATH, f"{left} of {len(jobs)} targets are being collected")
        return Done(output={"source": source, "jobs": jobs})

    async def _started(self, tx: Tx, task: Task, source: str) -> Outcome:
        try:
            wanted = await self._wanted(tx, source)
            if not wanted:
                return Skip(f"{source} has no target: accept a brand of it, or collect a category or a keyword once")
            made = await starting.start(tx, self._engine, self._collector, source, wanted, key=f"daily:{task.job_id}")
        except (Conflict, Invalid, Missing) as error:
            return Skip(str(error))
        told = {"source": source, "jobs": [one.job_id for one in made]}
        return Done(output={"started": len(made)}, spawn=(NewTask(told, key="wait", step="crawl", raw=True),))

    async def _wanted(self, tx: Tx, source: str) -> list[Wanted]:
        """The brands that a person has accepted, and what else was ever collected by hand: categories, keywords."""
        kinds = {kind for kind in _kinds(self._collector, source) if kind not in ("brand", "item", "index")}
        accepted = await brands.listed(tx, source, review=Review.ACCEPTED, limit=MOST_BRANDS)
        found = [Wanted("brand", one.key) for one in accepted]
        rows = await tx.fetch(TARGETS, source=source, kinds=sorted(kinds), limit=MOST_BRANDS) if kinds else ()
        return found + [Wanted(row["kind"], row["target_key"], row["name"]) for row in rows]

    async def _validated(self, tx: Tx, task: Task) -> Outcome:
        source, jobs = str(task.input["source"]), list(task.input["jobs"])
        runs = [_told(row) for row in await tx.fetch(ENDED, ids=jobs)]
        wrong = [one for one in runs if one["state"] != RunState.PROVED.value]
        summed = {name: sum(one[name] or 0 for one in runs) for name in ("listed", "new", "changed", "held", "absent")}
        told = {"source": source, "runs": len(runs), "proved": len(runs) - len(wrong), **summed, "wrong": wrong[:20]}
        alert = f"daily.unwell:{source}"
        if wrong:
            await raise_alert(tx, _notice(alert, source, runs, wrong))
        else:
            await settle_alerts(tx, [alert])
        if runs and not any(one["listed"] for one in runs):
            return Fail(f"nothing was collected of {source}: {_first(wrong)}")
        return Done(output={**told, "mark": await tx.value(LAST) or 0, "since": tx.now.isoformat()})

    async def _loaded(self, tx: Tx, task: Task) -> Outcome:
        told = dict(task.input)
        mark, since = int(told.pop("mark")), str(told.pop("since"))
        behind = await tx.value(BEHIND, mark=mark, index=INDEX)
        if behind and tx.now - datetime.fromisoformat(since) < PATIENCE:
            return Snooze(tx.now + BREATH, f"the search has {behind} changes to take")
        found = await tx.first(LOADED, source=told["source"])
        assert found is not None
        counted = {name: int(found[name]) for name in ("products", "in_stock", "sellers")}
        return Done(output={**told, **counted, "search_behind": int(behind)})


def _kinds(collector: Collector, source: str) -> Sequence[str]:
    found: Sequence[str] = getattr(collector.source(source), "target_kinds", ())
    return found


def _told(row: Row) -> dict[str, Any]:
    names = ("target", "state", "reason", "tripped", "listed", "total", "new", "changed", "held", "missed", "absent")
    return {"job": row["id"], "status": row["status"], **{name: row[name] for name in names}}


def _first(wrong: Sequence[Mapping[str, Any]]) -> str:
    one = wrong[0]
    return f"{one['target'] or 'job ' + str(one['job'])} {one['reason'] or one['status']}"


def _notice(key: str, source: str, runs: Sequence[Mapping[str, Any]], wrong: Sequence[Mapping[str, Any]]) -> Notice:
    return Notice(
        key,
        Level.WARNING,
        f"{source}: {len(wrong)} of {len(runs)} targets of the daily crawl were not proved",
        f"The first: {_first(wrong)}. `bobusang collect show {wrong[0]['job']}` tells more. What was read is kept; "
        "nothing counts as gone by such a run.",
    )
