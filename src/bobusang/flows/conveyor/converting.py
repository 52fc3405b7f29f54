"""The handler `conveyor.convert`: what a mall tells of products becomes products in the market's words, or is held."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.catalog import assigning, categories
from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import Done, Outcome, Park, Retry, Skip, Snooze
from bobusang.flows.collect.run import source_of
from bobusang.flows.conveyor import goods
from bobusang.flows.conveyor.model import Stage
from bobusang.flows.conveyor.onward import carried
from bobusang.kit.errors import Rejected, Throttled
from bobusang.stages.convert import converting, mapping, memory, store
from bobusang.stages.convert.market_categories import Categories
from bobusang.stages.convert.model import Converted, Held, Why
from bobusang.stages.convert.store import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.engine.model import NewTask, Task
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.flows.conveyor.goods import Known
    from bobusang.flows.conveyor.lookup import Looked
    from bobusang.kit.db import Tx
    from bobusang.kit.errors import External
    from bobusang.stages.convert.converting import Read
    from bobusang.stages.convert.naming import Match
    from bobusang.stages.convert.store import Conversion
    from bobusang.stages.convert.translate import Translated

SHOWN = 3
ALL = 1_000_000
UNREAD, MADE_ALREADY = (
    "not all of its pages are read yet",
    "this version is made already: another of its pages came first",
)
COMES_AGAIN = frozenset({UNREAD, MADE_ALREADY})
"""Why a task is skipped of which the product is taken up by another of the same run."""


class Made(Done, frozen=True):
    """Done, with the conversion that the finishing transaction writes."""

    mall: str = ""
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What a batch of one mall is converted by."""

    known: Mapping[str, Known]
    read: Mapping[int, Read]
    """By product, those of which all pages are there."""
    before: Mapping[int, Conversion]
    by: Looked


class Converting:
    """Both halves of the handler, for one process."""

    def __init__(self, belt: Belt) -> None:
        self._belt = belt

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Convert, the products of one mall together."""
        groups: dict[str, list[Task]] = defaultdict(list)
        for task in batch:
            groups[source_of(task.run)].append(task)
        found: dict[int, Outcome] = {}
        for mall, tasks in groups.items():
            found |= await self._of_mall(mall, tasks)
        return [found[task.id] for task in batch]

    async def save(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Write what the products of the tasks still owned were made into."""
        await write(tx, self._belt.market, [done.result for _, done in owned if isinstance(done, Made) and done.result])

    async def _of_mall(self, mall: str, tasks: Sequence[Task]) -> dict[int, Outcome]:
        facts = await self._facts(mall, [task.input["key"] for task in tasks])
        wanted = [text for one in facts.read.values() for text in one.wanted]
        done = await memory.translate(self._belt.db, facts.by.translator, wanted)
        outcomes: dict[int, Outcome] = {}
        held: list[tuple[Known, Held]] = []
        for task in tasks:
            known = facts.known.get(task.input["key"])
            outcomes[task.id] = self._outcome(task, known, facts, done, held)
        await self._keep_held(mall, held, facts.by)
        return outcomes

    async def _facts(self, mall: str, keys: Sequence[str]) -> Facts:
        async with self._belt.db.read() as tx:
            known = await goods.load(tx, mall, keys)
            before = await store.load(tx, self._belt.market, [one.id for one in known.values()])
            looked = await self._belt.lookup.look(tx, mall, self._belt.gate, self._belt.unknown_color)
        read = {one.id: converting.read(one.fields, one.options) for one in known.values() if self._is_whole(one)}
        return Facts(known, read, before, looked)

    def _outcome(
        self,
        task: Task,
        known: Known | None,
        facts: Facts,
        words: Translated,
        held: list[tuple[Known, Held]],
    ) -> Outcome:
        """Made, or held. What was made before goes on all the same: its stock and price are not held. A trouble with
        the translation is that of the products whose texts it left out."""
        if known is None:
            return Skip("the product is not known any more")
        before, stamp = facts.before.get(known.id), facts.by.stamps.of(known.named)
        if before is not None and before.is_made(known.version, stamp):
            return Skip(MADE_ALREADY)
        listed = before is not None and before.data is not None
        price = carried(task.run, Stage.PRICE, known.key, known.version)
        if known.id not in facts.read or known.is_gone:
            why = "the mall has it no more" if known.is_gone else UNREAD
            return Done(output={"kept": why}, spawn=price) if listed else Skip(why)
        trouble = words.missing(facts.read[known.id].wanted)
        if trouble is not None:
            return untranslated(trouble, self._belt.db.clock.now(), instead=price if listed else ())
        made = self._converted(known, before, facts, words)
        if isinstance(made, Held):
            held.append((known, made))
            return Done(output={"held": told(made)}, spawn=price) if listed else Skip(told(made))
        spawn = carried(task.run, Stage.IMAGE, known.key, known.version) or price
        return Made(spawn=spawn, mall=known.mall, result=Result(known.id, known.version, made, stamp))

    def _is_whole(self, known: Known) -> bool:
        source = self._belt.collector.sources.get(known.mall)  # a supplier's files need none
        return known.is_whole(in_parts=source is not None and source.in_parts)

    def _converted(self, known: Known, before: Conversion | None, facts: Facts, words: Translated) -> Converted | Held:
        return converting.convert(
            facts.read[known.id],
            facts.by.mapped,
            facts.by.masters,
            words.text,
            gate=self._belt.gate,
            on=self._belt.db.clock.now().date(),
            before=before.data if before else None,
            unknown_color=self._belt.unknown_color,
        )

    async def _keep_held(self, mall: str, held: Sequence[tuple[Known, Held]], by: Looked) -> None:
        """Why products are held, and the categories that nobody has been asked about: written at once, for a held
        product's task is skipped and saves nothing."""
        if not held:
            return
        results = [Result(known.id, known.version, made) for known, made in held]
        unknown = {_path(known) for known, made in held if _lacks_category(made)} - {()}
        likely = await asyncio.to_thread(_likely, unknown, by) if unknown else {}

        async def work(tx: Tx) -> None:
            await write(tx, self._belt.market, results)
            await propose(tx, mall, likely)

        await self._belt.db.transact(work)


def untranslated(trouble: External, now: datetime, *, instead: tuple[NewTask, ...]) -> Outcome:
    """What becomes of a product whose texts the model left out: it waits, tries again, or, where asking again would
    only cost, lies where a person can mend it; `instead` is what goes on without it. Pure."""
    words = f"the translation failed: {trouble}"
    match trouble:
        case Throttled():
            return Snooze(max(trouble.until, now), words)
        case Rejected():
            return Skip(words, instead) if instead else Park(ReasonClass.REJECTED, words)
    return Retry(words)


async def write(tx: Tx, market: str, results: Sequence[Result]) -> None:
    """Write conversions, in one order everywhere."""
    await store.save(tx, market, sorted(results, key=lambda one: one.product_id))


async def propose(tx: Tx, mall: str, likely: Mapping[tuple[str, ...], Sequence[Match]]) -> None:
    """Ask people what categories of a mall are that no one has been asked about, with the market's likely name."""
    if not likely:
        return
    await categories.propose(tx, mall, [categories.Proposal(path) for path in sorted(likely)])
    found = {categories.SEPARATOR.join(path): matches for path, matches in likely.items()}
    rows = [one for one in await categories.listed(tx, mall, limit=ALL) if one.buyma_category_id is None]
    asked = {one.id: found[one.full_path] for one in rows if one.full_path in found}
    await assigning.propose_categories(tx, mapping.sure(asked))


def _likely(paths: Iterable[tuple[str, ...]], by: Looked) -> dict[tuple[str, ...], list[Match]]:
    """What the market may call them: names are compared, which takes long for a transaction."""
    named = Categories(by.masters, by.translator.glossary)
    return {path: named.find(categories.SEPARATOR.join(path)) for path in paths}


def told(held: Held) -> str:
    """The first reasons, in a line."""
    words = "; ".join(reason.text for reason in held.reasons[:SHOWN])
    return words + (f" and {len(held.reasons) - SHOWN} more" if len(held.reasons) > SHOWN else "")


def _lacks_category(held: Held) -> bool:
    return any(reason.why is Why.CATEGORY_UNKNOWN for reason in held.reasons)


def _path(known: Known) -> tuple[str, ...]:
    said = known.fields.get("category")
    if isinstance(said, list | tuple):
        return tuple(str(part) for part in said)
    return tuple(str(said).split(categories.SEPARATOR)) if said else ()
