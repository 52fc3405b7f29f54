"""Watching a mall while things go wrong: what may be stored, what must not, and where a person can see the trouble."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.engine import control
from bobusang.kit.errors import Conflict
from bobusang.stages.collect import switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.testing.yard import Yard

Fields = dict[str, Any]
PATIENCE = 60.0
WHO = "a person"

SIGNS = {
    "dead letters": "select reason_class, error from dead_letters where job_id = :job",
    "counts": """select sum(failure) as failed, sum(retries) as retried, sum(throttled) as throttled from fetch_counts
        where job_id = :job having sum(failure) + sum(retries) + sum(throttled) > 0""",
    "run": "select state, reason from collect_runs where job_id = :job and reason is not null",
    "held": "select guard, reason from held_writes where job_id = :job",
    "gate": "select reason from gate_decisions where source = :source and id > :last and reason <> ''",
}
BLOCKED = "select reason from budgets where pool like :pools and blocked_until > :now"


@dataclass(slots=True)
class Watch:
    """One target of one mall, as it was before and as the mall shows it now."""

    yard: Yard
    mall: str
    kind: str
    key: str
    before: dict[str, Fields] = field(default_factory=dict)
    true: dict[str, Fields] = field(default_factory=dict)
    _last: int = 0

    async def begin(self) -> None:
        """Remember what is stored before anything goes wrong."""
        self.before = await self.yard.records(self.mall)
        rows = await self.yard.rows("select coalesce(max(id), 0) as last from gate_decisions")
        self._last = rows[0]["last"]
        await self.look()

    async def look(self) -> None:
        """See what the mall shows by now."""
        told = await self.yard.door.truth(self.mall, **{self.kind: self.key})
        self.true = {item["key"]: item for item in told["items"]}

    async def start(self) -> int:
        return await self.yard.start(self.mall, self.kind, self.key)

    async def collect(self) -> Fields:
        """Collect to the end, and see that the list was proved complete."""
        run = await self.yard.collect(self.mall, self.kind, self.key)
        assert (run["state"], run["reason"]) == ("PROVED", None)
        return run

    async def move(self, count: int, by: float) -> None:
        """Let so many products that are known and listed cost more or less from now on."""
        await self.look()
        for key in [key for key in sorted(self.true) if key in self.before and self.true[key]["listed"]][:count]:
            price = int(self.true[key]["price"] * by) // 100 * 100
            await self.yard.door.override(self.mall, key, price=price)
        await self.look()

    async def signs(self, job: int) -> dict[str, Any]:
        """Where a person can see that something went wrong with a job."""
        places = {name: await self.yard.rows(text, **self._asked(text, job)) for name, text in SIGNS.items()}
        return {name: rows for name, rows in places.items() if rows}

    def _asked(self, text: str, job: int) -> Fields:
        values = {"job": job, "source": self.mall, "last": self._last}
        return {name: value for name, value in values.items() if f":{name}" in text}

    async def troubled(self, job: int) -> dict[str, Any]:
        """Wait until the trouble can be seen, or the job is over without any."""
        async with asyncio.timeout(PATIENCE):
            while True:
                over = await self.over(job)
                if (found := await self.signs(job)) or over:
                    return found
                await asyncio.sleep(0.02)

    async def over(self, job: int) -> bool:
        text = "select id from crawling_jobs where id = :id and completed_at is not null"
        return bool(await self.yard.rows(text, id=job))

    async def blocked(self) -> list[str]:
        """Why the gate lets nobody through, where it does not."""
        pools, now = f"source:{self.mall}%", self.yard.db.clock.now()
        return [row["reason"] for row in await self.yard.rows(BLOCKED, pools=pools, now=now)]

    async def resume(self) -> None:
        """A person has mended it."""
        pools = self.yard.app.collector.pools
        await self.yard.db.transact(lambda tx: switch.resume(tx, pools, self.mall, by=WHO))

    async def leave(self, job: int) -> None:
        """End a job that would only go on trying."""
        engine = self.yard.app.engine
        try:
            await self.yard.db.transact(lambda tx: control.cancel(tx, engine.books, engine.hooks, job))
        except Conflict:
            return  # it is over

    async def falsehoods(self) -> list[str]:
        """What is stored that was neither so before nor is so now; and what is lost."""
        after = await self.yard.records(self.mall)
        lost = [f"{key} is lost" for key in self.before.keys() - after.keys()]
        return lost + [said for key, fields in sorted(after.items()) for said in self.false(key, fields)]

    def false(self, key: str, fields: Fields) -> Iterable[str]:
        """What is stored of a product that was neither so before nor is so now."""
        before, true = self.before.get(key, {}), self.true.get(key, {})
        known = [one for one in (before, true) if one]
        if fields["price"] not in [one["price"] for one in known]:
            yield f"{key} costs {fields['price']}, not {true.get('price')}"
        if fields.get("sold_out") and not any(one.get("sold_out") for one in known):
            yield f"{key} is sold out"
        if fields.get("listed") is False and before.get("listed") is not False and true.get("listed"):
            yield f"{key} is not listed"
        if fields.get("gone") and not before.get("gone") and true:
            yield f"{key} is gone"
        yield from self._false_options(key, fields, [_options(one) for one in known if one.get("options")])

    def _false_options(self, key: str, fields: Fields, known: Sequence[dict[str, bool]]) -> Iterable[str]:
        stored = _options(fields)
        for code, available in stored.items():
            said = [options[code] for options in known if code in options]
            if said and available not in said and len(stored) > 1:
                yield f"{key} option {code} is {available}"
        if stored and known and len(stored) < min(len(options) for options in known):
            yield f"{key} has {len(stored)} options"

    async def unequal(self) -> list[str]:
        """Listed products whose price is not as the mall shows it, unless a person was asked; and false absences."""
        stored = await self.yard.records(self.mall)
        rows = await self.yard.rows(
            "select record_key from held_writes where state = 'HELD' and source = :s", s=self.mall
        )
        asked = {row["record_key"] for row in rows}
        shown = {key: item for key, item in self.true.items() if item["listed"] and key not in asked}
        return [
            f"{key}: {stored.get(key, {}).get('price')} instead of {item['price']}"
            for key, item in sorted(shown.items())
            if stored.get(key, {}).get("price") != item["price"] or stored[key].get("listed") is False
        ]


def _options(item: Fields) -> dict[str, bool]:
    return {option["code"]: option["available"] for option in item.get("options") or ()}


def most_within(times: Sequence[float], span: float) -> int:
    """The most calls in any span of this length."""
    found, first = 0, 0
    for last, at in enumerate(times):
        while times[first] < at - span:
            first += 1
        found = max(found, last - first + 1)
    return found
