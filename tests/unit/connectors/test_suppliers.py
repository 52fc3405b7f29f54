"""Ownerclan and Domeggook: what their answers mean, and what an operator sets otherwise by a shop of few lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.fixture import read_page
from bobusang.kit import json
from bobusang.kit.http import Answer
from bobusang.stages.collect.marks import Span, spans
from bobusang.stages.collect.policy import IdentityKind, Reaction
from bobusang.stages.collect.responses import classify
from bobusang.stages.collect.source import FRESH, Ask, Extent, Followed, Kind, Snapshot, Target
from bobusang.stages.convert import converting
from tests.unit.connectors.reading import compiled, page, shipped

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 16, 3, tzinfo=UTC)
GRAPHQL, API = "https://api.ownerclan.com/v1/graphql", "https://domeggook.com/ssl/api/?mode=getItemView"


def meant(shop: str, url: str, body: Any, status: int = 200, kind: Kind = Kind.LIST) -> Reaction:
    answer = Answer(url, status, {"content-type": "application/json"}, json.dumps(body).encode())
    return classify(shipped(shop).policy, url, answer, now=NOW, kind=kind).reaction


@pytest.mark.parametrize(
    ("status", "body", "wanted"),
    [
        (200, {"data": {"allItems": {"edges": []}}}, Reaction.READ),
        (200, {"errors": [{"message": "jwt expired"}]}, Reaction.RENEW_IDENTITY),
        (200, {"errors": [{"message": "invalid signature"}]}, Reaction.RENEW_IDENTITY),
        (401, {"errors": [{"message": "Unauthorized"}]}, Reaction.RENEW_IDENTITY),
        (200, {"errors": [{"message": "Internal server error"}]}, Reaction.RETRY),
        (200, {"errors": [{"message": "x"}], "data": {"allItems": {"edges": []}}}, Reaction.RETRY),
        (200, {"errors": None, "data": {"allItems": {"edges": []}}}, Reaction.READ),
        (200, {"data": {"item": None}}, Reaction.GONE),
        (404, {}, Reaction.RETRY),
        (429, {}, Reaction.COOLDOWN_IDENTITY),
        (503, {}, Reaction.RETRY),
    ],
)
def test_what_an_answer_of_ownerclan_means(status: int, body: Any, wanted: Reaction) -> None:
    assert meant("ownerclan", GRAPHQL, body, status, Kind.ITEM) is wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"domeggook": {"header": {}, "list": {}}}, Reaction.READ),
        (
            {"errors": {"dcode": "QUOTA_DAY", "dmessage": "일일 호출 허용량을 초과하였습니다."}},
            Reaction.COOLDOWN_IDENTITY,
        ),
        ({"errors": {"code": "1", "message": "call limit exceeded"}}, Reaction.COOLDOWN_IDENTITY),
        ({"errors": {"dmessage": "유효하지 않은 API KEY 입니다."}}, Reaction.HALT),
        ({"errors": {"dmessage": "상품이 존재하지 않습니다."}}, Reaction.GONE),
        ({"errors": {"message": "시스템 오류"}}, Reaction.RETRY),
        ({"errors": {}}, Reaction.RETRY),
        ({"domeggook": {"error": {"message": "시스템 오류"}}}, Reaction.RETRY),
    ],
)
def test_what_an_answer_of_domeggook_means(body: Any, wanted: Reaction) -> None:
    assert meant("domeggook", API, body, kind=Kind.ITEM) is wanted


def test_ownerclan_logs_in_by_json_at_another_host() -> None:
    identity = shipped("ownerclan").policy.identity
    issue = identity.issue
    assert issue is not None

    assert (identity.kind, issue.method, issue.host, issue.path) == (IdentityKind.LOGIN, "POST", "auth", "/auth")
    assert issue.body == {
        "service": "ownerclan",
        "userType": "seller",
        "username": "{username}",
        "password": "{password}",
    }
    assert shipped("ownerclan").hosts == {"auth": "https://auth.ownerclan.com"}


def test_pages_of_ownerclan_are_asked_for_by_cursors_that_are_texts() -> None:
    source = shipped("ownerclan")
    [first] = source.seeds(Target("list", "all"))
    answer = {"data": {"allItems": {"pageInfo": {"hasNextPage": True, "endCursor": "170000"}, "edges": []}}}
    [extent, second] = source.read(page(first, answer))

    assert isinstance(second, Ask)
    assert extent == Extent((), None, 1, last=False)
    assert [json.loads(ask.body or "")["variables"] for ask in (first, second)] == [
        {"first": 500, "after": None},
        {"first": 500, "after": "170000"},
    ]


def test_a_window_of_ownerclan_is_asked_for_in_milliseconds() -> None:
    source = shipped("ownerclan")
    span = Span(NOW - timedelta(hours=12), NOW)
    asks = [ask for name in ("changed", "history") for ask in source.seeds(Target("window", name, span.data))]

    assert [json.loads(ask.body or "")["variables"] for ask in asks] == [
        {"first": 500, "after": None, "since": 1768489200000, "until": 1768532400000},
        {"first": 1000, "after": None, "since": 1768489200000, "until": 1768532400000},
    ]
    assert source.followed == (Followed("changed"), Followed("history", timedelta(days=7)))


def test_a_history_leads_to_items_and_keeps_nothing() -> None:
    fixture = SHIPPED / "ownerclan" / "fixtures" / "history-first"
    found = list(shipped("ownerclan").read(read_page(fixture)))

    assert found[0] == Extent((), None, 1, last=True)
    assert [(ask.stream, ask.when) for ask in found[1:] if isinstance(ask, Ask)] == [("item", "always")] * 2


def test_further_pages_of_what_is_newest_are_asked_for_one_by_one() -> None:
    source = shipped("domeggook")
    data = Span(NOW - timedelta(hours=12), NOW).data | {"category": "01_01_00_00_00"}
    [first] = source.seeds(Target("window", "recent@category:01_01_00_00_00", data))
    items = [{"no": str(no), "title": "x", "price": "100"} for no in range(200)]
    answer = {"domeggook": {"header": {"numberOfItems": "1000"}, "list": {"item": items}}}
    pages = [ask for ask in source.read(page(first, answer)) if isinstance(ask, Ask) and not ask.item]

    assert (first.when, [(ask.given["page"], ask.when) for ask in pages]) == ("", [(2, FRESH)])


OWN = """
shop: mine
extends: domeggook
streams:
  detail:
    variants:
      - records: domeggook.selectOpt | json{data} | entries
        key: key
        skip: 'hid | map{0: false, 1: true, 2: false}'
        complete: true
        fields: {name?: name | strip, stock: qty | int}
"""


def test_an_operator_says_otherwise_what_hides_an_option(tmp_path: Path) -> None:
    own = compiled(tmp_path, OWN)
    [ask] = own.seeds(Target("item", "7"))
    data = {
        f"{at:02}": {"name": name, "qty": "3", "hid": hid} for at, (name, hid) in enumerate([("a", "0"), ("b", "2")])
    }
    answer = {"domeggook": {"basis": {"no": "7", "title": "x"}, "selectOpt": json.dumps({"data": data})}}
    [mine], [theirs] = (list(source.read(page(ask, answer))) for source in (own, shipped("domeggook")))

    assert isinstance(mine, Snapshot)
    assert isinstance(theirs, Snapshot)
    assert [option["name"] for option in mine.fields["options"]] == ["a", "b"]
    assert [option["name"] for option in theirs.fields["options"]] == ["a"]


def told(shop: str, fixture: str) -> tuple[tuple[str, ...], list[tuple[dict[str, str], int | None]]]:
    """The axes of what a page offers, and each option with its price."""
    [found] = shipped(shop).read(read_page(SHIPPED / shop / "fixtures" / fixture))
    assert isinstance(found, Snapshot)
    sorted_ = converting.read_options(found.fields)
    return sorted_.axes, [({str(axis): text for axis, text in one.texts.items()}, one.price) for one in sorted_.sources]


def test_options_of_domeggook_that_are_named_plainly_are_sizes_and_the_dear_one_costs_more() -> None:
    sizes = ("XS", "S", "M", "L", "XL", "XXL")

    assert told("domeggook", "detail-plain-options") == (
        ("size",),
        [({"size": size}, 62_200 if size == "XXL" else 59_200) for size in sizes],
    )


def test_attributes_of_ownerclan_count_whatever_they_are_called() -> None:
    assert told("ownerclan", "item-other-attributes") == (
        ("color", "size"),
        [({"color": "Khaki", "size": size}, 30_000) for size in ("S", "M", "L", "XL")],
    )


@pytest.mark.parametrize(
    ("attributes", "sellable", "listed"),
    [
        (["OPENMARKET"], True, True),
        ([], True, True),
        (None, True, True),
        (["OPENMARKET"], False, False),
        (["OPENMARKET", "PROHIBIT"], True, False),
    ],
)
def test_ownerclan_forbids_by_either_word(attributes: list[str] | None, sellable: bool, listed: bool) -> None:
    """PROHIBIT means to stop selling at once, whatever `openmarketSellable` says."""
    fixture = SHIPPED / "ownerclan" / "fixtures" / "item-basic"
    known = read_page(fixture)
    said = json.loads(known.body)
    said["data"]["item"] |= {"attributes": attributes, "openmarketSellable": sellable}
    [found] = shipped("ownerclan").read(page(known.ask, said))

    assert isinstance(found, Snapshot)
    assert (found.fields["listed"], found.unknown) == (listed, ())


def test_a_window_is_twice_the_time_since_the_mark_and_a_period_more_at_least() -> None:
    day, hour = timedelta(days=1), timedelta(hours=1)

    assert spans(NOW - day, NOW) == [Span(NOW - 2 * day, NOW)]
    assert spans(NOW - hour, NOW) == [Span(NOW - 7 * hour, NOW)]


@pytest.mark.parametrize("days", [0, 1, 6, 7, 8, 30])
def test_pieces_follow_each_other_and_none_is_longer_than_allowed(days: int) -> None:
    week, mark = timedelta(days=7), NOW - timedelta(days=days)
    found = spans(mark, NOW, most=week)

    assert found[0].since < mark
    assert found[-1].until == NOW
    assert all(one.data["until_ms"] - one.data["since_ms"] < 7 * 24 * 3600 * 1000 for one in found)
    assert [one.until for one in found[:-1]] == [one.since for one in found[1:]]
