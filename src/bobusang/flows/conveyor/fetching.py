"""The handlers `conveyor.list` and `conveyor.fetch`: pages as COLLECT fetches them, their products on to be sifted."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from bobusang.flows.collect.asks import STEP_OF
from bobusang.flows.collect.fetching import Fetching
from bobusang.flows.conveyor.onward import sifted
from bobusang.stages.collect.source import Extent, Kind, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.engine.model import NewTask, Task
    from bobusang.stages.collect.model import Fetched
    from bobusang.stages.collect.source import Ask


class Belted(Fetching):
    """Fetching whose pages hand on what they tell of. Further pages of an item have a step of their own, so that the
    items of a stage are counted as people count them."""

    steps: ClassVar[Mapping[Kind, str]] = STEP_OF | {Kind.PART: "part"}

    def further(self, task: Task, page: Fetched, asks: Sequence[Ask]) -> Sequence[Ask]:
        """With a limit, only the first so many of a brand's list are looked at; the list is then not proved."""
        most = task.run.input.get("limit")
        asked = super().further(task, page, asks)
        extent = next((one for one in page.found if isinstance(one, Extent)), None)
        if not most or extent is None:
            return asked
        before = (extent.page - 1) * len(extent.keys)
        first = set(extent.keys[: max(0, int(most) - before)])
        goes_on = before + len(extent.keys) < int(most)
        return [ask for ask in asked if (ask.item in first if ask.item else goes_on)]

    def onward(self, page: Fetched, asks: Sequence[Ask]) -> tuple[NewTask, ...]:
        """A list's products, but for those whose own page is asked for now; an item's page, its product."""
        asked = {ask.item for ask in asks if ask.item}
        listed = [key for one in page.found if isinstance(one, Extent) for key in one.keys]
        own = [one.key for one in page.found if isinstance(one, Snapshot)] if page.ask.item else []
        keys = [key for key in dict.fromkeys((*listed, *own)) if key not in asked]
        return sifted(keys, page.ask.name)
