"""Alerts open, remind and recover; what could not be sent stays owed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Unavailable
from bobusang.platform.alerting import Alert, Alerting, open_alerts, raise_alert, settle_alerts
from bobusang.platform.notifier import Level, Notice

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from tests.integration.platform.manual import ManualClock

SLOW = Notice("oldest_wait", Level.WARNING, "대기가 깁니다", "가장 오래된 작업이 20분째", fields={"queue": "NORMAL"})
RATE = Notice("failure_rate:수집", Level.CRITICAL, "실패율 42 %", "지난 한 시간", "https://x.example/jobs")
RULES = ("oldest_wait", "failure_rate")


class Inbox:
    name = "inbox"

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.broken = False

    async def send(self, notice: Notice) -> None:
        if self.broken:
            raise Unavailable("no line")
        self.notices.append(notice)

    def taken(self) -> list[tuple[Level, str]]:
        found = [(notice.level, notice.title) for notice in self.notices]
        self.notices.clear()
        return found


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def alerting(db: Database, inbox: Inbox) -> Alerting:
    return Alerting(db, inbox, remind_every=timedelta(hours=6))


async def test_an_alert_is_told_once_then_reminded_then_over(
    alerting: Alerting, inbox: Inbox, clock: ManualClock
) -> None:
    assert await alerting.settle([SLOW, RATE], rules=RULES) == 2
    assert inbox.notices == [RATE, SLOW]
    inbox.taken()
    for _ in range(5):
        clock.advance(hours=1)
        assert await alerting.settle([SLOW, RATE], rules=RULES) == 0
    clock.advance(hours=1)
    assert await alerting.settle([SLOW, RATE], rules=RULES) == 2
    assert inbox.notices[1] == Notice(
        "oldest_wait",
        Level.WARNING,
        "Still: 대기가 깁니다",
        "가장 오래된 작업이 20분째",
        None,
        {"queue": "NORMAL", "since": "2026-01-27 09:00 UTC", "seen": "7 times"},
    )
    inbox.taken()
    clock.advance(minutes=10)
    assert await alerting.settle([RATE], rules=RULES) == 1
    assert inbox.notices[0].fields == {"queue": "NORMAL", "lasted": "6 h 10 min"}
    assert inbox.taken() == [(Level.OK, "Recovered: 대기가 깁니다")]
    assert await alerting.settle([RATE], rules=RULES) == 0


async def test_an_alert_that_comes_back_is_told_again(alerting: Alerting, inbox: Inbox) -> None:
    for current, told in [([SLOW], "대기가 깁니다"), ([], "Recovered: 대기가 깁니다")] * 2:
        await alerting.settle(current, rules=RULES)
        assert [title for _, title in inbox.taken()] == [told]


async def test_what_could_not_be_sent_is_sent_later(alerting: Alerting, inbox: Inbox, clock: ManualClock) -> None:
    inbox.broken = True
    assert await alerting.settle([SLOW], rules=RULES) == 0
    inbox.broken = False
    assert await alerting.settle([SLOW], rules=RULES) == 1
    inbox.broken = True
    assert await alerting.settle([], rules=RULES) == 0
    inbox.broken = False
    assert await alerting.notify() == 1
    assert inbox.taken() == [(Level.WARNING, "대기가 깁니다"), (Level.OK, "Recovered: 대기가 깁니다")]


async def test_a_crash_after_sending_sends_again_rather_than_never(
    db: Database, alerting: Alerting, inbox: Inbox
) -> None:
    class Dying(Inbox):
        async def send(self, notice: Notice) -> None:
            inbox.notices.append(notice)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await Alerting(db, Dying()).settle([SLOW], rules=RULES)
    await alerting.notify()
    assert inbox.notices == [SLOW, SLOW]


async def test_a_rule_that_could_not_be_evaluated_ends_nothing(alerting: Alerting, inbox: Inbox) -> None:
    await alerting.settle([SLOW, RATE], rules=RULES)
    inbox.taken()
    assert await alerting.settle([], rules=["oldest_wait"]) == 1
    assert inbox.taken() == [(Level.OK, "Recovered: 대기가 깁니다")]


async def test_an_alert_that_became_worse_is_told_at_once(alerting: Alerting, inbox: Inbox) -> None:
    await alerting.settle([SLOW], rules=RULES)
    worse = Notice(SLOW.key, Level.CRITICAL, "대기가 아주 깁니다", "두 시간째")
    assert await alerting.settle([worse], rules=RULES) == 1
    assert await alerting.settle([SLOW], rules=RULES) == 0  # better, but not over
    assert [title for _, title in inbox.taken()] == ["대기가 깁니다", "대기가 아주 깁니다"]


async def test_an_alert_commits_with_the_change_that_raised_it(db: Database, alerting: Alerting, inbox: Inbox) -> None:
    async def doomed() -> None:
        async with db.begin() as tx:
            await raise_alert(tx, RATE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await doomed()
    async with db.begin() as tx:
        await raise_alert(tx, SLOW, SLOW)
        await raise_alert(tx, SLOW)
        (alert,) = await open_alerts(tx)
    opened = tx.now
    assert alert == Alert(
        "oldest_wait", "oldest_wait", Level.WARNING, SLOW.title, SLOW.text, opened, None, resolved_at=None, count=2
    )
    assert await alerting.notify() == 1
    async with db.begin() as tx:
        await settle_alerts(tx, ["oldest_wait", "unknown"])
        assert await open_alerts(tx) == []
    assert await alerting.notify() == 1
    assert inbox.taken() == [(Level.WARNING, "대기가 깁니다"), (Level.OK, "Recovered: 대기가 깁니다")]


async def test_old_alerts_are_forgotten(db: Database, alerting: Alerting, clock: ManualClock) -> None:
    await alerting.settle([SLOW], rules=RULES)
    await alerting.settle([], rules=RULES)
    clock.advance(days=31)
    await alerting.settle([], rules=RULES)
    async with db.begin() as tx:
        await raise_alert(tx, SLOW)
        (alert,) = await open_alerts(tx)
    assert alert.opened_at == clock.now()
