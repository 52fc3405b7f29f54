"""Everything that collecting needs in one process, put together by the wiring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.when import Standing, parse_when
from bobusang.kit.errors import Missing
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect import switch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.catalog.tables.images import Rights
    from bobusang.flows.collect.sharing import Sharing
    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Transport
    from bobusang.platform.blob import Blobs
    from bobusang.platform.limiter import Limiter
    from bobusang.stages.collect.decisions import Decision
    from bobusang.stages.collect.fetcher import Fetcher
    from bobusang.stages.collect.gate import Gate
    from bobusang.stages.collect.model import ItemFacts
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.pools import Pools
    from bobusang.stages.collect.service import Collecting
    from bobusang.stages.collect.source import Source


@dataclass(frozen=True, slots=True)
class Collector:
    """One a process."""

    db: Database
    sources: Mapping[str, Source]
    gate: Gate
    fetcher: Fetcher
    service: Collecting
    pools: Pools
    transport: Transport
    blobs: Blobs
    limiter: Limiter
    sharing: Sharing
    user_agent: str
    plain: Policy
    """How a place is visited that no shop describes."""

    def source(self, name: str) -> Source:
        """The source of that name."""
        try:
            return self.sources[name]
        except KeyError:
            raise Missing(f"there is no source '{name}'", hint=did_you_mean(name, self.sources)) from None

    def policy(self, name: str) -> Policy:
        """How a source is visited; a place that no shop describes, carefully."""
        return self.sources[name].policy if name in self.sources else self.plain

    def holds(self, condition: str, facts: ItemFacts) -> bool:
        """Whether the condition of an ask holds of an item."""
        return parse_when(condition).holds(
            Standing(facts.new, facts.changed, facts.age, due=facts.due, partial=facts.partial)
        )

    async def prepare(self, tx: Tx, name: str) -> None:
        """Set a source's pools as its policy has them, and make its identities."""
        await switch.prepare(tx, self.pools, name, self.policy(name), user_agent=self.user_agent)

    async def enable(self, tx: Tx, name: str, *, why: str, by: str, rights: Rights | None = None) -> Decision:
        """Let a source be collected, with why that may be, and by what right its pictures are shown."""
        policy, agent = self.policy(name), self.user_agent
        return await switch.enable(tx, self.pools, name, policy, why=why, by=by, user_agent=agent, rights=rights)

    async def close(self) -> None:
        """Give connections and threads back."""
        self.fetcher.close()
        await self.transport.close()
        await self.blobs.close()
        await self.limiter.close()
