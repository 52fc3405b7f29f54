"""New shops, checks of any, and what of a page is asked for: the tools that need no database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.fixture import read_page
from bobusang.connectors.sources.declared.recording import Recorded, record_page
from bobusang.connectors.sources.declared.redaction import redacted
from bobusang.connectors.sources.declared.shop import Declared, load_shop
from bobusang.entry.cli.replayed import instant
from bobusang.flows.collect.trying import Wish, ask_for
from bobusang.kit.errors import Conflict, Invalid
from bobusang.settings import load
from bobusang.stages.collect.source import Ask, Kind, Page, Target
from bobusang.wiring.collecting import SANDBOXED, Shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result

SHOP = """\
shop: acme
intake: {kind: http, base: "http://127.0.0.1:8600/plain", format: html}
streams:
  list:
    request: {get: /list, query: {brand: "{brand}"}}
    for_each: {brand: {from: inputs.brands}}
    pages: {by: page, param: page, total: ".total | int"}
    records: .item
    key: "@id"
    fields: {name: b, price?: i | won}
  all:
    request: {get: /all}
    pages: {by: next, next: a@href}
    records: .item
    key: "@id"
    fields: {name: b}
  detail:
    request: {get: "/item/{id}"}
    for_each: {id: {from: list.key}}
    fields: {name: b}
"""
PAGE = '<html><p class="total">1</p><p class="item" id="7"><b>코트</b> me@shop.kr 010-1234-5678</p></html>'


@pytest.fixture
def acme(tmp_path: Path) -> Declared:
    folder = tmp_path / "shops" / "acme"
    folder.mkdir(parents=True)
    (folder / "shop.yaml").write_text(SHOP, "utf-8")
    return load_shop(folder)


@pytest.mark.parametrize("kind", ["html", "json"])
def test_a_new_shop_passes_its_check(bare: Callable[..., Result], kind: str) -> None:
    made = bare("source", "new", "corner", "--kind", kind, "--json")
    checked = bare("source", "check", "shops/corner", "--json")

    folder = str(Path("shops") / "corner")
    assert (made.code, made.document) == (0, {"shop": "corner", "folder": folder})
    assert (checked.code, checked.document["items"]) == (
        0,
        [{"shop": "corner", "folder": folder, "fixtures": 1, "problems": []}],
    )


def test_what_comes_next_is_said_and_nothing_overwritten(bare: Callable[..., Result]) -> None:
    first, second = bare("source", "new", "corner"), bare("source", "new", "corner")

    assert first.out == "shops/corner was made\n"
    assert "set BOBUSANG_SHOPS=shops" in first.err
    assert "`bobusang source check shops/corner`" in first.err
    assert (second.code, second.err) == (
        4,
        "shops/corner is there already\n  → choose another name, or edit it\n",
    )


@pytest.mark.parametrize(("base", "told"), [("https://away.example.com", 1), ("http://127.0.0.1:8600/corner", 0)])
def test_that_a_sandbox_hides_a_shop_of_elsewhere_is_said(
    bare: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, base: str, told: int
) -> None:
    monkeypatch.setenv("BOBUSANG_SANDBOX_URL", "http://127.0.0.1:8600")
    Path("list.json").write_text(json.dumps([{"id": at, "title": "코트", "price": 9_000} for at in (1, 2)]), "utf-8")

    made = bare("source", "new", "list.json", "--address", f"{base}/list", "--name", "corner")

    assert (made.code, made.err.count("unset BOBUSANG_SANDBOX_URL, so that it is found")) == (0, told)


def test_problems_are_said_with_file_line_and_key(bare: Callable[..., Result]) -> None:
    bare("source", "new", "corner")
    file = Path("shops/corner/shop.yaml")
    file.write_text(
        file.read_text("utf-8").replace(".price | won", ".price | wun").replace("limits:", "limit:"), "utf-8"
    )

    found = bare("source", "check", "shops/corner")

    assert (found.code, found.out.splitlines()) == (
        1,
        [
            "shops/corner/shop.yaml:4: limit: unknown key (did you mean limits?)",
            "shops/corner/shop.yaml:15: streams.list.fields.price: unknown filter 'wun' (did you mean won?)",
        ],
    )


def test_a_fixture_that_is_read_otherwise_is_told_and_may_be_accepted(bare: Callable[..., Result]) -> None:
    bare("source", "new", "corner")
    file = Path("shops/corner/shop.yaml")
    file.write_text(file.read_text("utf-8").replace("name: .name", "title: .name"), "utf-8")

    wrong = bare("source", "check", "shops/corner")
    accepted = bare("source", "check", "shops/corner", "--accept")
    again = bare("source", "check", "shops/corner")

    assert (wrong.code, accepted.code, again.code) == (1, 0, 0)
    assert wrong.out.startswith("shops/corner/fixtures/list-basic: item 2 should be {'snapshot': ")
    assert json.loads(Path("shops/corner/fixtures/list-basic/expected.json").read_text("utf-8"))[1] == {
        "snapshot": {
            "source": "corner",
            "key": "1",
            "fields": {"title": "울 코트", "price": 129000, "currency": "KRW"},
            "type": "supplier_product",
        }
    }


def test_without_a_name_all_shops_are_checked(bare: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOBUSANG_SHOPS", "mine")
    bare("source", "new", "corner")

    found = bare("source", "check", "--json")

    names = ["corner", *(path.parent.name for path in SHIPPED.glob("*/shop.yaml"))]
    assert {one["shop"]: one["problems"] for one in found.document["items"]} == {name: [] for name in names}


def test_a_shop_that_is_not_there_is_said(bare: Callable[..., Result]) -> None:
    found = bare("source", "check", "okmal")

    assert (found.code, found.err) == (
        3,
        "there is no shop 'okmal': no such name, and no okmal/shop.yaml\n  → did you mean okmall?\n",
    )


@pytest.mark.parametrize(
    "line",
    [("try", "okmall", "list"), ("record", "okmall", "list", "first"), ("replay", "okmall")],
    ids=lambda line: line[0],
)
def test_what_needs_this_folder_refuses_an_address(run: Callable[..., Result], line: tuple[str, ...]) -> None:
    found = run("source", *line, "--json")

    assert (found.code, found.document["error"]) == (
        2,
        {
            "code": "usage",
            "message": "this command works with the shops and the database of this folder, not through an API",
            "hint": "leave out --url and BOBUSANG_URL, or name the folder with --home",
        },
    )


ASKS = [
    (Wish("list", Target("brand", "가방")), "/list?brand=%EA%B0%80%EB%B0%A9&page=1"),
    (Wish("list", Target("brand", "x"), page=7), "/list?brand=x&page=7"),
    (Wish("all"), "/all"),
    (Wish("detail", item="A 1"), "/item/A%201"),
]


@pytest.mark.parametrize(("wish", "url"), ASKS, ids=str)
def test_the_wished_page_is_asked_for(acme: Declared, wish: Wish, url: str) -> None:
    found = ask_for(acme, wish)

    assert (found.url, found.stream, found.item) == (acme.base + url, wish.stream, wish.item)


def test_any_page_of_the_shop_is_asked_for_by_its_address(acme: Declared) -> None:
    assert ask_for(acme, Wish("detail", url="/special?id=3", item="3")) == Ask(
        f"{acme.base}/special?id=3", Kind.ITEM, "detail", given={"page": 1}, item="3"
    )


REFUSED = [
    (Wish("lst"), "has no stream 'lst' (did you mean list?)"),
    (Wish("list"), "which page of acme list? (say --target brand:…)"),
    (Wish("detail"), "which page of acme detail? (say --item KEY, with a key that its list shows)"),
    (Wish("list", Target("brnd", "x")), "acme is not collected by brnd (did you mean brand?)"),
    (Wish("all", page=2), "the pages of all have no numbers (try the first"),
    (Wish("all", url="https://elsewhere.example.com/"), "is not of acme (it lives at http://127.0.0.1:8600/plain)"),
    (Wish("detail", url="/item/3"), "whose page is http://127.0.0.1:8600/plain/item/3? (say --item KEY)"),
]


@pytest.mark.parametrize(("wish", "why"), REFUSED, ids=str)
def test_a_wish_that_names_no_page_is_refused(acme: Declared, wish: Wish, why: str) -> None:
    with pytest.raises(Invalid) as caught:
        ask_for(acme, wish)

    assert why in str(caught.value)


def test_a_page_is_kept_with_the_shops_own_addresses_and_without_people(acme: Declared, tmp_path: Path) -> None:
    shop, base = tmp_path / "shops" / "acme", "http://127.0.0.1:8600/plain"
    acme.base = "https://acme.example.com"
    ask = Ask(f"{base}/list?page=1", Kind.LIST, "list", given={"brand": "x", "page": 1})
    text = PAGE.replace("</p></html>", f' <a href="{base}/x">x</a></p></html>')
    page = Page(ask, text.encode("euc-kr"), headers={"set-cookie": "a"}, url=ask.url, text=text)

    kept = record_page(shop, "list-first", page, acme, base)

    saved = read_page(kept.folder)
    assert kept == Recorded(
        shop / "fixtures" / "list-first",
        kept.found,
        {"e-mail address": 1, "phone number": 1, "header set-cookie": 1},
    )
    assert (saved.url, saved.text) == (
        "https://acme.example.com/list?page=1",
        text.replace(base, acme.base).replace("me@shop.kr", "someone@example.com").replace("1234-5678", "0000-0000"),
    )
    assert [next(iter(one)) for one in kept.found] == ["extent", "snapshot", "ask", "ask"]


def test_a_fixture_is_replaced_only_on_purpose(acme: Declared, tmp_path: Path) -> None:
    shop = tmp_path / "shops" / "acme"
    ask = Ask(f"{acme.base}/item/7", Kind.ITEM, "detail", item="7")
    page = Page(ask, PAGE.encode(), url=ask.url, text=PAGE)
    record_page(shop, "item", page, acme)

    with pytest.raises(Conflict, match="is there already"):
        record_page(shop, "item", page, acme)
    with pytest.raises(Invalid, match="cannot be the name"):
        record_page(shop, "../item", page, acme)

    assert record_page(shop, "item", page, acme, again=True).found == [
        {"snapshot": {"source": "acme", "key": "7", "fields": {"name": "코트"}, "type": "supplier_product"}}
    ]


def test_what_was_redacted_before_does_not_count() -> None:
    once, first = redacted(b'{"token": "abcdefgh", "mail": "a@b.kr"}')

    assert first == {"token": 1, "e-mail address": 1}
    assert redacted(once) == (once, {})


def test_times_are_read_as_people_write_them() -> None:
    before = datetime.now(UTC)

    assert instant("2026-01-31T09:00+09:00") == datetime(2026, 1, 31, tzinfo=UTC)
    assert 0 <= (instant("24h") - before).total_seconds() + 86400 < 60


def test_with_a_sandbox_own_shops_that_live_on_it_are_kept(tmp_path: Path) -> None:
    for name, base in (("here", "http://127.0.0.1:8600/plain"), ("away", "https://away.example.com"), ("feed", "x")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "shop.yaml").write_text(SHOP.replace("http://127.0.0.1:8600/plain", base), "utf-8")

    shelf = Shelf(load({}, shops=str(tmp_path), sandbox_url="http://127.0.0.1:8600"))

    # One that cannot be read stays, so that whoever wants it is told what is wrong with it.
    assert set(shelf) == {"here", *SANDBOXED}
    assert (shelf["here"].base, shelf["here"].policy.limits.rate) == ("http://127.0.0.1:8600/plain", 1.0)
    assert shelf["news"].base == "http://127.0.0.1:8600/news"
    with pytest.raises(Invalid, match="an address is expected"):
        shelf["feed"]
