from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bobusang.kit.errors import Blocked
from bobusang.platform.bus import Delivered, Hold, Outcome, Pause, Retry
from bobusang.platform.buses.http import answered, unanswered
from bobusang.platform.retry_after import waited

NOW = datetime(2026, 1, 27, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "retry_after", "outcome"),
    [
        (200, None, Delivered()),
        (204, "60", Delivered()),
        (301, None, Retry("the subscriber answered 301: redirects are not followed")),
        (400, None, Retry("the subscriber answered 400")),
        (410, None, Pause("the subscriber answered 410: it wants no more events")),
        (429, None, Hold("the subscriber answered 429: it asks for a rest")),
        (429, "60", Hold("the subscriber answered 429: it asks for a rest", NOW + timedelta(seconds=60))),
        (500, "60", Retry("the subscriber answered 500", timedelta(seconds=60))),
        (503, None, Retry("the subscriber answered 503")),
        (503, "60", Hold("the subscriber answered 503: it asks for a rest", NOW + timedelta(seconds=60))),
    ],
)
def test_a_status_says_what_becomes_of_the_event(status: int, retry_after: str | None, outcome: Outcome) -> None:
    assert answered(status, retry_after, NOW) == outcome


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (httpx.ConnectError("no route"), Hold("cannot be reached: no route")),
        (httpx.ConnectTimeout(""), Hold("cannot be reached: ConnectTimeout")),
        (httpx.ReadTimeout("slow"), Retry("no answer in time")),
        (TimeoutError(), Retry("no answer in time")),
        (httpx.RemoteProtocolError("garbage"), Retry("broken answer: RemoteProtocolError")),
        (httpx.UnsupportedProtocol("ftp"), Pause("the address cannot be used")),
        (Blocked("refused"), Pause("refused")),
    ],
)
def test_no_answer_says_it_too(error: Exception, outcome: Outcome) -> None:
    assert unanswered(error) == outcome


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("", None),
        ("0", None),
        ("120", timedelta(minutes=2)),
        (" 7 ", timedelta(seconds=7)),
        ("99999999999", timedelta(days=1)),
        ("Tue, 27 Jan 2026 09:05:00 GMT", timedelta(minutes=5)),
        ("Tue, 27 Jan 2026 08:05:00 GMT", None),
        ("Fri, 27 Jan 2056 09:00:00 GMT", timedelta(days=1)),
        ("-5", None),
        ("soon", None),
        ("²", None),
    ],
)
def test_retry_after_in_both_forms(header: str | None, wait: timedelta | None) -> None:
    assert waited(header, NOW) == wait
