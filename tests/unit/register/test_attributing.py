"""Whose failure a webhook tells of, by the name of the request and the names that were never learnt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bobusang.stages.register.attributing import Earlier, doubt
from bobusang.stages.register.calls import MarketCall
from bobusang.stages.register.diffing import Kind, Urgency
from bobusang.stages.register.market import Family, Request
from bobusang.stages.register.tables import CallState
from bobusang.testing.clock import NOON
from tests.unit.register.making import draft

LOST = MarketCall(
    *(9, 1, 1, Kind.EDIT, Urgency.CONTENT, Request(Family.PRODUCT, "/", "{}"), draft(), CallState.UNKNOWN),
    token=1,
    sends=1,
    due_at=NOON,
    created_at=NOON,
)
KNOWN = replace(LOST, state=CallState.ACCEPTED, request_uid="u9")
ACCEPTED = Earlier(3, "u3", CallState.SUPERSEDED, 1)
NAMELESS = Earlier(4, "", CallState.SUPERSEDED, 1)
SENT_TWICE = Earlier(5, "u5", CallState.CONFIRMED, 2)
REFUSED_AT_ONCE = Earlier(6, "", CallState.REJECTED, 1)
STAYS = "call 9 stays open, and is sent again"


@pytest.mark.parametrize(
    ("uid", "call", "earlier", "said"),
    [
        ("u9", KNOWN, [NAMELESS], ""),
        ("u3", KNOWN, [ACCEPTED], "it is about the request u3"),
        ("u9", LOST, [], ""),
        ("u9", LOST, [ACCEPTED, REFUSED_AT_ONCE, Earlier(9, "", CallState.UNKNOWN, 1)], ""),
        ("u3", LOST, [ACCEPTED, NAMELESS], "it is about the request u3 of call 3"),
        ("u9", LOST, [ACCEPTED, NAMELESS], f"it may be about call 4: {STAYS}"),
        ("u9", LOST, [NAMELESS, SENT_TWICE], f"it may be about call 4, 5: {STAYS}"),
        ("", LOST, [], ""),
        ("", KNOWN, [ACCEPTED], f"it may be about call 3: {STAYS}"),
    ],
)
def test_a_failure_is_believed_of_a_call_only_if_it_can_be_of_no_other(
    uid: str, call: MarketCall, earlier: list[Earlier], said: str
) -> None:
    assert doubt(uid, call, earlier) == said
