"""The signed HTTP subscriber against a real server on loopback."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.platform import subscriptions
from bobusang.platform.bus import Event, Patience, publish
from bobusang.platform.buses.http import Http
from bobusang.platform.buses.signature import verify
from bobusang.platform.relay import Relay
from bobusang.platform.tables import SubscriptionState
from bobusang.testing.workshop import PATIENCE
from tests.integration.platform.receiver import Answer, Receiver, Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database
    from bobusang.platform.subscriptions import Subscription
    from tests.integration.platform.manual import ManualClock

SECRET = "whsec_a-secret-of-the-tests"
THREE_TRIES = Patience(base=10, cap=60, attempts=3)


@pytest.fixture
async def bus(clock: ManualClock) -> AsyncIterator[Http]:
    bus = Http(clock=clock, allow_private=True, patience=THREE_TRIES, timeout=5)
    yield bus
    await bus.close()


async def subscribed(db: Database, url: str) -> int:
    async with db.begin() as tx:
        return await subscriptions.create(tx, name="internal", topics="job.*", url=url, secret=SECRET)


async def published(db: Database, *events: Event) -> None:
    async with db.begin() as tx:
        await publish(tx, *events)


async def only(db: Database) -> Subscription:
    async with db.read() as tx:
        (found,) = await subscriptions.listed(tx)
        return found


async def test_a_signed_post_carries_the_whole_event(
    small_db: Database, bus: Http, receiver: Receiver, clock: ManualClock
) -> None:
    await subscribed(small_db, receiver.url)
    await published(small_db, Event("job.done", "잡:7", {"상태": "끝 ✅"}, headers={"trace": "t1"}))

    assert await Relay(small_db, [bus]).step() == 1
    (request,) = receiver.requests
    verify(SECRET, request.headers["bobusang-signature"], request.body, clock.now())
    assert request.path == "/events"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["bobusang-topic"] == "job.done"
    assert request.headers["user-agent"].startswith("bobusang/")
    assert request.json == {
        "id": int(request.headers["bobusang-event-id"]),
        "topic": "job.done",
        "key": "잡:7",
        "created_at": "2026-01-27T09:00:00Z",
        "payload": {"상태": "끝 ✅"},
        "headers": {"trace": "t1"},
    }


async def test_keys_keep_their_order_while_the_server_fails(
    db: Database, bus: Http, receiver: Receiver, clock: ManualClock
) -> None:
    taken: dict[str, list[int]] = {}
    tries: Counter[int] = Counter()

    async def every_third_fails_once(request: Request) -> Answer:
        event = request.json
        tries[event["id"]] += 1
        if event["payload"] % 3 == 0 and tries[event["id"]] == 1:
            return Answer(500)
        taken.setdefault(event["key"], []).append(event["payload"])
        return Answer(204, body=b"")

    receiver.respond = every_third_fails_once
    await subscribed(db, receiver.url)
    relay = Relay(db, [bus])
    await published(db, *(Event("job.step", f"job{n % 4}", n) for n in range(40)))
    while await relay.due() is not None:
        await relay.step()
        clock.advance(seconds=10)
    assert taken == {f"job{key}": list(range(key, 40, 4)) for key in range(4)}
    assert (await only(db)).failures == 0


async def test_a_relay_killed_while_waiting_for_the_answer_sends_again(
    db: Database, bus: Http, receiver: Receiver, clock: ManualClock
) -> None:
    arrived, never = asyncio.Event(), asyncio.Event()

    async def silent(request: Request) -> Answer:
        arrived.set()
        await never.wait()
        return Answer()

    receiver.respond = silent
    await subscribed(db, receiver.url)
    relay = Relay(db, [bus])
    await published(db, Event("job.done", "k", 1))
    killed = asyncio.create_task(relay.step())
    await arrived.wait()
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)

    receiver.respond = receiver.accept
    clock.advance(seconds=60)
    assert await relay.step() == 1
    first, second = receiver.requests
    assert first.headers["bobusang-event-id"] == second.headers["bobusang-event-id"]


async def test_nothing_is_locked_while_the_answer_is_waited_for(db: Database, bus: Http, receiver: Receiver) -> None:
    id = await subscribed(db, receiver.url)

    async def publishes_and_subscribes(request: Request) -> Answer:
        async with asyncio.timeout(PATIENCE), db.begin() as tx:
            await publish(tx, Event("other", "k", 2))
            await subscriptions.pause(tx, id, "from within")
            await subscriptions.resume(tx, id)
        return Answer()

    receiver.respond = publishes_and_subscribes
    await published(db, Event("job.done", "k", 1))
    assert await Relay(db, [bus]).step() == 1


async def test_a_poison_event_dies_after_three_tries_and_can_be_driven_again(
    db: Database, bus: Http, receiver: Receiver, clock: ManualClock
) -> None:
    async def hates_one(request: Request) -> Answer:
        return Answer(422 if request.json["payload"] == 1 else 200)

    receiver.respond = hates_one
    id = await subscribed(db, receiver.url)
    relay = Relay(db, [bus])
    await published(db, Event("job.done", "k", 1), Event("job.done", "k", 2), Event("job.done", "other", 3))
    delivered = 0
    while await relay.due() is not None:
        delivered += await relay.step()
        clock.advance(seconds=60)
    assert delivered == 2
    async with db.read() as tx:
        (letter,) = await subscriptions.dead_letters(tx, id)
    assert (letter.event.payload, letter.attempts, letter.error) == (1, 3, "the subscriber answered 422")

    receiver.respond = receiver.accept
    async with db.begin() as tx:
        await subscriptions.redrive(tx, id)
    assert await relay.step() == 1
    assert receiver.requests[-1].json["payload"] == 1


async def test_429_rests_the_whole_subscriber_as_long_as_it_asks_and_costs_no_attempt(
    small_db: Database, bus: Http, receiver: Receiver, clock: ManualClock
) -> None:
    async def tired(request: Request) -> Answer:
        return Answer(429, {"Retry-After": "120"})

    receiver.respond = tired
    await subscribed(small_db, receiver.url)
    relay = Relay(small_db, [bus])
    await published(small_db, *(Event("job.done", f"k{n}", n) for n in range(30)))
    assert await relay.step() == 0
    assert len(receiver.requests) <= bus.at_once  # the rest was not even tried
    assert (await only(small_db)).hold_until == clock.now() + timedelta(seconds=120)
    assert await relay.due() == clock.now() + timedelta(seconds=120)

    asked = len(receiver.requests)
    clock.advance(seconds=119)
    assert await relay.step() == 0
    assert len(receiver.requests) == asked
    receiver.respond = receiver.accept
    clock.advance(seconds=1)
    assert await relay.step() == 30
    healthy = await only(small_db)
    assert (healthy.hold_until, healthy.failures, healthy.last_error) == (None, 0, None)


async def test_410_pauses_the_subscription_and_keeps_the_event(
    small_db: Database, bus: Http, receiver: Receiver
) -> None:
    async def gone(request: Request) -> Answer:
        return Answer(410)

    receiver.respond = gone
    id = await subscribed(small_db, receiver.url)
    relay = Relay(small_db, [bus])
    await published(small_db, Event("job.done", "k", 1))
    assert await relay.step() == 0
    paused = await only(small_db)
    assert paused.state is SubscriptionState.PAUSED
    assert "410" in (paused.paused_reason or "")

    receiver.respond = receiver.accept
    async with small_db.begin() as tx:
        await subscriptions.resume(tx, id)
    assert await relay.step() == 1


async def test_a_server_that_is_down_costs_no_attempt_and_is_asked_ever_more_seldom(
    small_db: Database, bus: Http, receiver: Receiver, clock: ManualClock
) -> None:
    up = receiver.url
    unused = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    port = unused.sockets[0].getsockname()[1]
    unused.close()
    await unused.wait_closed()
    id = await subscribed(small_db, f"http://127.0.0.1:{port}/")
    relay = Relay(small_db, [bus])
    await published(small_db, Event("job.done", "k", 1))
    waits = []
    for _ in range(12):
        assert await relay.step() == 0
        due = await relay.due()
        assert due is not None
        waits.append((due - clock.now()).total_seconds())
        clock.advance(seconds=waits[-1])
    assert waits[0] <= 1
    assert 200 <= waits[-1] <= 300

    async with small_db.begin() as tx:
        await subscriptions.remove(tx, id)
    await subscribed(small_db, up)
    await published(small_db, Event("job.done", "k", 2))
    assert await relay.step() == 1


async def test_a_redirect_is_not_followed(small_db: Database, bus: Http, receiver: Receiver) -> None:
    async def elsewhere(request: Request) -> Answer:
        return Answer(302, {"Location": receiver.url + "/secret"})

    receiver.respond = elsewhere
    await subscribed(small_db, receiver.url)
    await published(small_db, Event("job.done", "k", 1))
    assert await Relay(small_db, [bus]).step() == 0
    assert [request.path for request in receiver.requests] == ["/events"]


async def test_a_server_that_never_answers_is_given_up(
    small_db: Database, receiver: Receiver, clock: ManualClock
) -> None:
    never = asyncio.Event()

    async def silent(request: Request) -> Answer:
        await never.wait()
        return Answer()

    receiver.respond = silent
    bus = Http(clock=clock, allow_private=True, timeout=0.05)
    await subscribed(small_db, receiver.url)
    await published(small_db, Event("job.done", "k", 1))
    relay = Relay(small_db, [bus])
    assert await relay.step() == 0
    due = await relay.due()
    assert due is not None
    assert due > clock.now()
    await relay.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"])
async def test_a_private_address_is_refused_unless_allowed(
    small_db: Database, receiver: Receiver, clock: ManualClock, host: str
) -> None:
    bus = Http(clock=clock)
    await subscribed(small_db, f"http://{host}:{receiver.port}/")
    await published(small_db, Event("job.done", "k", 1))
    relay = Relay(small_db, [bus])
    assert await relay.step() == 0
    assert receiver.requests == []
    paused = await only(small_db)
    assert paused.state is SubscriptionState.PAUSED
    assert "refused" in (paused.paused_reason or "")
    await relay.close()


async def test_connections_are_used_again(small_db: Database, bus: Http, receiver: Receiver) -> None:
    opened = 0
    serve = receiver.serve

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        await serve(reader, writer)

    server = await asyncio.start_server(counted, "127.0.0.1", 0)
    await subscribed(small_db, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    await published(small_db, *(Event("job.done", "same", n) for n in range(20)))
    assert await Relay(small_db, [bus]).step() == 20
    server.close()
    assert opened == 1
    assert [request.json["payload"] for request in receiver.requests] == list(range(20))
