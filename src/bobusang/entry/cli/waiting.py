"""What holds a run up, told while somebody waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.entry.cli.session import Session

ORDINARY = ("rate", "identities")


def told_of(session: Session, source: str) -> Callable[[], None]:
    """A look at the gate of a source that says once why something waits there, and again when the reason is another.

    A limit that is simply reached is no news.
    """
    said: set[str] = set()

    def look() -> None:
        waits = [one for one in session.api.get("/gate", source=source)["items"] if one["cause"] not in ORDINARY]
        for reason in {one["reason"] or one["cause"] for one in waits} - said:
            session.note("it waits: {reason}", reason=reason)
            said.add(reason)

    return look
