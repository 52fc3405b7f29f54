"""Measurements as value, unit and tolerance, told under the names that the market's category allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from bobusang.catalog.variants import source_key
from bobusang.stages.convert import sizes
from bobusang.stages.convert.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

UNIT = "cm"
ABOUT = Decimal(1)
"""What 전후 and 약 allow for, in the unit's own size; malls say 1 to 3 cm, so a market is told the plain value."""

_NUMBER = r"(\d{1,4}(?:\.\d{1,2})?)"
_UNIT = r"(cm|mm|inch|in|인치|g|kg|그램|\")"
_VALUE = re.compile(
    rf"(약\s*)?{_NUMBER}(?:\s*[~\-–]\s*{_NUMBER})?\s*{_UNIT}\s*(전후|내외|정도)?\s*(?:±\s*{_NUMBER}\s*(?:cm|mm|g)?)?"
    rf"(?:\(?오차.*)?",
    re.IGNORECASE,
)
_TO_CM = {"cm": Decimal(1), "mm": Decimal("0.1"), "inch": Decimal("2.54"), "in": Decimal("2.54")}
_TO_CM |= {"인치": Decimal("2.54"), '"': Decimal("2.54")}

# Each label with the market's names it may be told under, the first that is allowed; 2: a flat width told as a girth.
NAMES: dict[str, tuple[tuple[str, int], ...]] = {
    "어깨너비": (("肩幅", 1),),
    "가슴너비": (("身幅", 1), ("胸囲", 2), ("バスト", 2)),
    "가슴둘레": (("胸囲", 1), ("バスト", 1)),
    "팔길이": (("袖丈", 1), ("裄丈", 1)),
    "소매길이": (("袖丈", 1), ("裄丈", 1)),
    "소매너비": (("袖幅", 1), ("袖周り", 2)),
    "총장": (("着丈", 1), ("総丈", 1)),
    "총기장": (("着丈", 1), ("総丈", 1)),
    "허리너비": (("ウエスト", 2),),
    "허리둘레": (("ウエスト", 1),),
    "엉덩이너비": (("ヒップ", 2),),
    "엉덩이둘레": (("ヒップ", 1),),
    "허벅지너비": (("ワタリ", 1), ("もも周り", 2)),
    "허벅지둘레": (("もも周り", 1),),
    "밑위길이": (("股上", 1),),
    "밑위": (("股上", 1),),
    "인심": (("股下", 1),),
    "밑단너비": (("裾幅", 1), ("すそ周り", 2), ("裾周り", 2)),
    "굽높이": (("ヒールの高さ", 1), ("ヒール高", 1)),
    "발볼너비": (("足幅", 1), ("ワイズ", 1)),
    "가로": (("幅", 1), ("横", 1)),
    "세로": (("高さ", 1), ("縦", 1)),
    "폭": (("マチ", 1),),
    "끈길이": (("持ち手", 1), ("ショルダー", 1)),
    "머리둘레": (("頭周り", 1), ("内周", 1)),
    "챙길이": (("つばの長さ", 1), ("つば", 1)),
}
# Size tables call a flat width 단면 as often as 너비.
NAMES |= {label.replace("너비", "단면"): names for label, names in NAMES.items() if label.endswith("너비")}
NAMES |= {"힙너비": NAMES["엉덩이너비"], "힙단면": NAMES["엉덩이너비"]}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measurement: never a number without its unit."""

    label: str
    value: Decimal
    unit: str
    tolerance: Decimal = Decimal(0)

    @property
    def centimetres(self) -> Decimal | None:
        """None for a weight."""
        factor = _TO_CM.get(self.unit)
        return None if factor is None else self.value * factor


def parse(label: str, text: str) -> Measure | None:
    """A measurement as a mall writes it (`42cm 전후`, `40~42cm`, `16.5 inch`); None without a unit, or if unclear."""
    found = _VALUE.fullmatch(clean(normalize("NFKC", text)))
    if not found:
        return None
    about, low, high, unit, around, spread = found.groups()
    value = Decimal(low)
    tolerance = Decimal(spread) if spread else ABOUT if about or around else Decimal(0)
    if high:
        if Decimal(high) < value:
            return None
        value, tolerance = (value + Decimal(high)) / 2, (Decimal(high) - value) / 2
    return Measure(label, value, unit.lower(), tolerance) if value > 0 else None


@dataclass(frozen=True, slots=True)
class Chart:
    """What the market is told of each size, and the labels that it is not told."""

    by_size: Mapping[str, tuple[dict[str, str], ...]]
    dropped: tuple[str, ...]


def chart(measurements: Any, allowed: frozenset[str]) -> Chart:
    """A record's measurements under the allowed names; every other would have the whole listing refused."""
    told: dict[str, tuple[dict[str, str], ...]] = {}
    dropped: dict[str, None] = {}
    for entry in measurements if isinstance(measurements, list) else ():
        values = entry.get("values") if isinstance(entry, dict) else None
        if not isinstance(values, dict):
            continue
        details: dict[str, str] = {}
        for label, text in values.items():
            detail = _detail(str(label), str(text), allowed)
            if detail is None or detail[0] in details:
                dropped[str(label)] = None
            else:
                details[detail[0]] = detail[1]
        size = str(entry.get("size") or sizes.FREE)
        told[key(size)] = tuple({"key": name, "value": value} for name, value in details.items())
    return Chart(told, tuple(dropped))


def key(size: str) -> str:
    """A size as charts and options both know it."""
    return source_key(sizes.written(size))


@lru_cache(maxsize=4096)
def _detail(label: str, text: str, allowed: frozenset[str]) -> tuple[str, str] | None:
    measure = parse(label, text)
    length = measure.centimetres if measure else None
    if length is None:
        return None
    for name, factor in NAMES.get(re.sub(r"\s+", "", label), ()):
        if name in allowed:
            return name, f"{(length * factor).normalize():f}"
    return None
