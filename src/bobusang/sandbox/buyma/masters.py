"""BUYMA's master lists, made for the brands and kinds of goods that the sandbox's malls sell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from bobusang.sandbox.words import BRANDS, KINDS, SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping

Row = tuple[object, ...]

MISSING = frozenset({"MAISON KITSUNE", "SALOMON", "JIL SANDER"})
"""Brands that BUYMA does not list, so that brand 0 happens."""
LIMITED = frozenset({"THOM BROWNE", "CANADA GOOSE"})
"""Brands that not every seller may offer."""
FREE_SIZE, OTHER_SIZE = 90, 99

_KINDS = (
    *("ハーフジップ", "スウェット・トレーナー", "ジップパーカー", "Tシャツ・カットソー", "ニット・セーター", "シャツ"),
    *("ダウンジャケット", "ウィンドブレーカー", "コート", "ジョガーパンツ", "デニム・ジーパン"),
    *("ランニングシューズ", "スニーカー", "ローファー", "リュック・バックパック", "ショルダーバッグ"),
    *("二つ折り財布", "キャップ"),
)
_GROUPS = (*["トップス"] * 6, *["アウター"] * 3, *["ボトムス"] * 2, *["靴・シューズ"] * 3, *["バッグ・カバン"] * 2)
_GROUP = (*_GROUPS, "財布・小物", "帽子")
_FLOORS = ((3060, "レディースファッション"), (3300, "メンズファッション"))
_WATCH = 3390

_MEASURES = {
    "トップス": ("着丈", "肩幅", "胸囲", "袖丈"),
    "アウター": ("着丈", "肩幅", "胸囲", "袖丈"),
    "ボトムス": ("ウエスト", "ヒップ", "総丈", "股上", "股下", "もも周り", "すそ周り"),
    "靴・シューズ": ("ヒールの高さ", "足幅"),
    "バッグ・カバン": ("高さ", "幅", "マチ", "持ち手"),
    "財布・小物": ("縦", "横", "マチ"),
    "帽子": ("頭周り", "つばの長さ"),
}
_COLORS = (
    *("ホワイト(白)", "ブラック(黒)", "グレー(灰色)", "ブラウン(茶色)", "ベージュ", "グリーン(緑)", "ブルー(青)"),
    *("ネイビー(紺)", "パープル(紫)", "イエロー(黄色)", "ピンク", "レッド(赤)", "オレンジ", "シルバー(銀)"),
    *("ゴールド(金)", "クリア"),
)
_AREAS = (
    ("2002003000", "アジア", "韓国", ""),
    ("2002003001", "アジア", "韓国", "ソウル"),
    ("2003018000", "ヨーロッパ", "ドイツ", ""),
    ("2003005000", "ヨーロッパ", "イタリア", ""),
    ("1000013000", "日本", "東京都", ""),
)
_SERVICES = ((101, "EMS", 0), (102, "K-Packet", 0), (103, "ヤマト運輸", 1), (104, "佐川急便", 0))


@dataclass(frozen=True, slots=True)
class Category:
    """A category with what it allows."""

    id: int
    path: str
    name: str
    limited: bool
    sizes: Mapping[int, str]
    measures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Masters:
    """All lists, by id."""

    brands: Mapping[int, tuple[str, bool]]
    """Name, and whether it is limited."""
    categories: Mapping[int, Category]
    colors: Mapping[int, str]
    seasons: Mapping[int, str]
    areas: Mapping[str, tuple[str, str, str]]
    themes: Mapping[int, str]
    tags: Mapping[int, tuple[str, int]]
    units: tuple[str, ...]
    models: Mapping[int, tuple[int, str]]
    services: Mapping[int, tuple[str, int]]

    @property
    def measures(self) -> frozenset[str]:
        """Every key of a size's details that any category knows."""
        return frozenset(key for category in self.categories.values() for key in category.measures)


def brand_id(index: int) -> int:
    """BUYMA's number of the sandbox's brand."""
    return 203 + 7 * index


@cache
def masters() -> Masters:
    """The lists, made once."""
    brands = {brand_id(brand.index): (brand.en, brand.en in LIMITED) for brand in BRANDS if brand.en not in MISSING}
    categories = _categories()
    return Masters(
        brands=MappingProxyType(brands),
        categories=MappingProxyType(categories),
        colors=MappingProxyType({**dict(enumerate(_COLORS, 1)), 99: "マルチカラー"}),
        seasons=MappingProxyType(dict(enumerate(("24AW", "25SS", "25AW", "26SS"), 21))),
        areas=MappingProxyType({id: (continent, country, city) for id, continent, country, city in _AREAS}),
        themes=MappingProxyType({98: "日本未入荷・入手困難", 99: "VIPセール・クーポン", 100: "ギフト"}),
        tags=MappingProxyType({id * 10 + 1: ("新作", id) for id in categories}),
        units=("cm", "inch", "号"),
        models=MappingProxyType({id * 10: (id, f"{name} ICON") for id, (name, _) in brands.items()}),
        services=MappingProxyType({id: (name, anonymous) for id, name, anonymous in _SERVICES}),
    )


def _categories() -> dict[int, Category]:
    found = {}
    for first, floor in _FLOORS:
        for place, kind in enumerate(KINDS):
            group = _GROUP[place]
            one = Category(
                first + place, f"{floor} > {group}", _KINDS[place], False, _sizes(kind.sizes), _MEASURES[group]
            )
            found[one.id] = one
    found[_WATCH] = Category(_WATCH, "メンズファッション > 腕時計", "アナログ腕時計", True, _sizes("one"), ())
    return found


def _sizes(kind: str) -> Mapping[int, str]:
    first = {"top": 1, "bottom": 21, "shoes": 41, "one": FREE_SIZE}[kind]
    named = {first + place: _size_name(kind, tag, real) for place, (tag, real) in enumerate(SIZES[kind])}
    return MappingProxyType({**named, FREE_SIZE: "FREE", OTHER_SIZE: "その他"})


def _size_name(kind: str, tag: str, real: str) -> str:
    return f"{int(real) / 10:g}cm" if kind == "shoes" else tag
