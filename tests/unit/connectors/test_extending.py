from pathlib import Path

import pytest

from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.lined.located import BadText
from bobusang.stages.collect.source import Snapshot, Target
from tests.unit.connectors.reading import page, written

PLATFORM = """\
shop: platform
intake: {kind: http, base: "https://platform.example.com"}
limits: {rate: 1/s}
streams:
  list:
    request: {get: /list, query: {brand: "{brand}"}}
    for_each: {brand: {from: inputs.brands}}
    records: items[*]
    key: id
    fields: {name: name | strip, price: price | won, old: old}
"""


def test_five_lines_make_a_shop_of_a_platform(tmp_path: Path) -> None:
    written(tmp_path, PLATFORM, "platform")
    child = written(
        tmp_path,
        """\
        shop: child
        extends: platform
        intake: {base: "https://child.example.com"}
        streams: {list: {fields: {price: cost | won, old: null}}}
        """,
        "child",
    )
    shop = load_shop(child)
    [ask] = shop.seeds(Target("brand", "x"))

    assert (shop.name, ask.url, shop.policy.limits.rate) == ("child", "https://child.example.com/list?brand=x", 1.0)
    assert list(shop.read(page(ask, {"items": [{"id": 1, "name": " A ", "cost": 5000}]})))[1] == Snapshot(
        "child", "1", {"name": "A", "price": 5000, "currency": "KRW"}
    )


def test_a_mistake_of_the_parent_is_shown_in_the_parent_s_file(tmp_path: Path) -> None:
    written(tmp_path, PLATFORM.replace("| strip", "| stripp"), "platform")
    child = written(tmp_path, "shop: child\nextends: platform\nlimits: {rate: fast}\n", "child")

    with pytest.raises(BadText) as caught:
        load_shop(child)

    first, second = str(caught.value).splitlines()
    assert first.startswith("child/shop.yaml: streams.list.fields.name: platform/shop.yaml:10: unknown filter 'stripp'")
    assert second == "child/shop.yaml:3: limits.rate: 'fast' is no rate (as in 2/s, 30/m or 80/h)"


@pytest.mark.parametrize("name", ["nobody", "../../etc", "/etc/passwd", "a/b/c"])
def test_a_parent_that_is_not_there_or_lies_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    child = written(tmp_path, f"shop: child\nextends: {name}\n", "child")

    with pytest.raises(BadText) as caught:
        load_shop(child)

    assert str(caught.value) == f"child/shop.yaml:2: extends: there is no shop '{name}' to extend"


def test_a_circle_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "shop: a\nextends: b\n", "a")

    with pytest.raises(BadText, match="leads in a circle"):
        load_shop(written(tmp_path, "shop: b\nextends: a\n", "b"))


def test_a_shipped_shop_can_be_extended(tmp_path: Path) -> None:
    shop = load_shop(written(tmp_path, "shop: mine\nextends: mustit\n", "mine"))

    assert (shop.name, shop.base) == ("mine", "https://m.web.mustit.co.kr")
