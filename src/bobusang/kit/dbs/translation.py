"""Foreign errors become ours where they enter."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.errors import BobusangError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Translation:
    """`with translation:` around a driver's call. It has no state, so one serves all; a generator would cost more."""

    translate: Callable[[BaseException], BobusangError | None]

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None and not isinstance(error, asyncio.CancelledError | BobusangError):
            translated = self.translate(error)
            if translated is not None:
                raise translated from error
