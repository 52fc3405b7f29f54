"""One account at the shop: plan, send, settle, deliver, apply, each its own transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.kit.sql import Statement
from bobusang.stages.register import accounts
from bobusang.stages.register.service import Register
from tests.integration.register.shop import SECRET, Shop
from tests.unit.register.making import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database
    from bobusang.stages.register.applying import Moved
    from bobusang.stages.register.model import Account, Policy, Wanted
    from bobusang.stages.register.planning import Planned
    from bobusang.stages.register.settling import Settled
    from tests.integration.register.shop import Hook


@dataclass(slots=True)
class Desk:
    db: Database
    shop: Shop
    account: Account
    register: Register

    @classmethod
    async def opened(cls, db: Database, policy: Policy | None = None, name: str = "main") -> Desk:
        wanted = replace(ACCOUNT, name=name, policy=policy or ACCOUNT.policy)
        account = await db.transact(lambda tx: accounts.add(tx, wanted))
        shop = Shop()
        register = Register(Buyma(shop, "http://shop"), db.clock, {"token": "t", "secret": SECRET}.__getitem__)
        return cls(db, shop, account, register)

    async def plan(self, *wanteds: Wanted, run: str = "r1") -> list[Planned]:
        return await self.db.transact(lambda tx: self.register.plan(tx, self.account, run, wanteds))

    async def go(self, *wanteds: Wanted, run: str = "r1") -> list[Settled]:
        """Plan, send and settle."""
        planned = await self.plan(*wanteds, run=run)
        return await self.send([one.outgoing for one in planned if one.outgoing is not None])

    async def send(self, outgoings: Sequence[Any]) -> list[Settled]:
        sents = await self.register.send(self.account, outgoings)
        return await self.db.transact(lambda tx: self.register.settle(tx, self.account, sents))

    async def recover(self) -> list[Settled]:
        return await self.send(await self.db.transact(lambda tx: self.register.recover(tx, self.account)))

    async def receive(self, hooks: Sequence[Hook]) -> list[bool]:
        return [
            await self.db.transact(lambda tx, hook=hook: self.register.receive(tx, self.account, *hook))  # type: ignore[misc]
            for hook in hooks
        ]

    async def apply(self) -> list[Moved]:
        return await self.db.transact(lambda tx: self.register.apply(tx, self.account))

    async def told(self, hooks: Sequence[Hook] | None = None) -> list[Moved]:
        """The shop works, and what it tells is applied."""
        await self.receive(self.shop.work() if hooks is None else hooks)
        return await self.apply()

    async def rows(self, text: str) -> list[dict[str, Any]]:
        async with self.db.read() as tx:
            return [dict(row) for row in await tx.fetch(Statement(text))]  # type: ignore[call-overload]
