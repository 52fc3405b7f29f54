"""Everything that the conveyor needs in one process, put together by the wiring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.stages.image.recipe import Recipe, public_url
from bobusang.stages.register.drafting import today

if TYPE_CHECKING:
    from datetime import date, datetime

    from bobusang.flows.collect.collector import Collector
    from bobusang.flows.conveyor.lookup import Lookup
    from bobusang.kit.db import Database
    from bobusang.stages.convert.gates import Gate
    from bobusang.stages.image.model import Picture
    from bobusang.stages.image.service import Picturing
    from bobusang.stages.price.service import Pricing
    from bobusang.stages.register.service import Register

BUYMA_RECIPE = Recipe()


@dataclass(frozen=True, slots=True)
class Belt:
    """One a process; the market is the register's."""

    db: Database
    collector: Collector
    lookup: Lookup
    picturing: Picturing
    pricing: Pricing
    register: Register
    public: str
    """Where markets fetch our pictures."""
    gate: Gate
    """What the market lets be said."""
    unknown_color: int | None = None
    recipe: Recipe = BUYMA_RECIPE

    @property
    def market(self) -> str:
        return self.register.market.name

    def today(self, now: datetime) -> date:
        """The market's own day."""
        return today(self.register.market.abilities, now)

    def shown(self, picture: Picture) -> str:
        """The address that a market is given of a picture."""
        path = self.collector.blobs.path(picture.sha256)
        return public_url(self.public, picture.sha256, picture.media, path)

    def close(self) -> None:
        """Let threads end."""
        self.picturing.close()
