"""Brands and categories are reviewed by the same commands, each in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

KINDS = [("brand", "brands", "브랜드"), ("category", "categories", "카테고리")]


@pytest.mark.parametrize(("one", "many", "korean"), KINDS)
def test_what_a_filter_matches_is_told_in_korean(
    one: str, many: str, korean: str, stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on(f"POST /{many}/bulk", {"matched": 3, "changed": 3})
    line = (one, "block", "--mall", "okmall", "--lang", "ko")

    said = [run(*line, "--dry-run"), run(*line), run(*line, "--yes")]

    body = {"action": "block", "filter": {"mall": "okmall"}}
    asked = f"{korean} 3개에 block을(를) 할까요?"
    assert [(found.code, found.out) for found in said] == [
        (0, f"{korean} 3개를 바꾸게 됩니다\n"),
        (2, ""),
        (0, f"{korean} 3개를 바꿨습니다\n"),
    ]
    assert said[1].err.splitlines()[0] == asked
    assert [each.body for each in stub.asked] == [body | {"dry_run": True}] * 3 + [body]


@pytest.mark.parametrize(("one", "many", "korean"), KINDS)
def test_those_named_by_id_are_reviewed_one_by_one(
    one: str, many: str, korean: str, stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on(f"POST /{many}/7/propose", {"id": 7})
    stub.problem(f"POST /{many}/8/propose", 404, "missing", f"there is no {one} 8")

    found = run(one, "propose", "7", "8")
    alone = run(one, "propose", "7", "--lang", "ko")

    assert (found.code, found.out, found.err) == (5, f"{one} 7 is proposed again\n", f"8: there is no {one} 8\n")
    assert (alone.code, alone.out) == (0, f"{korean} 7을(를) 제안 상태로 되돌렸습니다\n")


@pytest.mark.parametrize(("one", "many", "korean"), KINDS)
def test_a_list_takes_its_filter(one: str, many: str, korean: str, stub: Stub, run: Callable[..., Result]) -> None:
    stub.on(f"GET /{many}", {"items": [], "next": None})

    found = run(one, "list", "--mall", "okmall", "--review", "blocked", "--q", "N", "--limit", "9", "--json")

    assert (found.code, found.document) == (0, {"items": [], "next": None})
    assert [each.query for each in stub.asked] == [
        {"mall": ["okmall"], "review": ["blocked"], "q": ["N"], "limit": ["9"]}
    ]
