"""Whatever dies and whatever is lost: one product for each listing, and in the end it is as it was wanted."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bobusang.kit.db import connect
from bobusang.kit.money import yen
from bobusang.stages.register.model import Budget, Caution, Policy, Stock
from bobusang.testing.clock import ManualClock
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Mood
from tests.unit.register.making import WANTED, stocks

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from bobusang.kit.db import Database
    from tests.integration.register.shop import Hook

T = TypeVar("T")

POLICY = Policy(
    caution=Caution(few=10_000, step=1_000, day=1_000),
    budget=Budget(hour=100_000, day=100_000, shares=(100,) * 5),
    sends=1_000,
)


class Machine(RuleBasedStateMachine):
    """Two products of one account; `db`, `clock` and the loop are shared, each machine has an account of its own."""

    db: ClassVar[Database]
    clock: ClassVar[ManualClock]
    loop: ClassVar[asyncio.AbstractEventLoop]
    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        Machine.made += 1
        self.desk = self.run(Desk.opened(self.db, POLICY, f"account-{Machine.made}"))
        self.wanted = {id: replace(WANTED, product_id=id, sku=f"okmall/{id}") for id in (1, 2)}
        self.hooks: list[Hook] = []
        self.unsettled: list[Any] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @initialize(listed=st.booleans())
    def begin(self, *, listed: bool) -> None:
        if listed:
            self.go("no")
            self.market_works()
            self.run(self.desk.told(self.hooks))
            self.hooks = []

    @rule(id=st.sampled_from([1, 2]), price=st.integers(20_000, 40_000))
    def reprice(self, id: int, price: int) -> None:
        self.wanted[id] = replace(self.wanted[id], price=yen(price))

    @rule(id=st.sampled_from([1, 2]), stock=st.sampled_from([Stock.OUT, Stock.TO_ORDER, Stock.UNKNOWN]))
    def restock(self, id: int, stock: Stock) -> None:
        self.wanted[id] = replace(self.wanted[id], variants=stocks(stock))

    @rule(mood=st.sampled_from([Mood.FINE, Mood.FINE, Mood.MUTE, Mood.DEAF, Mood.BUSY]))
    def feel(self, mood: Mood) -> None:
        self.desk.shop.mood = mood

    @rule(died=st.sampled_from(["no", "no", "before sending", "before settling"]))
    def go(self, died: str) -> None:
        planned = self.run(self.desk.plan(*self.wanted.values()))
        self._send([one.outgoing for one in planned if one.outgoing is not None], died)

    @rule(died=st.sampled_from(["no", "no", "before sending", "before settling"]))
    def recover(self, died: str) -> None:
        account, register = self.desk.account, self.desk.register
        self._send(self.run(self.db.transact(lambda tx: register.recover(tx, account))), died)

    def _send(self, outgoings: list[Any], died: str) -> None:
        if died == "before sending":
            return
        sents = self.run(self.desk.register.send(self.desk.account, outgoings))
        if died == "before settling":
            self.unsettled += sents
            return
        self._settle(sents)

    def _settle(self, sents: list[Any]) -> None:
        account, register = self.desk.account, self.desk.register
        self.run(self.db.transact(lambda tx: register.settle(tx, account, sents)))

    @rule()
    def come_back_late(self) -> None:
        sents, self.unsettled = self.unsettled, []
        self._settle(sents)

    @rule()
    def market_works(self) -> None:
        self.hooks += self.desk.shop.work()

    @rule(data=st.data(), fate=st.sampled_from(["delivered", "delivered", "doubled", "lost"]))
    def webhook(self, data: st.DataObject, fate: str) -> None:
        if not self.hooks:
            return
        hook = self.hooks.pop(data.draw(st.integers(0, len(self.hooks) - 1)))
        if fate != "lost":
            self.run(self.desk.told([hook] * (2 if fate == "doubled" else 1)))

    @rule(minutes=st.sampled_from([1, 10, 40]))
    def later(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    @invariant()
    def no_listing_is_there_twice(self) -> None:
        references = [product["reference_number"] for product in self.desk.shop.products.values()]
        assert len(references) == len(set(references)) <= 2
        assert len({call["reference_number"] for call in self.desk.shop.calls}) <= 2  # issued once, never again

    def teardown(self) -> None:
        """Nothing goes wrong any more: after a few rounds the market has what is wanted, and nobody calls."""
        self.desk.shop.mood = Mood.FINE
        for _ in range(6):
            self.clock.advance(minutes=40)
            self.recover("no")
            self.go("no")
            self.run(self.desk.told(self.hooks + self.desk.shop.work()))
            self.hooks = []
        self.no_listing_is_there_twice()
        self.desk.shop.calls.clear()
        self.go("no")
        assert self.desk.shop.calls == []
        for wanted in self.wanted.values():
            self._is_as_wanted(wanted.product_id)

    def _is_as_wanted(self, id: int) -> None:
        wanted = self.wanted[id]
        sql = (
            f"select market_id, reference from listings where account_id = {self.desk.account.id} and product_id = {id}"
        )
        (row,) = self.run(self.desk.rows(sql))
        product = self.desk.shop.products.get(int(row["market_id"] or 0))
        stock = wanted.variants[0].stock
        if product is None or stock is Stock.UNKNOWN:
            assert product is not None or stock is not Stock.TO_ORDER
            return
        sold = {variant["stock_type"] for variant in product["variants"]}
        assert product["reference_number"] == row["reference"]
        assert sold == {"out_of_stock" if stock is Stock.OUT else "purchase_for_order"}
        if stock is Stock.TO_ORDER:
            assert wanted.price is not None
            assert product["price"] == wanted.price.amount_minor


def test_no_crash_and_no_loss_makes_a_second_product(empty_sqlite: str) -> None:
    loop = asyncio.new_event_loop()
    Machine.loop, Machine.clock = loop, ManualClock()
    Machine.db = loop.run_until_complete(connect(empty_sqlite, clock=Machine.clock))
    try:
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=25,
                stateful_step_count=20,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        loop.run_until_complete(Machine.db.close())
        loop.close()
