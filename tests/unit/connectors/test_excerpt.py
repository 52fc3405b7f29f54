"""Excerpts: a page that is read by its parts says the same as the whole page, and is read whole where it might not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bobusang.connectors.sources.declared.excerpt import Excerpt, Part, excerpt, signs
from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import Declared, load_shop
from bobusang.kit.encoding import decoded
from bobusang.kit.errors import BobusangError, Drifted
from bobusang.sandbox.fault import Fault, Hit, Trouble
from bobusang.sandbox.filler import PageSize
from bobusang.sandbox.mischief import spoil
from bobusang.sandbox.okmall import item, listing
from bobusang.sandbox.okmall.listing import Wanted
from bobusang.sandbox.reply import HTML, Reply
from bobusang.sandbox.scene import Scene
from bobusang.sandbox.world import World
from bobusang.stages.collect.source import Ask, Page, Reads, Snapshot, Target
from tests.unit.connectors.reading import compiled, page, problems, wholly

if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.1:8600"
OKMALL = load_shop(SHIPPED / "okmall", base=f"http://{HOST}/okmall")
ITEM = next(iter(OKMALL.seeds(Target("item", "1"))))
WORLDS = {(seed, drift): World(seed, 200, brands=2, drift_at=drift) for seed, drift in ((5, None), (6, None), (7, 0.0))}
CONTENT = [
    Trouble.EMPTY_LIST,
    Trouble.REPEAT_LAST,
    Trouble.WOBBLE,
    Trouble.SCRIPT_NAMES,
    Trouble.DUPLICATE_ITEMS,
    Trouble.HALF_HTML,
    Trouble.EMPTY,
    Trouble.WRONG_ENCODING,
    Trouble.INVALID_UTF8,
    Trouble.DEEP_JSON,
]
SHOP = """
shop: acme
intake: {kind: http, base: "https://acme.example.com", format: html}
streams:
  list:
    request: {get: /list}
    records: .box
    key: "@id"
    fields: {name: b}
  detail:
    request: {get: "/item/{id}"}
    for_each: {id: {from: list.key}}
    within:
      - {from: class="goods", to: </div>}
      - {from: class="size", to: </table>, every: true}
    fields:
      name: .goods b
      note?: .note
      title?: h5
      sizes?: {records: table.size tr, key: th, value: td}
"""
GOODS = '<div class="goods"><b>코트</b></div>'
SIZE = '<table class="size"><tr><th>{}</th><td>{}</td></tr></table>'


PLAIN = wholly(OKMALL)


def said(shop: Declared, page: Page) -> list[Reads] | tuple[str, str]:
    try:
        return list(shop.read(page))
    except BobusangError as error:
        return type(error).__name__, str(error)


def served(scene: Scene, ask: Ask, text: str) -> Page:
    """As it comes over HTTP, with what is to be wrong with its bytes."""
    reply = Reply(text.encode(), HTML)
    body = spoil(reply, scene.hit).body if scene.hit else reply.body
    found = decoded(body, HTML, OKMALL.policy.encoding)
    return Page(ask, body, url=ask.url, text=found.text, is_utf8=found.is_utf8)


SCENES = st.builds(
    Scene,
    st.sampled_from(list(WORLDS.values())),
    st.just(HOST),
    st.sampled_from(PageSize),
    st.none() | st.builds(Hit, st.builds(Fault, kind=st.sampled_from(CONTENT)), st.integers(0, 3)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCENES, st.integers(0, 99))
def test_an_item_says_the_same_by_its_parts(scene: Scene, at: int) -> None:
    numbers = [no for brand in scene.world.mall("okmall").brands for no in scene.world.of_brand("okmall", brand)]
    key = numbers[at % len(numbers)] if at else 999_999_999
    [ask] = OKMALL.seeds(Target("item", str(key)))
    one = scene.standing("okmall", key)
    found = served(scene, ask, item.deleted(scene) if one is None else item.render(scene, one))

    assert said(OKMALL, found) == said(PLAIN, found)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCENES, st.integers(0, 1), st.integers(1, 3))
def test_a_list_says_the_same_by_its_parts(scene: Scene, brand: int, number: int) -> None:
    name = scene.world.mall("okmall").brands[brand].name
    [ask] = OKMALL.seeds(Target("brand", name))
    ask = replace(ask, given={**ask.given, "page": number})
    found = served(scene, ask, listing.render(scene, Wanted(brand=name, page=number)))

    assert said(OKMALL, found) == said(PLAIN, found)


def test_what_is_outside_of_the_parts_is_not_even_parsed() -> None:
    scene = Scene(WORLDS[5, None], HOST)
    key = scene.world.of_brand("okmall", scene.world.mall("okmall").brands[0])[0]
    one = scene.standing("okmall", key)
    assert one is not None
    [ask] = OKMALL.seeds(Target("item", str(key)))
    text = item.render(scene, one)
    deep = text.replace("<body>", f"<body>{'<div>' * 50_000}")

    assert OKMALL.read(page(ask, deep)) == OKMALL.read(page(ask, text))
    with pytest.raises(Drifted, match="nested"):
        PLAIN.read(page(ask, deep))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (GOODS, {"name": "코트"}),
        (f"<p class=note>Neu</p>{GOODS}", {"name": "코트", "note": "Neu"}),
        (f"<p CLASS='note'>Neu</p>{GOODS}", {"name": "코트", "note": "Neu"}),
        (f"<h5>Coats</h5>{GOODS}", {"name": "코트", "title": "Coats"}),
        (f"{GOODS}{SIZE.format('A', 1)}<p>…</p>{SIZE.format('B', 2)}", {"name": "코트", "sizes": {"A": "1", "B": "2"}}),
        (f"{SIZE.format('A', 1)}{GOODS}{SIZE.format('B', 2)}", {"name": "코트", "sizes": {"A": "1", "B": "2"}}),
        (f"<!-- {GOODS.replace('코트', 'alt')} -->{GOODS}", {"name": "코트"}),
        (f"<script>'{GOODS.replace('코트', 'alt')}'</script>{GOODS}", {"name": "코트"}),
        ("<div class=goods><b>코트</b></div>", {"name": "코트"}),
    ],
    ids=["parts", "outside", "quirk", "no sign", "every", "out of order", "comment", "script", "no part"],
)
def test_what_may_stand_outside_of_the_parts_is_read_of_the_whole_page(
    tmp_path: Path, text: str, fields: dict[str, object]
) -> None:
    shop = compiled(tmp_path, SHOP)
    [ask] = shop.seeds(Target("item", "1"))
    found = page(ask, f"<!DOCTYPE html><html><body>{text}</body></html>")

    assert shop.read(found) == wholly(shop).read(found) == [Snapshot("acme", "1", fields)]


def test_a_part_begins_and_ends_with_whole_tags_and_leaves_nothing_open() -> None:
    text = b'<!doctype html><p><i id="a" x>1<table><tr><td>2<b id="e" y>3</p><i id="a">4<i id="a" z>5'

    assert excerpt(text, (Part(b'id="a"', b'id="e"', every=True),)) == Excerpt(
        b'<!doctype html><object><i id="a" x>1<table><tr><td>2<b id="e" y></table></object>'
        b'<object><i id="a">4</object><object><i id="a" z>5</object>',
        b"<!doctype html><p>\n3</p>\n\n",
    )
    assert excerpt(text, (Part(b'id="e"'),)) == Excerpt(
        b'<!doctype html><object><b id="e" y>3</p><i id="a">4<i id="a" z>5</object>',
        b'<!doctype html><p><i id="a" x>1<table><tr><td>2\n',
    )
    assert excerpt(text, (Part(b'id="o"'),)) is None


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("h3#ProductNameArea .prd_name", (b"productnamearea",)),
        ("table.goods_info_tbl tr, table.notice_info tr", (b"goods_info_tbl", b"notice_info")),
        ("tr[name=selectOption]", (b"selectoption",)),
        ("div[data-productno]", (b"data-productno",)),
        ("p:not(.gone)", (b"",)),
        ("td:nth-child(2) strong, .a\\.b", (b"", b"")),
    ],
)
def test_a_selector_has_a_sign_that_every_page_shows_on_which_it_finds_something(
    selector: str, found: tuple[bytes, ...]
) -> None:
    assert signs(selector) == found


def test_parts_that_cannot_be_are_named(tmp_path: Path) -> None:
    wrong = SHOP.replace('{from: class="goods", to: </div>}', "{form: x}").replace(
        '  - {from: class="size', '  - "size'
    )
    json = SHOP.replace("format: html", "format: json")

    assert problems(tmp_path, wrong.replace(", to: </table>, every: true}", "")) == [
        "shop.yaml:13: streams.detail.within: names with values are expected (as in - {from: …, to: …})",
        "shop.yaml:14: streams.detail.within[0].from: is missing",
        "shop.yaml:14: streams.detail.within[0].form: unknown key (did you mean from?)",
    ]
    assert "shop.yaml:13: streams.detail.within: only pages of HTML have parts" in problems(tmp_path, json)
