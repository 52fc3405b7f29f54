"""Which lane a free slot claims from: fair shares, blocks that are asked again, and cursors that miss nothing."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from bobusang.engine.board import ASK_AGAIN, BELIEVED, Board, Spot
from bobusang.engine.budgets import Grant
from bobusang.engine.lanes import Lane
from bobusang.engine.model import Entry, QueueType
from bobusang.engine.queue import START, Claim, Cursor

NOW = datetime(2026, 1, 27, 12, tzinfo=UTC)
HIGH, NORMAL, LOW = QueueType
FULL = Grant(0, None, "mall has 32 in flight", "mall", is_used_up=True)
SHORT = Grant(0, None, "mall has 31 in flight", "mall")


def lane(number: int, handler: str = "work", *pools: str) -> Lane:
    return Lane(number, handler, 0, pools)


def board(*lanes: Lane) -> Board:
    found = Board()
    found.learn([(one, 1) for one in lanes])
    return found


def claim(spot: Spot, *dues: int, queue: QueueType = NORMAL) -> Claim:
    entries = tuple(Entry(due, 1, spot.lane.id, due, queue, 5, 0, 1) for due in dues)
    return Claim(1, spot.lane.id, entries, NOW)


def took(board: Board, spot: Spot, *dues: int, asked: int = 1, queue: QueueType = NORMAL) -> None:
    board.claimed(spot, board.look(spot), claim(spot, *dues, queue=queue) if dues else None, asked)


def picked(board: Board, handler: str = "work", now: datetime = NOW) -> int | None:
    spot = board.pick(handler, now)
    return None if spot is None else spot.lane.id


def test_a_slot_gets_lanes_of_its_handler_only() -> None:
    lanes = board(lane(1, "fetch"), lane(2, "store"))

    assert (picked(lanes, "fetch"), picked(lanes, "store"), picked(lanes, "ship")) == (1, 2, None)


def test_lanes_that_compete_get_equal_turns() -> None:
    lanes = board(lane(1), lane(2), lane(3))
    turns: Counter[int] = Counter()
    for due in range(300):
        spot = lanes.pick("work", NOW)
        assert spot is not None
        turns[spot.lane.id] += 1
        took(lanes, spot, due)

    assert turns == {1: 100, 2: 100, 3: 100}


def test_urgent_lanes_get_more_turns_and_no_lane_starves() -> None:
    lanes = board(lane(0), lane(1), lane(2))
    turns: Counter[int] = Counter()
    for due in range(210):
        spot = lanes.pick("work", NOW)
        assert spot is not None
        turns[spot.lane.id] += 1
        took(lanes, spot, due, queue=QueueType(spot.lane.id))

    assert turns[HIGH] > 3 * turns[NORMAL] > 3 * turns[LOW] > 0


def test_a_new_lane_does_not_make_up_for_the_time_it_was_not_there() -> None:
    lanes = board(lane(1))
    for due in range(100):
        took(lanes, lanes.spots[1], due)
    lanes.learn([(lane(1), None), (lane(2), 1)])
    turns: Counter[int] = Counter()
    for due in range(20):
        spot = lanes.pick("work", NOW)
        assert spot is not None
        turns[spot.lane.id] += 1
        took(lanes, spot, 1000 + due)

    assert turns == {1: 10, 2: 10}


def test_a_lane_found_empty_is_not_asked_until_it_is_rung_for() -> None:
    lanes = board(lane(1))
    took(lanes, lanes.spots[1], asked=5)
    assert picked(lanes) is None

    lanes.hear("ready:1:7")
    assert picked(lanes) == 1
    assert lanes.bell(lanes.spots[1].lane.handler).is_set()
    assert not lanes.bell("another handler").is_set()


def test_a_lane_found_empty_is_learnt_of_again() -> None:
    lanes = board(lane(1))
    took(lanes, lanes.spots[1], asked=5)

    assert not lanes.learn([(lane(1), None)])
    assert lanes.learn([(lane(1), 3)])
    assert picked(lanes) == 1


def test_a_lane_that_is_gone_is_forgotten() -> None:
    lanes = board(lane(1), lane(2))
    lanes.learn([(lane(2), None)])

    assert list(lanes.spots) == [2]


def test_a_ring_during_a_claim_keeps_the_lane_stocked() -> None:
    lanes = board(lane(1))
    spot = lanes.spots[1]
    look = lanes.look(spot)
    lanes.hear("ready:1:7")
    lanes.claimed(spot, look, None, 5)

    assert picked(lanes) == 1


def test_an_idle_slot_leaves_a_lane_to_whoever_claims_from_it_and_is_told_when_something_is_left() -> None:
    lanes = board(lane(1), lane(2))
    first, bell = lanes.spots[1], lanes.bell("work")
    look = lanes.look(first)
    assert (lanes.pick("work", NOW), lanes.pick("work", NOW, idle=True)) == (first, lanes.spots[2])

    bell.clear()
    lanes.claimed(first, look, claim(first, 1, 2), 2)
    assert (bell.is_set(), lanes.pick("work", NOW, idle=True)) == (True, lanes.spots[2])

    bell.clear()
    took(lanes, first, 3, asked=2)
    assert (bell.is_set(), first.stocked) == (False, False)

    lanes.lost(first, lanes.look(first))
    assert (bell.is_set(), first.stocked) == (True, True)


def test_the_cursor_follows_the_claims_and_a_short_batch_leaves_the_lane_empty() -> None:
    lanes = board(lane(1))
    spot = lanes.spots[1]
    took(lanes, spot, 1, 2, 3, asked=3)
    assert (spot.cursor, spot.stocked) == (Cursor(3, 3), True)

    took(lanes, spot, 4, asked=3)
    assert (spot.cursor, spot.stocked) == (Cursor(4, 4), False)

    lanes.hear("ready:1:9")  # what comes later is ahead of the cursor
    assert (spot.cursor, spot.stocked) == (Cursor(4, 4), True)
    lanes.hear("ready:1:2")  # what comes late is not
    assert spot.cursor == Cursor(1)


def test_a_look_at_all_lanes_finds_what_nobody_rang_for() -> None:
    lanes = board(lane(1))
    spot = lanes.spots[1]
    took(lanes, spot, 5, asked=3)

    assert lanes.learn([(lane(1), 2)])
    assert (spot.cursor, spot.stocked) == (Cursor(1), True)


def test_the_cursor_goes_back_for_what_is_rung_before_it() -> None:
    lanes = board(lane(1))
    spot = lanes.spots[1]
    took(lanes, spot, 100, 200, asked=2)
    lanes.hear("ready:1:150")
    assert spot.cursor == Cursor(149)

    look = lanes.look(spot)
    lanes.hear("ready:1:120")
    lanes.claimed(spot, look, claim(spot, 150, 250), 2)
    assert spot.cursor == Cursor(119)


def test_a_claim_that_failed_lets_the_next_begin_at_the_start() -> None:
    lanes = board(lane(1))
    spot = lanes.spots[1]
    took(lanes, spot, 100, asked=1)
    lanes.lost(spot, lanes.look(spot))

    assert (spot.cursor, spot.looks) == (START, [])


def test_a_lane_that_just_got_work_is_left_to_ripen_and_one_that_has_more_is_not() -> None:
    tick, second = 0.0, timedelta(seconds=1)
    lanes = Board(ticks=lambda: tick)
    lanes.learn([(lane(1), 1), (lane(2, "another"), 1)])
    assert (lanes.pick("work", NOW, linger=second), lanes.ripens_in("work", second)) == (None, 1.0)
    assert picked(lanes) == 1  # who does not linger

    tick = 0.75
    lanes.hear("ready:1:2")  # what comes later does not begin it anew
    assert lanes.ripens_in("work", second) == 0.25
    tick = 1.0
    spot = lanes.pick("work", NOW, linger=second)
    assert spot is lanes.spots[1]
    assert lanes.ripens_in("work", second) is None

    took(lanes, spot, 1, 2, asked=2)  # a full batch: more is there
    assert lanes.pick("work", NOW, linger=second) is spot
    look = lanes.look(spot)
    lanes.hear("ready:1:3")
    lanes.claimed(spot, look, claim(spot, 3), 2)  # a short one, and something came meanwhile
    assert (spot.stocked, lanes.pick("work", NOW, linger=second)) == (True, None)


def test_what_is_urgent_ripens_its_lane_at_once() -> None:
    second = timedelta(seconds=1)
    lanes = Board(ticks=lambda: 0.0)
    lanes.learn([(lane(1), 1)])
    spot, bell = lanes.spots[1], lanes.bell("work")
    bell.clear()
    assert lanes.pick("work", NOW, linger=second) is None
    lanes.hear("ready:1:5:now")
    assert (bell.is_set(), lanes.pick("work", NOW, linger=second)) == (True, spot)

    look = lanes.look(spot)
    lanes.hear("ready:1:6:now")
    lanes.hear("ready:1:7")
    lanes.claimed(spot, look, claim(spot, 5), 2)
    assert lanes.pick("work", NOW, linger=second) is spot


def test_a_freed_pool_wakes_only_those_who_wait_for_one() -> None:
    lanes = board(lane(1, "fetch", "mall"), lane(2, "store"))
    lanes.block(lanes.spots[1], FULL, NOW)
    for name in ("fetch", "store"):
        lanes.bell(name).clear()
    lanes.hear("freed:mall")

    assert (lanes.bell("fetch").is_set(), lanes.bell("store").is_set()) == (True, False)


def test_an_idle_slot_leaves_lanes_of_a_pool_that_is_being_asked_and_is_told_when_it_was() -> None:
    lanes = board(
        lane(1, "fetch", "mall", "mall:list"), lane(2, "fetch", "mall", "mall:item"), lane(3, "store", "mall")
    )
    first, bells = lanes.spots[1], [lanes.bell("fetch"), lanes.bell("store")]
    look = lanes.look(first)
    left = [lanes.pick(name, NOW, idle=True) for name in ("fetch", "store")]

    for bell in bells:
        bell.clear()
    lanes.claimed(first, look, claim(first, 1), 2)

    assert left == [None, None]
    assert [bell.is_set() for bell in bells] == [True, True]
    assert [lanes.pick(name, NOW, idle=True) for name in ("fetch", "store")] == [lanes.spots[2], lanes.spots[3]]


def test_what_a_pool_gives_nobody_no_lane_of_it_asks_for() -> None:
    lanes = board(lane(1, "fetch", "mall", "mall:list"), lane(2, "store", "mall"), lane(3, "fetch", "other"))
    lanes.block(lanes.spots[1], FULL, NOW)

    assert (picked(lanes, "fetch"), picked(lanes, "store")) == (3, None)
    lanes.hear("freed:mall:list,other")
    assert picked(lanes, "store") is None
    lanes.hear("freed:mall:list,mall")
    assert (picked(lanes, "fetch"), picked(lanes, "store")) == (1, 2)


def test_what_a_pool_gives_one_lane_too_little_of_may_do_for_another() -> None:
    lanes = board(lane(1, "fetch", "mall"), lane(2, "store", "mall"))
    lanes.block(lanes.spots[1], SHORT, NOW)

    assert (picked(lanes, "fetch"), picked(lanes, "store")) == (None, 2)


def test_who_frees_a_pool_may_take_what_it_refused() -> None:
    lanes = board(lane(1, "fetch", "mall"), lane(2, "fetch", "mall"))
    took(lanes, lanes.spots[1], 1, 2)
    lanes.block(lanes.spots[1], FULL, NOW)

    assert lanes.pick("fetch", NOW) is None
    assert lanes.pick("fetch", NOW, frees={"mall:list"}) is None
    assert lanes.pick("fetch", NOW, frees={"mall:list", "mall"}) is lanes.spots[2]


def test_who_frees_a_pool_leaves_it_to_another_handler_that_had_less_of_it() -> None:
    lanes = board(lane(1, "fetch", "mall"), lane(2, "store", "mall"))
    took(lanes, lanes.spots[1], 1, 2, asked=2)
    lanes.block(lanes.spots[1], FULL, NOW)

    assert lanes.pick("fetch", NOW, frees={"mall"}) is None
    took(lanes, lanes.spots[2], 3, 4, 5, asked=3)
    lanes.block(lanes.spots[2], FULL, NOW)
    assert lanes.pick("fetch", NOW, frees={"mall"}) is lanes.spots[1]


def test_a_ring_for_a_lane_that_is_known_to_have_work_wakes_nobody() -> None:
    lanes = board(lane(1))
    bell = lanes.bell("work")
    bell.clear()
    lanes.hear("ready:1:5")
    assert not bell.is_set()

    took(lanes, lanes.spots[1], 1, asked=2)
    lanes.hear("ready:1:6")
    assert bell.is_set()


def test_a_blocked_lane_is_asked_again_after_a_while() -> None:
    lanes = board(lane(1, "work", "mall"))
    lanes.block(lanes.spots[1], Grant(0, NOW + timedelta(days=1), "403"), NOW)

    assert picked(lanes) is None
    assert lanes.wakes_at("work") == NOW + BELIEVED
    assert picked(lanes, now=NOW + BELIEVED) == 1


def test_a_block_that_ends_soon_is_believed_to_its_end() -> None:
    lanes = board(lane(1, "work", "mall"))
    lanes.block(lanes.spots[1], Grant(0, NOW + timedelta(seconds=0.5), "429"), NOW)

    assert lanes.wakes_at("work") == NOW + timedelta(seconds=0.5)


def test_a_full_lane_waits_for_something_to_finish_or_for_a_moment() -> None:
    lanes = board(lane(1, "work", "mall"), lane(2, "work", "other"))
    lanes.block(lanes.spots[1], FULL, NOW)
    lanes.block(lanes.spots[2], Grant(0, NOW + timedelta(seconds=3), "429"), NOW)
    assert picked(lanes) is None
    assert picked(lanes, now=NOW + ASK_AGAIN) == 1

    lanes.block(lanes.spots[1], FULL, NOW)
    lanes.hear("freed:mall")
    assert picked(lanes) == 1
    lanes.block(lanes.spots[1], FULL, NOW)
    lanes.hear("")
    assert picked(lanes) == 1
    assert lanes.spots[2].blocked_until is not None


def test_a_changed_budget_opens_every_lane() -> None:
    lanes = board(lane(1, "work", "mall"), lane(2, "work", "other"))
    lanes.block(lanes.spots[1], FULL, NOW)
    lanes.block(lanes.spots[2], Grant(0, NOW + timedelta(days=1), "403"), NOW)
    lanes.hear("pools")

    assert (lanes.spots[1].blocked_until, lanes.spots[2].blocked_until) == (None, None)


def test_a_lane_nobody_knows_yet_is_news() -> None:
    lanes = board(lane(1))
    lanes.hear("ready:9:1")
    assert lanes.news.is_set()
    lanes.news.clear()
    lanes.hear("lane:9")
    assert lanes.news.is_set()


def test_what_is_not_for_workers_wakes_nobody() -> None:
    lanes = board(lane(1))
    bell = lanes.bell(lanes.spots[1].lane.handler)
    bell.clear()
    for note in ("deltas", "jobs", "sweep", "halted:mall", "outbox"):
        lanes.hear(note)

    assert not bell.is_set()
    assert not lanes.news.is_set()
