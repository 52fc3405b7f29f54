"""The one table from errors to status numbers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bobusang.entry.api import problems
from bobusang.entry.api.problems import Forbidden, Malformed, TooLarge, Unauthorised, Unsupported, of_error, status_of
from bobusang.kit import errors
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import BobusangError
from bobusang.kit.lined.located import BadText, Problem

PAST = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Malformed("x"), 400, "malformed"),
        (Unauthorised("x"), 401, "unauthorised"),
        (Forbidden("x"), 403, "forbidden"),
        (errors.Missing("x"), 404, "missing"),
        (errors.Conflict("x"), 409, "conflict"),
        (Duplicate("x"), 409, "duplicate"),
        (TooLarge("x"), 413, "too_large"),
        (Unsupported("x"), 415, "unsupported"),
        (errors.Invalid("x"), 422, "invalid"),
        (errors.Throttled("x", until=PAST), 429, "throttled"),
        (errors.External("x"), 502, "external"),
        (errors.Blocked("x"), 502, "blocked"),
        (errors.Drifted("x"), 502, "drifted"),
        (errors.Rejected("x"), 502, "rejected"),
        (errors.Unavailable("x"), 503, "unavailable"),
        (Contended("x"), 503, "contended"),
        (BobusangError("x"), 500, "error"),
    ],
)
def test_an_error_has_a_status_and_a_code(error: BobusangError, status: int, code: str) -> None:
    answer = of_error(error)

    assert (status_of(error), answer.status_code, shown(error)["code"]) == (status, status, code)
    assert status in problems.TITLES


def shown(error: BobusangError) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(of_error(error, "r1").body))
    return found


def test_a_problem_document_has_all_its_parts() -> None:
    assert shown(errors.Invalid("priority 11 is too high", hint="10 is most urgent", field="priority")) == {
        "type": "urn:bobusang:problem:invalid",
        "title": "Something in the request is wrong",
        "status": 422,
        "code": "invalid",
        "detail": "priority 11 is too high",
        "hint": "10 is most urgent",
        "field": "priority",
        "request_id": "r1",
    }


def test_a_text_with_problems_lists_each_with_its_line() -> None:
    error = BadText(
        "shop.yaml", [Problem("is required", "steps", 1), Problem("unknown", "colour", 2, hint="remove it")]
    )

    assert shown(error)["errors"] == [
        {"field": "steps", "message": "is required", "line": 1},
        {"field": "colour", "message": "unknown", "line": 2, "hint": "remove it"},
    ]


def test_what_a_database_says_of_duplicates_is_not_shown() -> None:
    detail = shown(Duplicate("UNIQUE constraint failed: api_keys.hash"))["detail"]

    assert detail == "something with this name or key exists already"


def test_passwords_in_messages_are_masked() -> None:
    assert "hunter2" not in str(shown(errors.Unavailable("postgresql://me:hunter2@host/db is away")))


def test_an_api_key_in_a_message_is_masked() -> None:
    assert shown(errors.Invalid(f"bobu_{'aB3_-' * 8}xyz is no name"))["detail"] == "*** is no name"


def test_who_should_come_back_later_is_told_when() -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    assert 3500 <= int(of_error(errors.Throttled("x", until=soon)).headers["retry-after"]) <= 3600
    assert of_error(errors.Throttled("x", until=PAST)).headers["retry-after"] == "1"
    assert of_error(errors.Unavailable("x")).headers["retry-after"] == "1"
    assert "retry-after" not in of_error(errors.Invalid("x")).headers
