"""Consumers in this process, registered by topic pattern, with or without the transaction that marks the delivery."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.errors import Conflict
from bobusang.platform import subscriptions
from bobusang.platform.bus import Event, Outcome, Patience
from bobusang.platform.poison import divided

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx
    from bobusang.platform.bus import Joined, Subscriber
    from bobusang.platform.subscriptions import Subscription

SCHEME = "local"

Consume = Callable[[Sequence[Event]], Awaitable[None]]
ConsumeInTx = Callable[["Tx", Sequence[Event]], Awaitable[None]]


class InProcess:
    """The bus whose subscribers are functions."""

    schemes = frozenset({SCHEME})

    def __init__(self) -> None:
        self._consumers: dict[str, tuple[str, Subscriber | Joined]] = {}

    def subscribe(self, name: str, topics: str, consume: Consume, *, patience: Patience | None = None) -> None:
        """Call it with events, at least once each; when it raises, those of a batch are tried in smaller ones."""
        self._add(name, topics, Outside(consume, patience or Patience()))

    def subscribe_in_tx(
        self, name: str, topics: str, consume: ConsumeInTx, *, patience: Patience | None = None
    ) -> None:
        """Call it with events and the transaction that marks them delivered: what it writes there happens once."""
        self._add(name, topics, Inside(consume, patience or Patience()))

    async def install(self, db: Database) -> None:
        """Make sure that each consumer has its subscription; from then on events are kept for it."""

        async def work(tx: Tx) -> None:
            for name, (topics, _) in sorted(self._consumers.items()):
                await subscriptions.ensure(tx, name=name, topics=topics, url=f"{SCHEME}:{name}")

        await db.transact(work)

    def open(self, subscription: Subscription) -> Subscriber | Joined | None:
        """The consumer, unless another program declares it."""
        found = self._consumers.get(subscription.name)
        return found[1] if found else None

    async def close(self) -> None:
        """Nothing to give back."""

    def _add(self, name: str, topics: str, consumer: Subscriber | Joined) -> None:
        if name in self._consumers:
            raise Conflict(f"two consumers are named '{name}'", hint="rename one of them")
        self._consumers[name] = (topics, consumer)


@dataclass(frozen=True, slots=True)
class Outside:
    """A consumer whose effect lies elsewhere."""

    consume: Consume
    patience: Patience

    async def deliver(self, events: Sequence[Event]) -> Sequence[Outcome]:
        """Hand them over."""
        return await divided(self.consume, events)


@dataclass(frozen=True, slots=True)
class Inside:
    """A consumer whose effect lies in our database."""

    consume: ConsumeInTx
    patience: Patience

    async def apply(self, tx: Tx, events: Sequence[Event]) -> None:
        """Write their effect."""
        await self.consume(tx, events)
