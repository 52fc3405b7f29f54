"""Sessions end, shelves and journals are bounded, pictures are pictures."""

from __future__ import annotations

from struct import unpack

from hypothesis import given
from hypothesis import strategies as st

from bobusang.sandbox.journal import Journal
from bobusang.sandbox.mustit.sessions import Sessions, Visitor, identity
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, Shelf
from bobusang.testing.clock import ManualClock


def sessions(clock: ManualClock, calls: int = 0) -> Sessions:
    return Sessions(calls, 60.0, lambda: clock.now().timestamp())


def test_a_token_is_worth_so_many_calls() -> None:
    found = sessions(ManualClock(), 2)
    issued = found.issue()
    visits = [found.visitor(issued["token"]) for _ in range(3)]

    assert visits == [Visitor(issued["nid"], 1), Visitor(issued["nid"], 2), Visitor(issued["nid"], 3)]
    assert [found.spent(visit) for visit in visits if visit] == [False, False, True]
    assert identity(f"Bearer {issued['token']}") == issued["nid"]


def test_a_token_ends_and_cannot_be_forged_or_kept_after_a_reset() -> None:
    clock = ManualClock()
    found, other = sessions(clock), sessions(clock)
    token = found.issue()["token"]
    forged = token[:-4] + ("AAAA" if not token.endswith("AAAA") else "BBBB")

    assert [found.visitor(text) for text in (forged, "", "a.b.c", other.issue()["token"])] == [None] * 4
    clock.advance(seconds=59)
    assert found.visitor(token) is not None
    clock.advance(seconds=1)
    assert found.visitor(token) is None
    found.revoke()
    assert found.visitor(found.issue()["token"]) is not None


@given(text=st.text())
def test_any_text_is_looked_at_as_a_token_without_harm(text: str) -> None:
    assert sessions(ManualClock()).visitor(text) is None
    assert isinstance(identity(text), str)


@given(sizes=st.lists(st.integers(0, 400), max_size=40))
def test_a_shelf_never_holds_more_than_it_may_unless_one_thing_alone_does(sizes: list[int]) -> None:
    shelf = Shelf(most=1000)
    for key, size in enumerate(sizes):
        shelf.get(key, lambda size=size: Reply(bytes(size)))  # type: ignore[misc]

        assert shelf.weight <= 1000


def test_a_shelf_renders_once() -> None:
    shelf, made = Shelf(), []

    def render() -> Reply:
        made.append(1)
        return Reply(b"page")

    assert [shelf.get("a", render).body, shelf.get("a", render).body, made] == [b"page", b"page", [1]]


def test_a_journal_tells_calls_and_counts() -> None:
    clock = ManualClock()
    journal = Journal(lambda: clock.now().timestamp())
    first = journal.begin("okmall", "list", "/a", "ua", "")
    second = journal.begin("mustit", "detail", "/b", "ua", "t1")
    first.status, second.status, second.fault = 200, 429, "http_429"
    journal.end(first)
    journal.end(second)
    at = clock.now().timestamp()

    assert journal.log(mall="mustit") == {
        "items": [
            {
                "at": at,
                "mall": "mustit",
                "endpoint": "detail",
                "path": "/b",
                "agent": "ua",
                "token": "t1",
                "status": 429,
                "fault": "http_429",
            }
        ],
        "forgotten": 0,
    }
    assert journal.counts() == {
        "total": 2,
        "asked": 2,
        "requests": [
            {"mall": "mustit", "endpoint": "detail", "status": 429, "count": 1},
            {"mall": "okmall", "endpoint": "list", "status": 200, "count": 1},
        ],
        "tokens": {"t1": 1},
        "most_in_flight": {"okmall": 1, "mustit": 1},
    }


def test_a_journal_is_bounded() -> None:
    journal = Journal(kept=100)
    for _ in range(103):
        journal.end(journal.begin("okmall", "list", "/a", "ua", ""))

    found = journal.log()
    assert (len(found["items"]), found["forgotten"], journal.total) == (100, 3, 103)


def blocks(scan: bytes) -> int:
    """How many blocks a scan of ours holds, read bit by bit as a decoder would."""
    bits = "".join(f"{byte:08b}" for byte in scan.replace(b"\xff\0", b"\xff"))
    at = count = 0
    while len(bits) - at >= 8 or "0" in bits[at:]:
        at += 4 + int(bits[at : at + 4], 2)
        assert bits[at] == "0", "after its mean a block is at its end"
        at += 1
        count += 1
    return count


def test_a_picture_is_a_whole_jpeg_of_its_size() -> None:
    picture = jpeg("/okimg/500000/img500000_big.JPG", 64, 40)
    at, segments = 2, {}
    while picture[at + 1] != 0xDA:
        marker, length = unpack(">xBH", picture[at : at + 4])
        segments[marker] = picture[at + 4 : at + 2 + length]
        at += 2 + length
    scan = picture[at + 2 + unpack(">H", picture[at + 2 : at + 4])[0] : -2]

    assert (picture[:2], picture[-2:]) == (b"\xff\xd8", b"\xff\xd9")
    assert unpack(">BHHB", segments[0xC0][:6]) == (8, 40, 64, 3)
    assert blocks(scan) == 8 * 5 * 3
    assert jpeg("a") == jpeg("a") != jpeg("b")
