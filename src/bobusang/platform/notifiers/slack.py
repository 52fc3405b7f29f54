"""Notices to a Slack channel by an incoming webhook, whose address is itself the secret."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx

from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import Invalid, Rejected, Throttled, Unavailable
from bobusang.platform.notifier import Level, shortened
from bobusang.platform.retry_after import waited

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.kit.clock import Clock
    from bobusang.platform.notifier import Notice

ATTEMPTS = 4
LONGEST_WAIT = timedelta(seconds=30)
"""A longer Retry-After is handed back as `Throttled`: a duty has better things to do than sleep."""
LONGEST_TITLE, LONGEST_TEXT, LONGEST_FIELD, MOST_FIELDS = 150, 2500, 300, 10
MARKS = {Level.OK: "✅", Level.INFO: "ℹ️", Level.WARNING: "⚠️", Level.CRITICAL: "🚨"}


class SlackNotifier:
    """Posts notices; no error and no log line holds the address."""

    name = "slack"

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        timeout: float = 10.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if not url.startswith(("https://", "http://")):
            raise Invalid(
                "the Slack webhook is no address",
                hint="it begins with https://hooks.slack.com/",
                field="slack_webhook_url",
            )
        self._url = url
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._sleep = sleep

    def __repr__(self) -> str:
        return "SlackNotifier(***)"

    async def send(self, notice: Notice) -> None:
        """Post it, a few times if need be."""
        async with httpx.AsyncClient(timeout=self._timeout, follow_redirects=False, trust_env=False) as client:
            for attempt in range(1, ATTEMPTS + 1):
                wait = await self._post(client, {"text": written(notice)}, last=attempt == ATTEMPTS)
                if wait is None:
                    return
                await self._sleep(wait.total_seconds() or 0.5 * 2.0**attempt)

    async def _post(self, client: httpx.AsyncClient, message: dict[str, str], *, last: bool) -> timedelta | None:
        """None when it is posted; else how long to wait before the next attempt (zero: as you like)."""
        try:
            response = await client.post(self._url, json=message)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # `from None`: the chain would show the request, and with it the address.
            if last or isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
                raise Unavailable(f"Slack cannot be reached: {type(error).__name__}") from None
            return timedelta(0)
        if response.is_success:
            return None
        wait = waited(response.headers.get("Retry-After"), self._clock.now()) or timedelta(0)
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS and (last or wait > LONGEST_WAIT):
            raise Throttled("Slack asks for a rest", until=self._clock.now() + (wait or LONGEST_WAIT))
        if response.is_server_error and last:
            raise Unavailable(f"Slack answered {response.status_code}")
        if response.is_server_error or response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            return min(wait, LONGEST_WAIT)
        raise Rejected(
            f"Slack refuses the notice with {response.status_code}: {shortened(response.text, 100)}",
            hint="check the webhook in BOBUSANG_SLACK_WEBHOOK_URL",
        )


def written(notice: Notice) -> str:
    """The message in Slack's markup."""
    lines = [f"{MARKS[notice.level]} *{escaped(notice.title, LONGEST_TITLE)}*", escaped(notice.text, LONGEST_TEXT)]
    for name, value in list(notice.fields.items())[:MOST_FIELDS]:
        lines.append(f"• {escaped(name, 60)}: {escaped(value, LONGEST_FIELD)}")
    if notice.link and notice.link.startswith(("http://", "https://")):
        lines.append(f"<{escaped(notice.link, 1000).replace('|', '%7C')}>")
    return "\n".join(line for line in lines if line)


def escaped(text: str, limit: int) -> str:
    """Slack's three control characters, escaped after the text was cut, so that no escape is cut in two."""
    return shortened(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
