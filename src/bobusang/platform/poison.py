"""A batch that fails is halved until the poison is alone, so that only that event pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.platform.bus import Delivered, Hold, Pause, Untried, outcome_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bobusang.platform.bus import Event, Outcome


async def divided(consume: Callable[[Sequence[Event]], Awaitable[None]], events: Sequence[Event]) -> list[Outcome]:
    """Consume a batch, in smaller and smaller ones where it raises; one outcome an event.

    What follows a failure in its key is left untried, and so is everything once the consumer wants a rest.
    """
    outcomes: dict[int, Outcome] = {}
    failed: set[str] = set()
    pending = [list(events)]
    while pending:
        batch = [event for event in pending.pop() if event.key not in failed]
        if not batch:
            continue
        try:
            await consume(batch)
        except Exception as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                pending += [batch[middle:], batch[:middle]]
                continue
            outcomes[batch[0].id] = outcome = outcome_of(error)
            failed.add(batch[0].key)
            if isinstance(outcome, Hold | Pause):
                break
        else:
            outcomes.update((event.id, Delivered()) for event in batch)
    return [outcomes.get(event.id, Untried()) for event in events]
