"""What a REGISTER task does after its product was planned: wait, come back, be skipped with the reason, or be done."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bobusang.engine.model import Entry, JobType, NewTask, Plan, QueueType, Run, Step, StepType, Task
from bobusang.engine.outcome import Done, Fail, Outcome, Skip, Snooze, Wait
from bobusang.flows.conveyor.goods import Known, Told
from bobusang.flows.conveyor.registering import (
    DOUBTED,
    GRACE,
    LONGEST_WAIT,
    REST,
    Outrun,
    Registered,
    apart,
    back,
    became,
    combined,
    done,
)
from bobusang.kit import json
from bobusang.stages.register.deciding import Chosen, Decision, Faulty, Outdated, Stopped, Waiting
from bobusang.stages.register.diffing import Idle, Kind, Urgency
from bobusang.stages.register.diffing import Step as Call
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.market import Cause, Family, Outgoing, Problem, Request
from bobusang.stages.register.planning import Planned, Postponed
from bobusang.stages.register.settling import Settled
from bobusang.stages.register.tables import CallState
from tests.unit.register.making import ACCOUNT, draft

NOW = datetime(2026, 11, 16, 3, tzinfo=UTC)
PATIENCE = ACCOUNT.policy.patience
SENT = Outgoing(5, 1, Request(Family.PRODUCT, "/products", "{}"), NOW)
PROBLEM = Problem("name", "too long", Cause.DATA, "the name is too long")


def settled(state: CallState, *problems: Problem) -> dict[int, Settled]:
    return {5: Settled(5, 1, state, "market-call:5", NOW + PATIENCE, problems)}


def planned(decision: Decision | Postponed, *, sent: bool = False) -> Planned:
    return Planned(7, decision, 1, SENT if sent else None)


CREATE = Chosen(Call(Kind.CREATE, draft(), Urgency.NEW))


@pytest.mark.parametrize(
    ("one", "answers", "outcome"),
    [
        (planned(CREATE, sent=True), settled(CallState.ACCEPTED), Wait("market-call:5", NOW + PATIENCE + GRACE)),
        (planned(CREATE, sent=True), settled(CallState.UNKNOWN), Wait("market-call:5", NOW + PATIENCE + GRACE)),
        (planned(CREATE, sent=True), settled(CallState.REJECTED, PROBLEM), Snooze(NOW, "the name is too long")),
        (
            planned(CREATE, sent=True),
            settled(CallState.CANCELLED),
            Snooze(NOW + timedelta(seconds=5), "the market did not take it now"),
        ),
        (planned(CREATE, sent=True), {}, Wait("market-call:5", NOW + PATIENCE + GRACE)),
        (planned(Waiting(9)), {}, Snooze(NOW + REST, "the market has not judged the last call yet")),
        (planned(Waiting(9, is_lost=True)), {}, Skip("held: call 9 has no verdict, and nobody sends it again")),
        (planned(Postponed(NOW + LONGEST_WAIT, "no room")), {}, Snooze(NOW + LONGEST_WAIT, "no room")),
        (
            planned(Postponed(NOW + LONGEST_WAIT * 2, "no room")),
            {},
            Skip("no room: left to the next run"),
        ),
        (planned(Stopped(Trip(Guard.CLOSED, "too many at once"), "x")), {}, Skip("held: too many at once")),
        (planned(Outdated("it is old")), {}, Skip("it is old")),
        (planned(Faulty((PROBLEM,))), {}, Skip("the market would refuse it: the name is too long")),
        (planned(Idle("as confirmed")), {}, Done(output="as confirmed")),
        (planned(Idle("no such brand", is_refused=True)), {}, Skip("no such brand")),
        (planned(Idle("no picture", is_refused=True, until=NOW + REST)), {}, Snooze(NOW + REST, "no picture")),
        (planned(Idle("no picture", is_refused=True, until=NOW + LONGEST_WAIT * 2)), {}, Skip("no picture")),
    ],
)
def test_what_a_task_does_next(one: Planned, answers: dict[int, Settled], outcome: Outcome) -> None:
    assert became(one, answers, ACCOUNT, NOW) == outcome


def task(doubts: str = "", again: tuple[int, ...] = (), stages: tuple[str, ...] = (), **prices: Any) -> Task:
    step = Step(1, 1, "register", StepType.STORE, "conveyor.register")
    said = {"stages": list(stages)} if stages else {}
    run = Run(1, Plan(1, "conveyor", 1, (step,)), JobType.FULL, 5, QueueType.NORMAL, said, {})
    told = {"id": 7, "prices": prices} | ({"doubts": doubts} if doubts else {}) | ({"again": again} if again else {})
    return Task(Entry(1, 1, 0, 0, 1, 5, 0, 0), run, step, "k", None, json.dumps(told))


QUOTE = {"reason": "undercut", "held": False}
WAIT, SKIP = Wait("market-call:5", NOW), Skip("held: too many at once")
LATER, AGAIN = Wait("market-call:6", NOW + timedelta(seconds=1)), Snooze(NOW, "under way")
NO_TOKEN = Fail("buyma/main cannot send: the secret env:TOKEN is not there")
OUTRUN = Outrun("it is old: priced anew")


@pytest.mark.parametrize(
    ("outcomes", "outcome"),
    [
        ([Done(output="as confirmed"), WAIT, SKIP], WAIT),
        ([WAIT, LATER, WAIT, AGAIN], LATER),
        ([SKIP, Done(output="as confirmed")], SKIP),
        ([SKIP, NO_TOKEN, Done(output="as confirmed")], NO_TOKEN),
        ([NO_TOKEN, AGAIN], AGAIN),
        ([NO_TOKEN, OUTRUN], OUTRUN),
        ([Done(output="as confirmed"), WAIT, SKIP, OUTRUN], OUTRUN),
        ([Done(output="as confirmed"), Done(output="as confirmed")], Registered(output="as confirmed")),
        ([], Skip("no account sells it any more")),
    ],
)
def test_a_task_waits_while_one_account_does_and_then_tells_what_is_held(
    outcomes: list[Outcome], outcome: Outcome
) -> None:
    assert combined(task(main=QUOTE), outcomes) == outcome


SHIRT = Known(7, "okmall", "500", 4, Told({}), NOW)


@pytest.mark.parametrize(
    ("one", "known", "outcome"),
    [
        (
            task(),
            SHIRT,
            Outrun(
                "it is old: priced anew",
                (NewTask({"key": "500", "version": 4, "again": [1]}, key="500:4~1", step="price", raw=True),),
            ),
        ),
        (
            task(again=(8, 9)),
            replace(SHIRT, told=Told({"gone": True})),
            Outrun(
                "it is old: priced anew",
                (
                    NewTask(
                        {"key": "500", "version": 4, "again": [8, 9, 1]},
                        key="500:4~1",
                        step="price",
                        priority=10,
                        raw=True,
                    ),
                ),
            ),
        ),
        (task(again=(7, 8, 9)), SHIRT, Outrun("it is old: left to the next run")),
        (task(stages=("REGISTER",)), SHIRT, Outrun("it is old: left to the next run")),
    ],
)
def test_what_is_outdated_goes_back_to_price_but_not_for_ever(one: Task, known: Known, outcome: Outrun) -> None:
    assert back(one, known, "it is old") == outcome


def test_a_price_that_is_still_on_its_way_is_looked_at_again_soon() -> None:
    found = combined(task(main=QUOTE | {"reason": "step"}), [Done(output="as confirmed")])
    assert found == Registered(output="as confirmed", soon=True)


def test_what_has_options_that_nobody_is_sure_of_is_not_marked_as_right() -> None:
    doubted = task(doubts="code 3 is another", main=QUOTE)

    assert combined(doubted, [Done(output="as confirmed")]) == Skip(f"as confirmed, but {DOUBTED}")
    assert done(doubted) == Skip(f"confirmed, but {DOUBTED}")


def test_of_two_that_would_wait_for_one_verdict_the_second_looks_again() -> None:
    first, other = Wait("market-call:5", NOW + PATIENCE), Wait("market-call:6", NOW + PATIENCE)

    found = apart([first, Skip("held"), first, other], NOW)

    assert found == [first, Skip("held"), Snooze(NOW + REST, "the market has not judged the last call yet"), other]
