import sys
from pathlib import Path

import pytest

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.scaffold import check, new_shop
from bobusang.connectors.sources.declared.shelf import Shelved, platforms, shops
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import Conflict, Invalid
from bobusang.kit.lined.located import BadText, Problem
from bobusang.stages.collect.source import Ask, Page, Snapshot, Source, Target
from tests.unit.connectors.reading import page, written

LIST = """\
shop: acme
intake: {kind: http, base: "https://acme.example.com"}
streams:
  list:
    request: {get: /list}
    records: items[*]
    key: id
    fields: {name: name}
hooks: {list.after: shout}
"""

HOOKS = """\
from bobusang.connectors.sources.declared.hooks import hook


@hook("shout")
def shout(fields, page):
    return fields | {"name": fields["name"].upper(), "status": page.status}
"""


def with_hooks(folder: Path, hooks: str = HOOKS) -> Path:
    shop = written(folder, LIST)
    (shop / "hooks.py").write_text(hooks, "utf-8")
    return shop


def test_a_trusted_hook_has_the_last_word(tmp_path: Path) -> None:
    shop = load_shop(with_hooks(tmp_path), trust=True)
    [ask] = shop.seeds(Target("list", "all"))

    assert shop.policy.trusted is True
    assert list(shop.read(page(ask, {"items": [{"id": 1, "name": "a"}]})))[1] == Snapshot(
        "acme", "1", {"name": "A", "status": 200}
    )


def test_code_that_nobody_trusts_does_not_run(tmp_path: Path) -> None:
    folder = with_hooks(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    shop = load_shop(folder)
    [ask] = shop.seeds(Target("list", "all"))

    assert shop.policy.trusted is False
    with pytest.raises(Invalid, match="contains code that nobody has agreed to run"):
        shop.read(page(ask, {"items": []}))
    assert check(folder) == (Problem("it contains code that nobody has agreed to run", "hooks"),)
    assert not (tmp_path / "ran").exists()


def test_a_hook_that_does_not_load_is_said(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"hooks.py of acme does not load: division by zero"):
        load_shop(with_hooks(tmp_path, "1 / 0\n"), trust=True)


def test_another_hook_is_another_version(tmp_path: Path) -> None:
    first = load_shop(with_hooks(tmp_path), trust=True).version

    assert load_shop(with_hooks(tmp_path, HOOKS + "# changed\n"), trust=True).version != first


def test_the_shelf_holds_shipped_shops_and_the_operator_s_own(tmp_path: Path) -> None:
    own = with_hooks(tmp_path)
    found = shops(tmp_path)

    shipped = {path.parent.name: "shipped" for path in SHIPPED.glob("*/shop.yaml")}
    assert {name: each.origin for name, each in found.items()} == {**shipped, "acme": "folder"}
    assert found["acme"] == Shelved("acme", "folder", own)
    assert {name for name, each in found.items() if each.contains_code} == {"acme"}
    assert found["okmall"].load(base="http://127.0.0.1:8600/okmall").base == "http://127.0.0.1:8600/okmall"


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="there is no folder"):
        shops(tmp_path / "nowhere")


class Coded(Source):
    name = "coded"
    base = "https://coded.example.com"

    def seeds(self, target: Target) -> list[Ask]:
        return [Ask(f"{self.base}/{target.key}")]

    def read(self, page: Page) -> list[Ask]:
        return []


def test_a_source_in_code_takes_its_base_too() -> None:
    shelved = Shelved("coded", "package", make=Coded)

    assert shelved.contains_code is True
    assert list(shelved.load(base="http://127.0.0.1:1/").seeds(Target("list", "x"))) == [Ask("http://127.0.0.1:1/x")]


@pytest.mark.parametrize("format", ["json", "html"])
def test_a_new_shop_is_valid_and_its_fixture_passes(tmp_path: Path, format: str) -> None:
    folder = new_shop(tmp_path, "my-shop", format)

    assert check(folder) == ()
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "fixtures/list-basic/ask.json",
        "fixtures/list-basic/expected.json",
        f"fixtures/list-basic/page.{format}",
        "shop.yaml",
    ]


def test_a_new_shop_has_a_name_of_its_own(tmp_path: Path) -> None:
    new_shop(tmp_path, "acme")

    with pytest.raises(Conflict):
        new_shop(tmp_path, "acme")
    with pytest.raises(Invalid):
        new_shop(tmp_path, "../acme")
    with pytest.raises(Invalid):
        new_shop(tmp_path, "other", "xml")


def test_check_tells_of_the_file_and_of_fixtures(tmp_path: Path) -> None:
    folder = new_shop(tmp_path, "acme")
    text = (folder / "shop.yaml").read_text("utf-8")
    (folder / "shop.yaml").write_text(text.replace("price | won", "price | wonn"), "utf-8")
    [problem] = check(folder)

    assert (problem.key, problem.message, problem.hint) == (
        "streams.list.fields.price",
        "unknown filter 'wonn'",
        "did you mean won?",
    )

    (folder / "shop.yaml").write_text(text.replace("name | strip", "brand | strip"), "utf-8")
    [problem] = check(folder)

    assert problem.key == "fixtures/list-basic"
    assert "울 코트" in problem.message


def test_check_of_nothing_says_what_is_missing(tmp_path: Path) -> None:
    assert [problem.message for problem in check(tmp_path / "nobody")] == ["nobody/shop.yaml is not there"]
    with pytest.raises(BadText):
        load_shop(written(tmp_path, "shop: 5\n"))


def package(folder: Path, code: str) -> None:
    """An installed package that offers a source."""
    (folder / "stranger.py").write_text(code, "utf-8")
    info = folder / "stranger-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text("[bobusang.sources]\nstranger = stranger:make\n", "utf-8")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0\n", "the entry point stranger of bobusang.sources does not load: division by zero"),
        ("make = 7\n", "the entry point stranger of bobusang.sources does not load: it is no module"),
        ("def make():\n    return 7\n", "the package's source stranger is none"),
    ],
)
def test_a_package_that_does_not_load_hides_no_other_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, message: str
) -> None:
    package(tmp_path, code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "stranger", raising=False)

    found = shops()

    assert found["okmall"].load().name == "okmall"
    with pytest.raises(Invalid, match=message):
        found["stranger"].load()
    monkeypatch.delitem(sys.modules, "stranger", raising=False)


def test_platforms_are_listed_apart() -> None:
    found = platforms()

    assert set(found) >= {"platform/cafe24", "platform/shopify"}
    assert set(shops()) & set(found) == set()
    assert [load_shop(folder).policy.trusted for folder in found.values()] == [True] * len(found)
