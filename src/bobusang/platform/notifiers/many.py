"""Several notifiers as one: a failing one stops no other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bobusang.kit import log as logs
from bobusang.kit.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.platform.notifier import Notice, Notifier

log = logs.get(__name__)

REMEMBERED = 1000


class ManyNotifiers:
    """Sends to all at once. When some fail it says so, and when it is called again only those get the notice."""

    name = "many"

    def __init__(self, notifiers: Sequence[Notifier]) -> None:
        self._notifiers = tuple(notifiers)
        self._reached: dict[tuple[str, str, str], set[int]] = {}

    async def send(self, notice: Notice) -> None:
        """Raise `Unavailable` with the names of those that failed, after all have tried."""
        identity = (notice.key, notice.level, notice.title)
        reached = self._reached.pop(identity, set())
        missing = [index for index in range(len(self._notifiers)) if index not in reached]
        results = await asyncio.gather(
            *(self._notifiers[index].send(notice) for index in missing), return_exceptions=True
        )
        failed = []
        for index, result in zip(missing, results, strict=True):
            if isinstance(result, Exception):
                failed.append(self._notifiers[index].name)
                log.warning("notifier failed", notifier=self._notifiers[index].name, key=notice.key, error=str(result))
            elif isinstance(result, BaseException):
                raise result
            else:
                reached.add(index)
        if failed:
            self._remember(identity, reached)
            raise Unavailable(f"the notice '{notice.key}' did not go out by {', '.join(failed)}")

    def _remember(self, identity: tuple[str, str, str], reached: set[int]) -> None:
        self._reached[identity] = reached
        while len(self._reached) > REMEMBERED:
            self._reached.pop(next(iter(self._reached)))
