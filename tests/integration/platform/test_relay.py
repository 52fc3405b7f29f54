"""The relay with consumers in this process, on three databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement
from bobusang.platform import subscriptions
from bobusang.platform.bus import Event, Outcome, Patience, Subscriber, publish
from bobusang.platform.buses.inprocess import InProcess
from bobusang.platform.relay import Relay
from bobusang.platform.subscriptions import Backlog
from bobusang.platform.tables import SubscriptionState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database, Tx
    from tests.integration.platform.manual import ManualClock

TWO_TRIES = Patience(base=10, cap=60, attempts=2)


async def published(db: Database, *events: Event) -> None:
    async with db.begin() as tx:
        await publish(tx, *events)


async def rows(db: Database, table: str) -> int:
    async with db.read() as tx:
        found: int = await tx.value(Statement(f"select count(*) as value from {table}"))
        return found


class Tape:
    """A consumer that remembers; it fails on the payloads it is told to hate."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, object]] = []
        self.hates: dict[object, Exception] = {}

    async def __call__(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.payload in self.hates:
                raise self.hates[event.payload]
        self.seen += [(event.key, event.payload) for event in events]

    def of(self, key: str) -> list[object]:
        return [payload for each, payload in self.seen if each == key]


async def relay_for(db: Database, tape: Tape, *, name: str = "tape", topics: str = "*") -> Relay:
    bus = InProcess()
    bus.subscribe(name, topics, tape, patience=TWO_TRIES)
    await bus.install(db)
    return Relay(db, [bus])


async def only(db: Database) -> subscriptions.Subscription:
    async with db.read() as tx:
        (found,) = await subscriptions.listed(tx)
        return found


async def test_an_event_arrives_whole_and_leaves_nothing_behind(db: Database, clock: ManualClock) -> None:
    seen: list[Event] = []
    bus = InProcess()

    async def consume(events: Sequence[Event]) -> None:
        seen.extend(events)

    bus.subscribe("all", "*", consume)
    await bus.install(db)
    relay = Relay(db, [bus])
    await published(db, Event("job.done", "잡:1", {"이름": "코트 🧥", "n": [1, None]}, headers={"trace": "abc"}))

    assert await relay.step() == 1
    assert await relay.step() == 0
    (event,) = seen
    whole = Event("job.done", "잡:1", {"이름": "코트 🧥", "n": [1, None]}, event.id, clock.now(), {"trace": "abc"})
    assert event == whole
    assert event.id > 0
    assert [await rows(db, table) for table in ("outbox", "deliveries", "delivery_keys")] == [0, 0, 0]


async def test_each_subscriber_gets_the_topics_it_wants(db: Database) -> None:
    jobs, sources = Tape(), Tape()
    bus = InProcess()
    bus.subscribe("jobs", "job.* task.dead", jobs)
    bus.subscribe("sources", "source.changed", sources)
    await bus.install(db)
    relay = Relay(db, [bus])
    await published(
        db,
        Event("job.done", "j", 1),
        Event("source.changed", "s", 2),
        Event("task.dead", "t", 3),
        Event("nobody.cares", "n", 4),
    )

    assert await relay.step() == 3
    assert sorted(jobs.seen) == [("j", 1), ("t", 3)]
    assert sources.seen == [("s", 2)]
    assert await rows(db, "outbox") == 0


async def test_what_is_rolled_back_never_happened(db: Database) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)

    async def doomed() -> None:
        async with db.begin() as tx:
            await publish(tx, Event("a", "k", 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await doomed()
    await published(db, Event("a", "k", 2))

    assert await relay.step() == 1
    assert tape.seen == [("k", 2)]


async def test_publishing_rings_the_doorbell(db: Database) -> None:
    heard: list[str] = []
    async with db.listen(heard.append):
        await published(db, Event("a", "k", 1))
    assert "outbox" in heard


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (Event("no spaces", "k", 1), "topic"),
        (Event("주제", "k", 1), "topic"),
        (Event("a" * 101, "k", 1), "topic"),
        (Event("a", "", 1), "key"),
        (Event("a", "k" * 201, 1), "key"),
        (Event("a", "k\0", 1), "key"),
        (Event("a", "k", "x" * 1_000_001), "payload"),
        (Event("a", "k", "NUL \0"), "payload"),
    ],
)
async def test_an_impossible_event_is_refused_and_nothing_is_written(
    small_db: Database, event: Event, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        await published(small_db, Event("a", "k", 1), event)
    assert caught.value.field == field
    assert await rows(small_db, "outbox") == 0


async def test_a_failing_key_waits_alone_and_keeps_its_order(db: Database, clock: ManualClock) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    tape.hates = {"a2": ValueError("not today")}
    await published(db, *(Event("t", key, f"{key}{n}") for n in (1, 2, 3) for key in ("a", "b")))

    assert await relay.step() == 4
    assert tape.of("a") == ["a1"]
    assert tape.of("b") == ["b1", "b2", "b3"]

    await published(db, Event("t", "a", "a4"), Event("t", "b", "b4"))
    assert await relay.step() == 1  # b goes on, a waits for its back-off
    assert tape.of("b")[-1] == "b4"
    due = await relay.due()
    assert due is not None
    assert 7.5 <= (due - clock.now()).total_seconds() <= 10

    tape.hates = {}
    clock.advance(seconds=10)
    assert await relay.step() == 3
    assert tape.of("a") == ["a1", "a2", "a3", "a4"]
    assert await relay.due() is None


async def test_poison_becomes_a_dead_letter_the_key_goes_on_and_it_can_be_driven_again(
    db: Database, clock: ManualClock
) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    tape.hates = {"bad": ValueError("독 postgresql://user:hunter2@db/x")}
    await published(db, Event("t", "k", "bad"), Event("t", "k", "good"))

    assert await relay.step() == 0
    clock.advance(seconds=10)
    assert await relay.step() == 0  # the second and last try
    assert await relay.step() == 1
    assert tape.seen == [("k", "good")]

    tape_row = await only(db)
    async with db.read() as tx:
        (letter,) = await subscriptions.dead_letters(tx, tape_row.id)
        assert await subscriptions.backlogs(tx) == {tape_row.id: Backlog(pending=0, dead=1)}
    assert (letter.event.payload, letter.attempts) == ("bad", 2)
    assert letter.error == "ValueError: 독 postgresql://user:***@db/x"
    assert letter.died_at == clock.now()
    assert await relay.due() is None

    tape.hates = {}
    async with db.begin() as tx:
        assert await subscriptions.redrive(tx, tape_row.id, events=[letter.event.id]) == 1
        assert await subscriptions.redrive(tx, tape_row.id) == 0
    assert await relay.step() == 1
    assert tape.seen == [("k", "good"), ("k", "bad")]
    assert await rows(db, "deliveries") == 0


async def test_an_event_its_consumer_calls_invalid_is_dead_at_once(db: Database) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    tape.hates = {"bad": Invalid("no such field")}
    await published(db, Event("t", "k", "bad"), Event("t", "k", "good"))

    assert await relay.step() == 0
    assert await relay.step() == 1
    subscription = await only(db)
    async with db.begin() as tx:
        (letter,) = await subscriptions.dead_letters(tx, subscription.id)
        assert await subscriptions.discard(tx, subscription.id, [letter.event.id]) == 1
    assert await rows(db, "deliveries") == 0


async def test_a_paused_subscriber_misses_nothing(db: Database) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    subscription = await only(db)
    async with db.begin() as tx:
        await subscriptions.pause(tx, subscription.id, "점검")
    await published(db, Event("t", "k", 1), Event("t", "k", 2))

    assert await relay.step() == 0
    assert await relay.due() is None
    paused = await only(db)
    assert (paused.state, paused.paused_reason) == (SubscriptionState.PAUSED, "점검")

    async with db.begin() as tx:
        await subscriptions.resume(tx, subscription.id)
    assert await relay.step() == 2
    assert tape.of("k") == [1, 2]
    assert (await only(db)).paused_reason is None


async def test_a_busy_key_holds_up_nobody_and_stays_in_order(db: Database) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    await published(db, *(Event("t", "busy", n) for n in range(150)), *(Event("t", f"quiet{n}", n) for n in range(20)))
    for _ in range(4):  # all of it is routed before the first delivery counts
        await relay._route(60)

    assert await relay.step(60) == 50  # half for the busy key, and the twenty others
    assert {key for key, _ in tape.seen} == {"busy", *(f"quiet{n}" for n in range(20))}
    while await relay.step(60):
        pass
    assert tape.of("busy") == list(range(150))
    assert len(tape.seen) == 170


@pytest.mark.parametrize("url", ["postgres", "mariadb"], indirect=True)  # SQLite has one writer
async def test_events_are_not_skipped_when_ids_are_not_in_commit_order(db: Database, other_db: Database) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    async with db.begin() as slow:
        await publish(slow, Event("t", "slow", 1))
        await published(other_db, Event("t", "fast", 2))
        assert await relay.step() == 1
    assert await relay.step() == 1
    assert tape.seen == [("fast", 2), ("slow", 1)]


async def test_what_nobody_takes_expires_and_is_forgotten(db: Database, clock: ManualClock) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    subscription = await only(db)
    async with db.begin() as tx:
        await subscriptions.pause(tx, subscription.id, "gone")
    await published(db, Event("t", "k", 1))
    await relay.step()

    assert await relay.prune() == 0
    clock.advance(days=8)
    assert await relay.prune() == 1
    async with db.read() as tx:
        (letter,) = await subscriptions.dead_letters(tx, subscription.id)
    assert letter.error == "nobody took it in time"

    async with db.begin() as tx:
        await subscriptions.resume(tx, subscription.id)
    assert await relay.step() == 0
    assert await relay.due() is None  # the empty key went with the first look at it
    clock.advance(days=31)
    assert await relay.prune() == 1
    assert await rows(db, "deliveries") == 0


async def test_a_removed_subscription_takes_its_backlog_along(db: Database) -> None:
    tape = Tape()
    relay = await relay_for(db, tape)
    subscription = await only(db)
    async with db.begin() as tx:
        await subscriptions.pause(tx, subscription.id, "soon gone")
    await published(db, Event("t", "k", 1))
    await relay.step()

    async with db.begin() as tx:
        await subscriptions.remove(tx, subscription.id)
    assert await relay.step() == 0
    assert [await rows(db, table) for table in ("subscriptions", "deliveries", "delivery_keys")] == [0, 0, 0]


async def test_a_consumer_of_another_program_is_left_to_it(db: Database) -> None:
    here, there = Tape(), Tape()
    relay = await relay_for(db, here, name="here")
    elsewhere = await relay_for(db, there, name="there")
    await published(db, Event("t", "k", 1))

    assert await relay.step() == 1
    assert there.seen == []
    assert await relay.due() is None
    assert await elsewhere.step() == 1
    assert (here.seen, there.seen) == ([("k", 1)], [("k", 1)])


async def test_installing_again_changes_topics_and_keeps_the_rest(db: Database) -> None:
    await relay_for(db, Tape(), topics="a")
    before = await only(db)
    async with db.begin() as tx:
        await subscriptions.pause(tx, before.id, "by hand")
    await relay_for(db, Tape(), topics="a b.*")
    after = await only(db)
    assert (after.id, after.topics, after.state) == (before.id, "a b.*", SubscriptionState.PAUSED)


async def test_a_broken_bus_costs_no_event_an_attempt(db: Database, clock: ManualClock) -> None:
    class Broken(InProcess):
        def open(self, subscription: subscriptions.Subscription) -> Subscriber:
            return Short()

    class Short:
        patience = TWO_TRIES

        async def deliver(self, events: Sequence[Event]) -> Sequence[Outcome]:
            return []

    bus = Broken()
    bus.subscribe("tape", "*", Tape())
    await bus.install(db)
    relay = Relay(db, [bus])
    await published(db, Event("t", "k", 1))
    for _ in range(5):
        assert await relay.step() == 0
        clock.advance(hours=1)
    held = await only(db)
    assert (held.failures, held.last_error) == (5, "the bus gave 0 outcomes for 1 events")
    tape = Tape()
    relay = await relay_for(db, tape)
    assert await relay.step() == 1
    assert (await only(db)).failures == 0


async def test_a_transaction_can_be_handed_to_the_consumer(db: Database) -> None:
    async def consume(tx: Tx, events: Sequence[Event]) -> None:
        await publish(tx, *(Event("echo", event.key, event.payload) for event in events))

    tape = Tape()
    bus = InProcess()
    bus.subscribe_in_tx("echo", "t", consume)
    bus.subscribe("tape", "echo", tape)
    await bus.install(db)
    relay = Relay(db, [bus])
    await published(db, Event("t", "k", 1))
    assert await relay.step() == 1
    assert await relay.step() == 1
    assert tape.seen == [("k", 1)]
