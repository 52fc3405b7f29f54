"""The glossary and translations by commands: what is asked of the API, and what a person is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

HEAD = "term\ttranslation\tkind\tcase_sensitive\tshipped\treplaces\tcreated_at\n"
BLACK = {
    "id": 3,
    "term": "블랙",
    "translation": "黒",
    "kind": "colour",
    "case_sensitive": False,
    "shipped": False,
    "replaces": "ブラック",
    "created_at": "2026-11-19T03:00:00Z",
}
LINE = {
    "id": 9,
    "text": "나이키 롱패딩",
    "translation": "ナイキ ロングパディング",
    "origin": "person",
    "model": None,
    "cost_micros": 0,
    "created_at": "2026-11-19T03:00:00Z",
    "used_at": None,
}


def test_terms_are_listed(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /glossary", {"items": [BLACK], "next": None})

    found = run("glossary", "list", "--q", "블", "--shipped", "--limit", "9")

    assert (found.code, found.out) == (
        0,
        HEAD + "블랙\t黒\tcolour\tfalse\tfalse\tブラック\t2026-11-19T03:00:00Z\n",
    )
    assert [(one.path, one.query) for one in stub.asked] == [
        ("/glossary", {"q": ["블"], "shipped": ["true"], "limit": ["9"]})
    ]


def test_a_term_is_added_and_told_when_it_shows(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("PUT /glossary", {"terms": 1, "changed": 1}, {"terms": 1, "changed": 0})

    new = run("glossary", "add", "Air", "エア", "--kind", "word", "--case-sensitive")
    same = run("glossary", "add", "블랙", "黒", "--lang", "ko")

    assert (new.code, new.out, same.out, same.err) == (
        *(0, "Air is エア from now on\n"),
        *("블랙은(는) 이미 黒(으)로 옮깁니다\n", ""),
    )
    assert new.err == f"`bobusang run full --mall MALL --url {stub.url}` makes products anew by it\n"
    assert [one.body for one in stub.asked] == [
        {"terms": [{"term": "Air", "translation": "エア", "kind": "word", "case_sensitive": True}]},
        {"terms": [{"term": "블랙", "translation": "黒", "kind": "", "case_sensitive": False}]},
    ]


def test_terms_that_were_never_added_show_in_the_exit_code(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /glossary/drop", {"terms": ["블랙"]}, {"terms": []}, {"terms": ["블랙"]})

    some, none, all = (run("glossary", "drop", *names, "-q") for names in (["블랙", "없음"], ["없음"], ["블랙"]))

    told = [(one.code, one.out) for one in (some, none, all)]
    assert told == [
        (5, "1 terms were taken away\n"),
        (3, "0 terms were taken away\n"),
        (0, "1 terms were taken away\n"),
    ]
    assert stub.asked[0].body == {"terms": ["블랙", "없음"]}


def test_a_file_is_sent_as_it_is(stub: Stub, run: Callable[..., Result], tmp_path: Path) -> None:
    stub.on("POST /glossary/file", {"terms": 2, "changed": 1})
    (tmp_path / "words.csv").write_text("term,translation\n블랙,黒\n", "utf-8")

    found = run("glossary", "import", "words.csv", "--json")

    assert (found.code, found.document, found.err) == (0, {"terms": 2, "changed": 1}, "")
    assert stub.asked[0].body == "term,translation\n블랙,黒\n"


def test_a_wrong_file_is_a_failure_and_no_mistake_in_the_command(
    stub: Stub, run: Callable[..., Result], tmp_path: Path
) -> None:
    stub.problem("POST /glossary/file", 422, "invalid", "line 2 of the glossary: a term is empty")
    (tmp_path / "words.csv").write_text("", "utf-8")

    assert run("glossary", "import", "words.csv").code == 1


def test_an_export_is_saved(stub: Stub, run: Callable[..., Result], tmp_path: Path) -> None:
    stub.on("GET /glossary/file", "term,translation,kind,case_sensitive\n블랙,黒,,false\n")

    found = run("glossary", "export", "out.csv")

    assert (found.code, found.out) == (0, "1 rows are in out.csv\n")
    assert (tmp_path / "out.csv").read_text("utf-8") == "term,translation,kind,case_sensitive\n블랙,黒,,false\n"


def test_translations_are_listed_and_corrected(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /translations", {"items": [LINE], "next": None})
    stub.on("PUT /translations", LINE)

    listed = run("translation", "list", "--origin", "person", "--q", "패딩", "--json")
    done = run("translation", "correct", LINE["text"], LINE["translation"], "--lang", "ko")

    assert (listed.code, listed.document) == (0, {"items": [LINE], "next": None})
    assert (done.code, done.out) == (0, "이제 나이키 롱패딩은(는) ナイキ ロングパディング(으)로 옮깁니다\n")
    assert [(one.method, one.query, one.body) for one in stub.asked] == [
        ("GET", {"q": ["패딩"], "origin": ["person"], "limit": ["50"]}, None),
        ("PUT", {}, {"text": LINE["text"], "translation": LINE["translation"]}),
    ]


def test_a_correction_is_taken_back(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /translations/drop", {"text": LINE["text"], "translation": LINE["translation"]})

    done = run("translation", "drop", LINE["text"], "--lang", "ko")

    assert (done.code, done.out) == (0, "나이키 롱패딩은(는) 더는 ナイキ ロングパディング(으)로 옮기지 않습니다\n")
    assert [(one.path, one.body) for one in stub.asked] == [("/translations/drop", {"text": LINE["text"]})]
