"""Products added, searched and forgotten by commands, as somebody does who has just begun in an empty folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.cli import main
from tests.e2e.program import Up, bobusang, until, up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("e2e-looking-up")

PADDING = ("name=나이키 롱패딩", "brand=NIKE", "price=129000", "model=10010")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running program with one product, that searching finds."""
    with up(tmp_path_factory.mktemp("looking-up")) as found:
        added = found.run("product", "add", "okmall/4711", *(f"--input={one}" for one in PADDING))
        assert (added.code, added.out) == (0, "product 1 is okmall/4711\n")
        until(lambda: found.get("/search?q=10010")["total"] == 1, "finding the product")
        yield found


def test_before_anything_runs_a_command_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process: each of its own would load all of us, only to find nothing to look at."""
    for name in [name for name in os.environ if name.startswith(("BOBUSANG_", "LC_", "LANG"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    for line in (("search", "find", "패딩"), ("product", "list"), ("cache", "stats")):
        code = main([*line])
        assert (code, "start one with `bobusang up`" in capsys.readouterr().err) == (7, True)


def test_what_is_typed_finds_the_product(program: Up) -> None:
    found = program.run("search", "find", "나이키패딩", "--json").document

    assert [(one["id"], one["marked"]["name"]) for one in found["items"]] == [(1, "«나이키» 롱«패딩»")]
    assert program.run("search", "suggest", "나이").out == "text\tkind\tcount\n나이키 롱패딩\tname\t1\n"
    assert program.run("search", "find", "냉장고").out == "id\tmall\tproduct_id\tbrand\tname\tmodel\tprice\tin_stock\n"


def test_a_change_is_shown_with_what_it_locks(program: Up) -> None:
    done = program.run("product", "change", "okmall/4711", "--input", "price=119000", "--lang", "ko")
    assert (done.code, done.out) == (0, "상품 1을(를) 고쳤습니다. 잠긴 항목: price\n")

    shown = program.run("product", "show", "okmall/4711", "--json").document
    assert (shown["price"], shown["locked"], shown["source"]) == (119_000, ["price"], {"price": 129_000})
    unlocked = program.run("product", "unlock", "okmall/4711", "price", "--json").document
    assert (unlocked["price"], unlocked["locked"]) == (129_000, [])


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("product show okmall/9", 3, "okmall has no product '9'\n  → `bobusang product list` shows them\n"),
        ("product add 4713 --input price=1", 2, "'4713' is no product\n  → write MALL/ID as okmall/4711\n"),
        ("product add okmall/1 --input price=cheap", 2, "price: should be a number\n"),
        ("product add", 2, "nothing was given\n  → as --input name=코트 --input price=129000\n"),
        ("product list --sort prize", 2, "sort: should be 'id', 'newest', 'price', '-price' or 'changed'\n"),
        ("product delete 1", 2, "delete product 1?\n  → nobody can be asked here: add --yes\n"),
        ("search find 패딩 --max-price 1 --min-price 2", 2, "max_price is below min_price\n  → 0 means no bound\n"),
    ],
)
def test_what_is_wrong_is_said_once_and_with_what_to_do(program: Up, line: str, code: int, said: str) -> None:
    done = program.run(*line.split())

    assert (done.code, done.err) == (code, said)


def test_kept_answers_of_the_running_program_are_counted_and_forgotten(program: Up) -> None:
    for _ in range(2):
        program.get("/search?keyword=10010&facets=false")

    assert program.run("cache", "stats", "--json").document["hits"] >= 1
    assert program.run("cache", "forget", "10010", "--json").document["forgotten"] >= 1
    assert program.run("cache", "forget", "10010").out == "0 answers were forgotten\n"
    alone = bobusang("cache", "stats", cwd=program.folder)
    assert "--url asks a running program" in alone.err


def test_index_and_database_agree(program: Up) -> None:
    verdict = program.run("search", "verify", "--json").document

    assert (verdict["compared"], verdict["clean"]) == (1, True)
    assert program.run("search", "status", "--json").document["products"] == 1
