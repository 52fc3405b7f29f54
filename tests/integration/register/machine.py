"""REGISTER against the sandbox's market, with a model of what it may do: dying between any two commits, words lost,
doubled and late, answers that never come, and a budget that is too small."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bobusang.connectors.markets.buyma.market import REST, Buyma
from bobusang.kit import json
from bobusang.kit.db import connect
from bobusang.kit.money import yen
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.listing import payload
from bobusang.stages.register import accounts, reopening
from bobusang.stages.register.listings import listing_of
from bobusang.stages.register.market import Later, Notice, Word
from bobusang.stages.register.model import Budget, Caution, Policy, State, Stock, Variant
from bobusang.stages.register.service import Register
from bobusang.testing.clock import ManualClock
from tests.integration.register.wire import Hook, Mood, Place, Wire
from tests.unit.register.making import ACCOUNT, COLORS, OPTIONS, WANTED, XL, stocks

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from datetime import datetime

    from bobusang.kit.db import Database, Row, Tx
    from bobusang.stages.register.market import Outgoing
    from bobusang.stages.register.settling import Sent

T = TypeVar("T")

BUDGET = Budget(hour=10, day=14)
POLICY = Policy(caution=Caution(few=10_000, step=1_000, day=1_000), budget=BUDGET, sends=1_000)
LEASE = timedelta(seconds=60)
ROUNDS = 9
GROWN: dict[str, Any] = {
    "options": (*OPTIONS, XL),
    "variants": (*stocks(), *(Variant(color.key, XL.key, Stock.TO_ORDER) for color in COLORS)),
}
"""A size that was not there before."""
WISHES: list[dict[str, Any]] = [
    *({"price": yen(price)} for price in (21_000, 25_000, 30_000)),
    *({"variants": stocks(stock)} for stock in (Stock.OUT, Stock.TO_ORDER, Stock.UNKNOWN)),
    *({"variants": stocks(c1_s1=stock)} for stock in (Stock.OUT, Stock.UNKNOWN)),
    {"variants": stocks(Stock.OUT), "price": yen(22_000)},
    GROWN,
]
ids = st.sampled_from([1, 2])


class Died(Exception):
    """The process ended before the commit."""


@dataclass(slots=True)
class World:
    """What all machines share: making it takes longer than running one."""

    loop: asyncio.AbstractEventLoop
    db: Database
    clock: ManualClock
    place: Place
    made: int = 0


class Machine(RuleBasedStateMachine):
    """Two products of one account; each machine has an account of its own."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.db, self.clock, place = self.world.db, self.world.clock, self.world.place
        self.world.made += 1
        token = f"token-{self.world.made}"
        place.open_shop(token, "secret")
        self.wire = Wire(place, self.db, token)
        self.market = Buyma(self.wire, f"{place.sandbox.url}/buyma")
        self.register = Register(self.market, self.clock, {token: token, "secret": "secret"}.__getitem__)
        wanted = replace(ACCOUNT, name=token, token_ref=token, secret_ref="secret", policy=POLICY)
        self.account = self.transact(lambda tx: accounts.add(tx, wanted))
        self.wire.account_id = self.account.id
        coat = replace(WANTED, images=(self.picture(),))
        self.wanted = {id: replace(coat, product_id=id, sku=f"okmall/{id}") for id in (1, 2)}
        self.unsent: list[Outgoing] = []
        self.unsettled: list[list[Sent]] = []
        """By sender: one that is slow comes back after others."""
        self.tokens: dict[int, int] = {}
        """By call, the token that was handed out last."""
        self.earliest: dict[int, datetime] = {}
        """By call, before when nobody may send it again."""
        self.handed: dict[tuple[int, int], datetime] = {}
        """By call and token, when it was handed out."""
        self.delivered: dict[tuple[str, bytes], int] = {}
        self.references: dict[int, str] = {}

    # --- helpers

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.world.loop.run_until_complete(work)

    def transact(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return self.run(self.db.transact(work))

    def rows(self, query: str) -> Sequence[Row]:
        async def read() -> Sequence[Row]:
            async with self.db.read() as tx:
                return await tx.fetch(Statement(query))

        return self.run(read())

    def mine(self, table: str, more: str = "") -> Sequence[Row]:
        return self.rows(f"select * from {table} where account_id = {self.account.id} {more} order by id")

    def picture(self, *, broken: bool = False) -> str:
        return f"{self.world.place.sandbox.url}/{'nowhere' if broken else 'okimg'}/1.jpg"

    @property
    def hooks(self) -> list[Hook]:
        return self.world.place.hooks[self.wire.token]

    # --- what the world does

    @initialize(listed=st.booleans())
    def begin(self, *, listed: bool) -> None:
        if listed:
            self.quiet()

    @rule(id=ids, wish=st.sampled_from(WISHES))
    def wish(self, id: int, wish: dict[str, Any]) -> None:
        self.wanted[id] = replace(self.wanted[id], **wish)

    @rule(id=ids, broken=st.booleans())
    def repicture(self, id: int, *, broken: bool) -> None:
        self.wanted[id] = replace(self.wanted[id], images=(self.picture(broken=broken),))

    @rule(mood=st.sampled_from([Mood.FINE, Mood.FINE, *Mood]))
    def feel(self, mood: Mood) -> None:
        self.wire.mood = mood

    @rule(minutes=st.sampled_from([0.2, 2, 40]))
    def later(self, minutes: float) -> None:
        """Time passes; no request is under way for longer than somebody may send it."""
        if minutes > LEASE.total_seconds() / 60:
            self.run(self.wire.land())
        self.clock.advance(minutes=minutes)

    # --- what we do: each is one commit, or what lies between two

    @rule(dies=st.sampled_from([False, False, False, True]))
    def plan(self, *, dies: bool) -> None:
        async def work(tx: Tx) -> list[Outgoing]:
            planned = await self.register.plan(tx, self.account, "run", list(self.wanted.values()))
            if dies:
                raise Died
            return [one.outgoing for one in planned if one.outgoing is not None]

        try:
            self._handed_out(self.transact(work))
        except Died:
            pass

    @rule()
    def recover(self) -> None:
        outgoings = self.transact(lambda tx: self.register.recover(tx, self.account))
        for one in outgoings:
            assert self.clock.now() >= self.earliest[one.call_id], "sent again while the verdict may still come"
        self._handed_out(outgoings)

    def _handed_out(self, outgoings: list[Outgoing]) -> None:
        urgent = {row["id"] for row in self.mine("market_calls", "and urgency = 0")} if outgoings else ()
        for one in outgoings:
            assert one.token > self.tokens.get(one.call_id, 0)
            self.tokens[one.call_id] = one.token
            self.handed[one.call_id, one.token] = self.clock.now()
            # A stock-out is told again, once, when nobody else may be telling it.
            patience = timedelta() if one.token == 1 and one.call_id in urgent else POLICY.patience
            self.earliest[one.call_id] = self.clock.now() + LEASE + patience
        self.unsent += outgoings

    @rule()
    def close_again(self) -> None:
        """What is for sale again that was closed."""

        async def work(tx: Tx) -> list[Outgoing]:
            found = await reopening.found(tx, self.account.id)
            planned = await self.register.plan_limits(tx, self.account, "reopened", found, {})
            return [one.outgoing for one in planned if one.outgoing is not None]

        self._handed_out(self.transact(work))

    @rule()
    def land(self) -> None:
        """What was slow or late is done."""
        self.run(self.wire.land())

    @rule()
    def resend(self) -> None:
        """The verdict is overdue."""
        self.later(40)
        self.recover()

    @rule()
    def go(self) -> None:
        """As it mostly happens."""
        self.plan(dies=False)
        self.send()
        self.settle()

    @rule()
    def send(self) -> None:
        outgoings, self.unsent = self.unsent, []
        sents = self.run(self.register.send(self.account, outgoings))
        for sent in sents:
            age = self.clock.now() - self.handed[sent.call_id, sent.token]
            assert age + self.register.timeout <= LEASE, "a right that has run out was used"
        self.unsettled += [sents] if sents else []

    @rule()
    def die(self) -> None:
        """With what was not sent yet, and the answers that were not written."""
        self.unsent, self.unsettled = [], []

    @rule()
    def settle(self) -> None:
        batches, self.unsettled = self.unsettled, []
        for sents in batches:
            self._settle(sents)

    def _settle(self, sents: list[Sent]) -> None:
        late = [sent.call_id for sent in sents if sent.token != self.tokens[sent.call_id]]
        before = self._calls(late)
        settled = self.transact(lambda tx: self.register.settle(tx, self.account, sents))
        assert self._calls(late) == before, "who has lost the token wrote"
        assert {one.call_id for one in settled} == {sent.call_id for sent in sents} - set(late)
        for sent in sents:
            rest = REST if isinstance(sent.reply, Later) else POLICY.patience
            if sent.call_id not in late:
                self.earliest[sent.call_id] = self.clock.now() + rest

    def _calls(self, which: list[int]) -> list[dict[str, Any]]:
        return [dict(row) for row in self.mine("market_calls") if row["id"] in which]  # type: ignore[call-overload]

    # --- what the market tells

    @rule(data=st.data(), fate=st.sampled_from(["delivered", "delivered", "doubled", "lost", "forged"]))
    def webhook(self, data: st.DataObject, fate: str) -> None:
        if self.hooks:
            self.deliver(data.draw(st.integers(0, len(self.hooks) - 1)), fate)

    def deliver(self, place: int, fate: str = "delivered") -> None:
        hook = self.hooks[place]
        if fate == "forged":
            assert self._receive(Hook({**hook.headers, "X-Buyma-Hmac-Sha256": "x"}, hook.body)) is False
            return
        if fate != "lost" or not hook.sure:
            self.hooks.pop(place)
        for _ in range({"delivered": 1, "doubled": 2}.get(fate, 0)):
            assert self._receive(hook)

    @rule()
    def all_webhooks(self) -> None:
        while self.hooks:
            assert self._receive(self.hooks.pop())

    def _receive(self, hook: Hook) -> bool:
        headers = {name.lower(): value for name, value in hook.headers.items()}
        genuine = self.transact(lambda tx: self.register.receive(tx, self.account, hook.headers, hook.body))
        if genuine:
            key = headers["x-buyma-event"], hook.body
            self.delivered[key] = self.delivered.get(key, 0) + 1
        return genuine

    @rule()
    def told(self) -> None:
        self.all_webhooks()
        self.apply(dies=False)

    @rule(dies=st.sampled_from([False, False, True]))
    def apply(self, *, dies: bool) -> None:
        async def work(tx: Tx) -> None:
            await self.register.apply(tx, self.account)
            if dies:
                raise Died

        known = {row["reference"]: row["market_updated"] for row in self.mine("listings")}
        waiting = {row["id"]: self._said(row) for row in self.mine("webhook_inbox", "and state = 'RECEIVED'")}
        try:
            self.transact(work)
        except Died:
            return
        states = {row["id"]: row["state"] for row in self.mine("webhook_inbox") if row["id"] in waiting}
        for id, said in waiting.items():
            if said.word is Word.STANDS:
                stale = said.updated < known[said.reference]
                assert states[id] == ("STALE" if stale else "APPLIED"), "an older word won, or a newer was dropped"
        assert "RECEIVED" not in states.values()

    def _said(self, row: Row) -> Notice:
        return self.market.notice(json.loads(row["headers"]), bytes(row["body"]))

    # --- what always holds

    @invariant()
    def a_reference_is_issued_once(self) -> None:
        for row in self.mine("listings"):
            if row["reference"]:
                assert self.references.setdefault(row["product_id"], row["reference"]) == row["reference"]
        assert len(set(self.references.values())) == len(self.references)
        for listing in self.world.place.listings(self.wire.token).values():
            assert listing.references == [listing.reference]
            assert listing.reference in self.references.values()

    @invariant()
    def nothing_takes_effect_twice(self) -> None:
        if not self.wire.was_slow:  # else the same is told once more because an edit of before has undone it
            assert [call for call, times in self.wire.effects().items() if times > 1] == []

    @invariant()
    def the_budget_is_kept(self) -> None:
        trips = self.wire.trips
        if not trips:
            return
        now = trips[-1].at
        hour = [trip for trip in trips if trip.at > now - timedelta(hours=1)]
        day = [trip for trip in trips if trip.is_product and trip.at > now - timedelta(days=1)]
        assert len(hour) <= BUDGET.hour
        assert len(day) <= BUDGET.day

    @invariant()
    def a_webhook_is_kept_once(self) -> None:
        inbox = self.mine("webhook_inbox")
        assert {row["state"] for row in inbox if not row["genuine"]} <= {"FORGED"}
        rows = [row for row in inbox if row["genuine"]]
        assert sorted(row["times"] for row in rows) == sorted(self.delivered.values())

    @invariant()
    def a_call_is_judged_by_what_became_of_it(self) -> None:
        arrived = {trip.call_id for trip in self.wire.trips if trip.uid}
        states = {row["id"]: row["state"] for row in self.mine("market_calls")}
        assert [id for id, state in states.items() if state == "CANCELLED" and id in arrived] == []
        if not self.wire.was_late:  # else a word on one call may be what another asked for
            assert [id for id, state in states.items() if state == "CONFIRMED" and id not in arrived] == []

    @invariant()
    def a_failure_is_the_verdict_on_its_own_call(self) -> None:
        sent = {(trip.call_id, trip.uid) for trip in self.wire.trips}
        for row in self.mine("webhook_inbox", "and state = 'APPLIED'"):
            said = self._said(row)
            if said.word is Word.FAILED:
                assert (row["call_id"], said.request_uid) in sent, "another call's failure was taken for its verdict"

    def sends(self, count: int) -> None:
        """In a story: so many calls are about to be sent."""
        assert len(self.unsent) == count

    def check(self) -> None:
        """All of that, for who calls the rules himself."""
        self.a_reference_is_issued_once()
        self.nothing_takes_effect_twice()
        self.the_budget_is_kept()
        self.a_webhook_is_kept_once()
        self.a_call_is_judged_by_what_became_of_it()
        self.a_failure_is_the_verdict_on_its_own_call()

    # --- in the end

    def quiet(self) -> None:
        """Nothing goes wrong: everything is sent, answered, told and applied."""
        self.wire.mood = Mood.FINE
        self.recover()
        self.go()
        self.told()

    def teardown(self) -> None:
        """After some quiet days the market has what is wanted, we know it, and nobody calls any more."""
        for id in (1, 2):
            self.repicture(id, broken=False)
        self.run(self.wire.land())
        self.told()
        for _ in range(ROUNDS):
            self.clock.advance(hours=25)
            self.quiet()
        self.check()
        calls = len(self.wire.trips)
        self.plan(dies=False)
        assert (len(self.unsent), len(self.wire.trips)) == (0, calls)
        for row in self.mine("listings"):
            self._is_true(row)

    def _is_true(self, row: Row) -> None:
        ours, wanted = listing_of(row), self.wanted[row["product_id"]]
        theirs = self.world.place.listings(self.wire.token).get(ours.reference)
        sellable = any(variant.stock is Stock.TO_ORDER for variant in wanted.variants)
        if theirs is None:
            assert (ours.confirmed, ours.open_call, sellable) == (None, None, False)
            return
        said = payload(theirs, self.clock.now())
        assert ours.confirmed is not None
        assert ours.market_id == str(theirs.id)
        assert ours.state is self.market.abilities.states[said["status"]]
        assert self.market.corrected(ours.confirmed, said) == ours.confirmed, "what we hold confirmed is not so"
        stock = {(one.color, one.size): one.stock for one in ours.confirmed.variants}
        for one in wanted.variants:
            there = stock.get((one.color, one.size), Stock.OUT)
            assert one.stock in (Stock.UNKNOWN, there), "a stock-out or a return was lost"
        if ours.state is State.LIVE:
            assert wanted.price is not None
            assert said["price"] == wanted.price.amount_minor


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Everything that machines need, on a database with empty tables."""
    loop = asyncio.new_event_loop()
    clock = ManualClock()
    db = loop.run_until_complete(connect(url, clock=clock))
    place = Place.opened(clock)
    Machine.world = World(loop, db, clock, loop.run_until_complete(place.__aenter__()))
    try:
        yield
    finally:
        loop.run_until_complete(place.__aexit__(None, None, None))
        loop.run_until_complete(db.close())
        loop.close()


def explore(url: str, *, examples: int, steps: int) -> None:
    """Let chance choose."""
    chance = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    with opened(url):
        run_state_machine_as_test(Machine, settings=chance)


Step = tuple[str, dict[str, Any]]


def tell(url: str, *steps: Step) -> None:
    """One story, step by step, and how it ends."""
    with opened(url):
        machine = Machine()
        for name, given in steps:
            getattr(machine, name)(**given)
            machine.check()
        machine.teardown()
