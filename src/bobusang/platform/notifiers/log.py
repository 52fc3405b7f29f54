"""Notices as log lines: what there is when nothing else is set up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit import log as logs
from bobusang.platform.notifier import Level

if TYPE_CHECKING:
    from bobusang.platform.notifier import Notice

log = logs.get("bobusang.notice")

LEVELS = {Level.OK: "info", Level.INFO: "info", Level.WARNING: "warning", Level.CRITICAL: "error"}


class LogNotifier:
    """Writes each notice as one line."""

    name = "log"

    async def send(self, notice: Notice) -> None:
        """Never fails."""
        write = getattr(log, LEVELS[notice.level])
        write(notice.title, key=notice.key, text=notice.text, link=notice.link, fields=dict(notice.fields))
