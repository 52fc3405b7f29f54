"""The handler `conveyor.register`: what is wanted against what is confirmed, calls in two commits, then the verdict.

A task comes several times: first it plans and sends, then it sleeps until the webhook's verdict wakes it. Whatever
happens in between, the call is in the database, and planning again finds it there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.engine.outcome import Done, Fail, Outcome, Skip, Snooze, Wait
from bobusang.engine.waiting import wake_many
from bobusang.flows.conveyor import goods, marking, outdating, wanting
from bobusang.flows.conveyor.model import Stage
from bobusang.flows.conveyor.onward import URGENT, carried
from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.stages.convert import store
from bobusang.stages.price import quotes
from bobusang.stages.price.model import Reason
from bobusang.stages.register import accounts, listings
from bobusang.stages.register.deciding import Chosen, Faulty, Outdated, Stopped, Waiting
from bobusang.stages.register.diffing import Idle
from bobusang.stages.register.planning import Postponed
from bobusang.stages.register.settling import wait_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.engine.model import Task
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.flows.conveyor.goods import Known
    from bobusang.kit.db import Tx
    from bobusang.stages.convert.store import Conversion
    from bobusang.stages.image.model import Picture
    from bobusang.stages.price.quotes import Key, Said
    from bobusang.stages.register.model import Account, Wanted
    from bobusang.stages.register.planning import Planned
    from bobusang.stages.register.settling import Settled

GRACE = timedelta(seconds=30)
"""How much longer than the market's patience a task sleeps: whoever sends again comes first."""
LONGEST_WAIT = timedelta(minutes=15)
"""A call for which there is no room within this is left to the next run."""
REST = timedelta(seconds=5)
DOUBTED = "option codes name something else than was converted, and their stock stays until FULL settles it"
"""The same words for every product, so that a run tells them as one cause; which codes is told with the product."""
UNDER_WAY = "the market has not judged the last call yet"
ON_ITS_WAY = frozenset({Reason.STEP, Reason.DAY_LIMIT})
"""A price that one step or one day could not bring where it should be."""


class Registered(Done, frozen=True):
    """Done: as confirmed, or nothing to be sent. The finishing transaction marks it, unless its price is held."""

    soon: bool = False
    """Whether it is worth another look in an hour."""
    looked: datetime | None = None
    """When it was found so: the market may have spoken since."""


class Outrun(Skip, frozen=True):
    """Its price is not sent any more, and the product goes back to PRICE. What has sold out was told all the same."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a batch is registered by."""

    known: Mapping[int, Known]
    """By task."""
    made: Mapping[int, Conversion]
    pictures: Mapping[int, tuple[Picture, ...]]
    seen: Mapping[int, datetime]
    said: Mapping[Key, Said]
    """The last word of PRICE on each listing."""


class Registering:
    """Both halves of the handler, for one process."""

    def __init__(self, belt: Belt) -> None:
        self._belt = belt

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Plan, send and wait; or, woken by the verdict, be done."""
        looked, sellers = self._belt.db.clock.now(), await self._sellers()
        woken = [task for task in batch if task.signal is not None and not self._is_old(task, sellers)]
        over = await self._over(woken, sellers)
        left = [task for task in batch if task.id not in over]
        outcomes = {**over, **(await self._sent(left, sellers) if left else {})}
        return [_looked(outcomes[task.id], looked) for task in batch]

    async def save(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Mark what is as it should be."""
        fine = [(task, done) for task, done in owned if isinstance(done, Registered) and not _held(task)]
        await marking.mark(
            tx, self._belt.market, [marking.Fine(task.input, done.looked, done.soon) for task, done in fine]
        )

    async def _sellers(self) -> dict[str, Account]:
        async with self._belt.db.read() as tx:
            every = await accounts.every(tx)
        return {one.name: one for one in every if one.market == self._belt.market}

    # --- woken ------------------------------------------------------------------------------------------------------

    def _is_old(self, task: Task, sellers: Mapping[str, Account]) -> bool:
        """Whether its verdict came so late that its price is not good any more, though it was when it was sent."""
        age = self._belt.db.clock.now() - utc(task.input["decided_at"])
        named = (sellers[name].policy for name in task.input["prices"] if name in sellers)
        return any(outdating.is_old(age, policy.price_hours) for policy in named)

    async def _over(self, woken: Sequence[Task], sellers: Mapping[str, Account]) -> dict[int, Outcome]:
        """Those among the woken whose call was confirmed; a refusal is planned again, its stock may still go. So is
        what several accounts sell: a verdict for one does not say whether something holds the other."""
        alone = [task for task in woken if len(task.input["prices"]) == 1]
        if not alone:
            return {}
        ids = sorted({task.input["id"] for task in alone})
        async with self._belt.db.read() as tx:
            found = {name: await listings.standing(tx, one.id, ids) for name, one in sellers.items()}
        return {
            task.id: done(task)
            for task in alone
            if all(found[name].get(task.input["id"], False) for name in task.input["prices"] if name in found)
        }

    # --- planned ----------------------------------------------------------------------------------------------------

    async def _sent(self, tasks: Sequence[Task], sellers: Mapping[str, Account]) -> dict[int, Outcome]:
        facts = await self._facts(tasks)
        became: dict[int, list[Outcome]] = {task.id: [] for task in tasks}
        runs: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in tasks:
            for name in task.input["prices"]:
                runs[str(task.run.input.get("batch") or f"job {task.job_id}"), name].append(task)
        for (run, name), mine in runs.items():
            if name in sellers:
                for task_id, outcome in (await self._of_account(sellers[name], run, mine, facts)).items():
                    became[task_id].append(outcome)
        return {task.id: combined(task, became[task.id]) for task in tasks}

    async def _facts(self, tasks: Sequence[Task]) -> Facts:
        async with self._belt.db.read() as tx:
            known = await goods.of_tasks(tx, tasks)
            ids = sorted({one.id for one in known.values()})
            return Facts(
                known,
                await store.load(tx, self._belt.market, ids),
                await self._belt.picturing.pictures(tx, ids, self._belt.recipe),
                await goods.seen(tx, ids),
                await quotes.last_said(tx, ids) if ids else {},
            )

    async def _of_account(self, account: Account, run: str, tasks: Sequence[Task], facts: Facts) -> dict[int, Outcome]:
        wanted = {task.id: self._wanted(task, account, facts) for task in tasks}
        # The last of a product is planned, so what is outdated stands before what is not.
        asked = dict(sorted(((id, one) for id, one in wanted.items() if one is not None), key=_outdated_first))
        outcomes: dict[int, Outcome] = {
            id: Skip("its pictures or its conversion are missing") for id in wanted if id not in asked
        }
        if not asked:
            return outcomes
        if account.enabled and (why := self._tokenless(account)):
            return outcomes | {id: Fail(why) for id in asked}
        register, db = self._belt.register, self._belt.db
        made = {id: one.generation for id, one in facts.made.items()}
        planned = await db.transact(lambda tx: self._planned(tx, account, run, list(asked.values()), made))
        outgoings = {one.outgoing.call_id: one.outgoing for one in planned if one.outgoing is not None}
        settled: dict[int, Settled] = {}
        if outgoings:
            sent = await register.send(account, list(outgoings.values()))
            settled = {one.call_id: one for one in await db.transact(lambda tx: register.settle(tx, account, sent))}
        now = db.clock.now()
        found = apart([became(one, settled, account, now) for one in planned], now)
        outcomes |= dict(zip(asked, found, strict=True))
        late = [task for task in tasks if task.id in asked and asked[task.id].outdated]
        return outcomes | {task.id: back(task, facts.known[task.id], asked[task.id].outdated) for task in late}

    def _tokenless(self, account: Account) -> str:
        """Why nothing can be sent from an account; '' where it can. It is asked before anything is planned: behind an
        intent that nobody can send not even what sells out would go."""
        try:
            self._belt.register.secret(account.token_ref)
        except Missing as error:
            return f"{account.market}/{account.name} cannot send: {error}"
        return ""

    async def _planned(
        self, tx: Tx, account: Account, run: str, wanteds: Sequence[Wanted], made: Mapping[int, int]
    ) -> list[Planned]:
        """Plan, and wake who waits for the verdict on a call that another overtakes: there will be none. What a person
        has begin anew meanwhile is not sent as it was."""
        await accounts.lock(tx, account.id)
        now = await store.generations(tx, self._belt.market, [one.product_id for one in wanteds])
        wanteds = [one if now.get(one.product_id) == made[one.product_id] else renewed(one) for one in wanteds]
        planned = await self._belt.register.plan(tx, account, run, wanteds)
        overtaken = [one.decision.supersedes for one in planned if isinstance(one.decision, Chosen)]
        await wake_many(tx, [wait_key(call.id) for call in overtaken if call is not None])
        return planned

    def _wanted(self, task: Task, account: Account, facts: Facts) -> Wanted | None:
        known = facts.known.get(task.id)
        made = None if known is None else facts.made.get(known.id)
        if known is None or made is None or made.data is None or known.id not in facts.pictures:
            return None
        told, decided_at = task.input["prices"][account.name], utc(task.input["decided_at"])
        goods = wanting.stocked(known, made.data).goods
        today = wanting.basis(known, goods)
        return wanting.registered(
            known,
            made.data,
            goods,
            [self._belt.shown(picture) for picture in facts.pictures[known.id]],
            told,
            cap=account.policy.most,
            seen_at=facts.seen.get(known.id),
            decided_at=decided_at,
            outdated=outdating.why(
                told,
                decided_at=decided_at,
                made_of=(task.input.get("basis", today), today),
                said=facts.said.get((known.id, self._belt.market, account.name)),
                hours=account.policy.price_hours,
                now=self._belt.db.clock.now(),
            ),
        )


def became(planned: Planned, settled: Mapping[int, Settled], account: Account, now: datetime) -> Outcome:
    """What a task does after its product was planned for an account, and perhaps sent. Pure."""
    match planned.decision:
        case Chosen():
            assert planned.outgoing is not None
            return _after(settled.get(planned.outgoing.call_id), planned.outgoing.call_id, account, now)
        case Waiting(call_id, is_lost) if is_lost or not account.enabled:  # or the brand would never be free again
            return Skip(f"held: call {call_id} has no verdict, and nobody sends it again")
        case Waiting():  # a key wakes one task: who sent the call may sleep by it
            return Snooze(now + REST, UNDER_WAY)
        case Postponed(until, reason):
            return Snooze(until, reason) if until - now <= LONGEST_WAIT else Skip(f"{reason}: left to the next run")
        case Stopped(trip, _):
            return Skip(f"held: {trip.reason}")
        case Outdated(reason):
            return Skip(reason)
        case Faulty(problems):
            return Skip("the market would refuse it: " + "; ".join(one.words for one in problems))
        case Idle(reason, True, until) if until is not None and until - now <= LONGEST_WAIT:  # an outage passes
            return Snooze(until, reason)
        case Idle(reason, is_refused):  # what is refused is not registered, and is looked at again with the next run
            return Skip(reason) if is_refused else Done(output=reason)


def _after(settled: Settled | None, call_id: int, account: Account, now: datetime) -> Outcome:
    """After a send: the verdict is waited for; what was refused at once is planned again, its stock may still go."""
    if settled is None:  # too slow to use the right to send: whoever sends again does
        return Wait(wait_key(call_id), now + account.policy.patience + GRACE)
    if settled.state.is_open:
        return Wait(settled.key, settled.due_at + GRACE)
    if settled.problems:
        return Snooze(now, "; ".join(one.words for one in settled.problems))
    return Snooze(now + REST, "the market did not take it now")


def apart(outcomes: Sequence[Outcome], now: datetime) -> list[Outcome]:
    """Of tasks that would wait for one verdict, such as those of two versions of a product, the first does and the
    others look again: a key wakes one."""
    keys = [one.key if isinstance(one, Wait) else "" for one in outcomes]
    return [
        Snooze(now + REST, UNDER_WAY) if key and key in keys[:place] else one
        for place, (key, one) in enumerate(zip(keys, outcomes, strict=True))
    ]


def combined(task: Task, outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome for all accounts: where the price of one is outdated all go back, and whoever comes then finds the
    calls of the others; else while one waits the task does, for the verdict that is likely the last: whoever is woken
    while another is to come looks again every few seconds. Then what could not be sent at all is told, or is held."""
    last = max((one for one in outcomes if isinstance(one, Wait)), key=lambda one: one.until, default=None)
    for kind in (Outrun, Wait, Snooze, Fail, Skip):
        found = last if kind is Wait else next((one for one in outcomes if isinstance(one, kind)), None)
        if found is not None:
            return found
    if not outcomes:
        return Skip("no account sells it any more")
    return done(task, "; ".join(dict.fromkeys(str(one.output) for one in outcomes if isinstance(one, Done))))


def back(task: Task, known: Known, why: str) -> Outrun:
    """A task whose price is not sent any more: PRICE decides anew in the same run, unless that was tried often enough
    or the job has no such stage."""
    again = (*task.input.get("again", ()), task.id)
    urgent = known.is_gone or task.entry.priority >= URGENT
    spawn = carried(task.run, Stage.PRICE, known.key, known.version, urgent=urgent, again=again)
    spawn = spawn if len(again) <= outdating.MOST else ()
    return Outrun(f"{why}: {'priced anew' if spawn else 'left to the next run'}", spawn)


def done(task: Task, words: str = "confirmed") -> Registered | Skip:
    """A task whose product is as it should be on every account, but for options that nobody is sure of."""
    if task.input.get("doubts"):
        return Skip(f"{words}, but {DOUBTED}")
    prices: Mapping[str, Any] = task.input["prices"]
    return Registered(output=words, soon=any(one["reason"] in ON_ITS_WAY for one in prices.values()))


def _looked(outcome: Outcome, at: datetime) -> Outcome:
    return msgspec.structs.replace(outcome, looked=at) if isinstance(outcome, Registered) else outcome


def renewed(wanted: Wanted) -> Wanted:
    """What is wanted of a product that is another one by now: nothing, but that what sold out is told."""
    return replace(wanted, outdated="it begins anew: the next FULL converts it")


def _outdated_first(asked: tuple[int, Wanted]) -> bool:
    return not asked[1].outdated


def _held(task: Task) -> bool:
    return any(one["held"] for one in task.input["prices"].values())
