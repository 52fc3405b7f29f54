from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bobusang.kit.errors import Blocked, Conflict, Invalid, Rejected, Throttled
from bobusang.platform.bus import Hold, Outcome, Pause, Reject, Retry, outcome_of, wants
from bobusang.platform.subscriptions import Subscription, _check, new_secret
from bobusang.platform.tables import SubscriptionState

LATER = datetime(2026, 1, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    ("topics", "topic", "wanted"),
    [
        ("*", "anything.at.all", True),
        ("job.*", "job.done", True),
        ("job.*", "job.step.done", True),
        ("job.*", "jobs.done", False),
        ("job.done  source.changed", "source.changed", True),
        ("job.done", "job.done.twice", False),
        ("*.failed", "job.failed", True),
        ("job.d?ne", "job.done", False),
        ("job.[a-z]*", "job.done", False),
        ("", "job.done", False),
    ],
)
def test_patterns_name_topics(topics: str, topic: str, wanted: bool) -> None:
    assert wants(topics, topic) is wanted


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("boom"), Retry("ValueError: boom")),
        (Conflict("first"), Retry("Conflict: first")),
        (Invalid("bad"), Reject("Invalid: bad")),
        (Rejected("no"), Reject("Rejected: no")),
        (Blocked("403"), Pause("Blocked: 403")),
        (Throttled("429", until=LATER), Hold("Throttled: 429", LATER)),
    ],
)
def test_an_error_says_what_becomes_of_its_event(error: Exception, outcome: Outcome) -> None:
    assert outcome_of(error) == outcome


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"topics": "  "}, "topics"),
        ({"url": "no address"}, "url"),
        ({"url": "https://"}, "url"),
        ({"url": "https://user:pw@host/"}, "url"),
        ({"secret": "short"}, "secret"),
        ({"secret": None}, "secret"),
    ],
)
def test_a_wrong_subscription_names_the_field(values: dict[str, str], field: str) -> None:
    good = {"name": "n", "topics": "*", "url": "https://host/path", "secret": new_secret()}
    _check(**good)
    with pytest.raises(Invalid) as caught:
        _check(**(good | values))
    assert caught.value.field == field


def test_a_secret_shows_in_no_text() -> None:
    subscription = Subscription(1, "n", "*", "https://host/", SubscriptionState.ACTIVE, secret="whsec_hidden")
    assert "hidden" not in f"{subscription!r} {subscription}"
