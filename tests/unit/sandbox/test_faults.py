"""A fault befalls the calls it is meant for, as often as it says, and the same ones when a run is repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid, Missing
from bobusang.sandbox.fault import Fault, Faults, Hit, parse


def befallen(fault: Fault, calls: int) -> list[int]:
    faults = Faults()
    faults.add(fault)
    return [call for call in range(1, calls + 1) if faults.befall("okmall", "list", "/x?page=1", "ua")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("okmall:list:http_429:0.1", Fault(mall="okmall", endpoint="list", kind="http_429", share=0.1)),
        ("okmall:list:http_429:0.1:30", Fault(mall="okmall", endpoint="list", kind="http_429", share=0.1, seconds=30)),
        ("mustit:*:stall:3", Fault(mall="mustit", kind="stall", count=3)),
        ("*:*:reset", Fault(kind="reset")),
    ],
)
def test_a_fault_is_written_on_the_command_line(text: str, fault: Fault) -> None:
    assert parse(text) == fault


@pytest.mark.parametrize(
    "text", ["", "okmall", "okmall:list", "a:b:nonsense", "a:b:reset:x", "a:b:reset:1:2:3", "a:b:reset:1.5"]
)
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse(text)


def test_a_fault_of_no_known_kind_suggests_one() -> None:
    with pytest.raises(Invalid, match=r"there is no fault 'zip_bom'.*did you mean 'zip_bomb'"):
        Fault(kind="zip_bom")


def test_a_count_is_used_up() -> None:
    assert befallen(Fault(kind="reset", count=2), 5) == [1, 2]
    assert befallen(Fault(kind="reset", count=2, after=1), 5) == [2, 3]
    assert befallen(Fault(kind="reset"), 3) == [1, 2, 3]


@given(share=st.floats(0, 1), seed=st.integers(0, 2**63))
def test_a_share_is_kept_and_repeats(share: float, seed: int) -> None:
    fault = Fault(kind="reset", share=share, seed=seed)
    found = befallen(fault, 500)

    assert found == befallen(fault, 500)
    assert abs(len(found) / 500 - share) < 0.12


def test_only_what_is_meant_is_befallen() -> None:
    faults = Faults()
    fault = Fault(mall="okmall", endpoint="list", kind="stall", match="page=3", agent="robot")
    id = faults.add(fault)
    calls = [
        ("mustit", "list", "/x?page=3", "robot"),
        ("okmall", "detail", "/x?page=3", "robot"),
        ("okmall", "list", "/x?page=2", "robot"),
        ("okmall", "list", "/x?page=3", "person"),
        ("okmall", "list", "/x?page=3", "a robot"),
    ]

    assert [faults.befall(*call) for call in calls] == [None, None, None, None, Hit(fault, 1)]
    assert [(one["id"], one["seen"], one["hits"]) for one in faults.listed()] == [(id, 1, 1)]

    faults.remove(id)
    assert faults.befall(*calls[-1]) is None
    with pytest.raises(Missing):
        faults.remove(id)


def test_faults_are_bounded() -> None:
    faults = Faults()
    for _ in range(100):
        faults.add(Fault(kind="reset"))

    with pytest.raises(Invalid, match="100 faults are enough"):
        faults.add(Fault(kind="reset"))
