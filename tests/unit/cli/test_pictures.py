"""Pictures by commands: what is asked of the API, and what a person is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

SHA = "ab" * 32
LINE: dict[str, Any] = {
    "position": 1,
    "state": "READY",
    "reason": None,
    "rights": "supplier",
    "rights_source": "okmall",
    "sha256": SHA,
    "width": 400,
    "height": 400,
    "bytes": 5,
    "address": "https://img.example.com/a.jpg",
}
FOUND = {"items": [LINE], "next": None}


def test_a_products_pictures_are_listed(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /products", {"items": [{"id": 7}], "next": None})
    stub.on("GET /products/7/pictures", FOUND)

    found = run("picture", "list", "okmall/4711")

    head = "position\tstate\treason\trights\trights_source\twidth\theight\tbytes\tsha256\taddress\n"
    row = f"1\tREADY\t\tsupplier\tokmall\t400\t400\t5\t{SHA}\thttps://img.example.com/a.jpg\n"
    assert (found.code, found.out) == (0, head + row)


@pytest.mark.parametrize(
    ("words", "verb", "body", "told"),
    [
        (("order", "7", "2", "1"), "order", {"positions": [2, 1]}, "이미지가 이 순서로 놓입니다\n"),
        (("declare", "7", "own"), "rights", {"rights": "own"}, "이미지의 사용 권리를 기록했습니다\n"),
        (("accept", "7"), "accept", None, "새 대표 이미지로 바꾸었습니다\n"),
        (("refresh", "7"), "refresh", None, "다음 FULL에서 이미지를 다시 가져옵니다\n"),
    ],
)
def test_a_products_pictures_are_changed(
    stub: Stub, run: Callable[..., Result], words: tuple[str, ...], verb: str, body: Any, told: str
) -> None:
    stub.on(f"POST /products/7/pictures/{verb}", FOUND)

    done = run("picture", *words, "--lang", "ko")

    assert (done.code, done.out) == (0, told)
    assert [one.body for one in stub.asked] == [body]


def test_looks_are_blocked_allowed_and_listed(stub: Stub, run: Callable[..., Result]) -> None:
    blocked = {"sha256": SHA, "reason": "a banner", "created_by": "kim", "created_at": "2026-11-19T03:00:00Z"}
    stub.on("POST /pictures/block", {"sha256": SHA, "products": 3})
    stub.on("POST /pictures/unblock", {"sha256": SHA, "products": 0})
    stub.on("POST /pictures/allow", {"sha256": SHA, "products": 0})
    stub.on("GET /pictures/blocks", {"items": [blocked], "next": None})
    stub.on("GET /pictures/doubts", {"items": [], "next": None})

    done = run("picture", "block", SHA, "--why", "a banner")
    others = [run("picture", verb, SHA) for verb in ("unblock", "allow")]
    lists = [run("picture", "blocks", "--json"), run("picture", "doubts", "--limit", "9", "--json")]

    assert done.out == "what looks like it is refused from now on; 3 products have such a picture\n"
    assert done.err == f"`bobusang run full --mall MALL --url {stub.url}` makes products anew by it\n"
    assert [one.code for one in (*others, *lists)] == [0] * 4
    assert [one.document["items"] for one in lists] == [[blocked], []]
    assert [(one.path, one.body or one.query) for one in stub.asked] == [
        ("/pictures/block", {"sha256": SHA, "reason": "a banner"}),
        ("/pictures/unblock", {"sha256": SHA}),
        ("/pictures/allow", {"sha256": SHA}),
        ("/pictures/blocks", {}),
        ("/pictures/doubts", {"limit": ["9"]}),
    ]
    assert run("picture", "block", SHA).code == 2  # not without a reason
