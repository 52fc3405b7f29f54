"""The handler `conveyor.price`: searches that are due, then a price for every account, or a hold."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.engine.outcome import Done, Outcome, Skip, Snooze
from bobusang.flows.collect.run import mode_of
from bobusang.flows.conveyor import goods, marks, wanting
from bobusang.flows.conveyor.model import Stage
from bobusang.flows.conveyor.onward import URGENT, carried
from bobusang.flows.market import searching
from bobusang.kit.clock import text
from bobusang.stages.collect.model import RunMode
from bobusang.stages.convert import store
from bobusang.stages.price import watch
from bobusang.stages.price.model import Hold, Keep, Quote, Reason
from bobusang.stages.price.rivals import Own, model_key
from bobusang.stages.register import accounts, listings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from bobusang.engine.model import Task
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.flows.conveyor.goods import Known
    from bobusang.kit.db import Tx
    from bobusang.kit.money import Money
    from bobusang.stages.convert.restocking import Restocked
    from bobusang.stages.convert.store import Conversion
    from bobusang.stages.price.model import Wanted
    from bobusang.stages.price.quotes import Quoted
    from bobusang.stages.register.model import Account, Listing

SOON = timedelta(seconds=2)
"""When a product whose search had to wait comes again."""


class Priced(Done, frozen=True):
    """Done, with the decisions that the finishing transaction writes."""

    quoted: tuple[Quoted, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a batch is priced by."""

    known: Mapping[int, Known]
    """By task."""
    made: Mapping[int, Conversion]
    stocked: Mapping[int, Restocked]
    """By task, what can be had of it now."""
    accounts: Sequence[Account]
    """Those that are sold for now."""
    own: Sequence[Account]
    """All of ours on the market: one that is switched off is nobody's rival either."""
    listings: Mapping[int, Mapping[int, Listing]]
    """By account and product."""
    day: date
    """The market's own."""
    stamp: str


class Pricer:
    """Both halves of the handler, for one process."""

    def __init__(self, belt: Belt) -> None:
        self._belt = belt

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Search, then decide."""
        facts = await self._facts(batch)
        if not facts.accounts:
            return [Skip(f"no account sells on {self._belt.market}") for _ in batch]
        late = await self._searched(facts)
        wanted = {task.id: self._wanted(task, facts) for task in batch}
        async with self._belt.db.read() as tx:
            found = await self._belt.pricing.look(tx, [one for mine in wanted.values() for one in mine], facts.day)
        quoted: dict[int, list[Quoted]] = defaultdict(list)
        for one in found:
            quoted[one.wanted.product_id].append(one)
        return [self._outcome(task, facts, quoted, late) for task in batch]

    async def save(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Keep the decisions that are news."""
        found = [one for _, done in owned if isinstance(done, Priced) for one in done.quoted]
        await self._belt.pricing.keep(tx, found)

    async def _facts(self, batch: Sequence[Task]) -> Facts:
        market = self._belt.market
        async with self._belt.db.read() as tx:
            known = await goods.of_tasks(tx, batch)
            ids = [one.id for one in known.values()]
            own = [one for one in await accounts.every(tx) if one.market == market]
            sellers = [one for one in own if one.enabled]
            day = self._belt.today(tx.now)
            made = {id: one for id, one in (await store.load(tx, market, ids)).items() if one.data is not None}
            return Facts(
                known,
                made,
                {
                    task: wanting.stocked(one, data)
                    for task, one in known.items()
                    if one.id in made and (data := made[one.id].data) is not None
                },
                sellers,
                own,
                {one.id: await listings.known(tx, one.id, ids) for one in sellers} if ids else {},
                day,
                await marks.stamp(tx, market, day),
            )

    async def _searched(self, facts: Facts) -> set[str]:
        """Search the models of these products that have not been, or are due again; those whose turn did not come."""
        made = [facts.made[one.id] for one in facts.known.values() if one.id in facts.made and not one.is_gone]
        models = {model_key(one.data.model): one.data.model for one in made if one.data and one.data.model}
        models.pop("", None)
        if not models:
            return set()
        async with self._belt.db.read() as tx:
            fresh = await watch.fresh(tx, self._belt.market, models)
        due = {key: model for key, model in models.items() if key not in fresh}
        if not due:
            return set()
        ours = self._ours(facts)
        searched = await searching.search(self._belt.collector, self._belt.market, sorted(due.values()))
        told = [watch.Searched(one.model, one.offers, ours.get(model_key(one.model))) for one in searched]
        await self._belt.db.transact(lambda tx: self._recorded(tx, facts.own, told))
        return due.keys() - {model_key(one.model) for one in searched}

    async def _recorded(self, tx: Tx, own: Sequence[Account], searches: Sequence[watch.Searched]) -> None:
        """Keep what was shown, our own offers told apart."""
        shown = [offer.id for one in searches for offer in one.offers or ()]
        items = await listings.ours(tx, [one.id for one in own], shown)
        ours = Own(tuple(one.seller_name or one.name for one in own), items)
        currency = self._belt.register.market.abilities.currency
        await watch.record(tx, watch.Market(self._belt.market, currency, ours), searches)

    def _ours(self, facts: Facts) -> dict[str, Money]:
        """By model key, the lowest total that we ourselves ask of a buyer."""
        currency = self._belt.register.market.abilities.currency
        found: dict[str, Money] = {}
        for account in facts.accounts:
            for product, listing in facts.listings.get(account.id, {}).items():
                made, total = facts.made.get(product), wanting.asked_total(account, listing, currency)
                if made is None or made.data is None or total is None:
                    continue
                key = model_key(made.data.model)
                if key not in found or total.amount_minor < found[key].amount_minor:
                    found[key] = total
        return found

    def _wanted(self, task: Task, facts: Facts) -> list[Wanted]:
        known = facts.known.get(task.id)
        made = None if known is None else facts.made.get(known.id)
        if known is None or made is None or made.data is None:
            return []
        currency = self._belt.register.market.abilities.currency
        goods = facts.stocked[task.id].goods
        is_full = mode_of(task.run) is RunMode.FULL
        there = {account.id: facts.listings[account.id].get(known.id) for account in facts.accounts}
        return [
            wanting.priced(known, made.data, goods, account, there[account.id], currency=currency, may_raise=is_full)
            for account in facts.accounts
            if is_full or wanting.is_there(there[account.id])
        ]

    def _outcome(self, task: Task, facts: Facts, quoted: Mapping[int, Sequence[Quoted]], late: set[str]) -> Outcome:
        known = facts.known.get(task.id)
        if known is None or known.id not in facts.made:
            return Skip("the product was never converted")
        mine = tuple(quoted.get(known.id, ()))
        if not mine:
            return Skip(f"no account that sells on {self._belt.market} has it there")
        if any(one.result.reason is Reason.NOT_SEARCHED and model_key(one.wanted.model) in late for one in mine):
            return Snooze(self._belt.db.clock.now() + SOON, f"the search at {self._belt.market} keeps its pace")
        told = {one.wanted.account: said(one) for one in mine}
        there = any(known.id in facts.listings[account.id] for account in facts.accounts)
        if not there and all(isinstance(one.result, Hold) for one in mine):
            return Priced(output={"held": told}, spawn=(), quoted=mine)
        more = {
            "id": known.id,
            "prices": told,
            "stamp": facts.stamp,
            "model": model_key(mine[0].wanted.model),
            "decided_at": text(self._belt.db.clock.now()),
        }
        stock = facts.stocked[task.id]
        more["basis"] = wanting.basis(known, stock.goods)
        more |= {"doubts": stock.doubts} if stock.doubts else {}
        urgent, again = known.is_gone or task.entry.priority >= URGENT, task.input.get("again", ())
        spawn = carried(task.run, Stage.REGISTER, known.key, known.version, urgent=urgent, again=again, **more)
        return Priced(output=told, spawn=spawn, quoted=mine)


def said(one: Quoted) -> dict[str, Any]:
    """A decision as the next stage is told it; a hold keeps the price that the market has."""
    result = one.result
    kept = one.wanted.current
    if isinstance(result, Quote | Keep):
        price: int | None = result.price.amount_minor
    else:
        price = kept.amount_minor if kept is not None else None
    floor = None if result.floor is None else result.floor.amount_minor
    ceiling = None if result.ceiling is None else result.ceiling.amount_minor
    return {
        "price": price,
        "floor": floor,
        "ceiling": ceiling,
        "currency": one.currency,
        "reason": result.reason.value,
        "held": isinstance(result, Hold),
    }
