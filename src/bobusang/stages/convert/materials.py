"""Materials parsed into parts with shares, and how a thing is made: duty depends on both."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import msgspec

from bobusang.stages.convert.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIBRES = {
    "cotton": "면 코튼 순면 cotton 綿",
    "wool": "울 양모 램스울 메리노울 버진울 wool lambswool merino 毛 ウール",
    "cashmere": "캐시미어 캐시미르 cashmere カシミヤ",
    "silk": "실크 견 silk 絹",
    "linen": "린넨 마 아마 linen 麻",
    "polyester": "폴리에스테르 폴리에스터 폴리 polyester ポリエステル",
    "nylon": "나일론 폴리아미드 nylon polyamide ナイロン",
    "polyurethane": "폴리우레탄 스판덱스 스판 엘라스틴 polyurethane elastane spandex ポリウレタン",
    "rayon": "레이온 비스코스 viscose rayon レーヨン",
    "cupro": "큐프라 큐프로 cupro cupra キュプラ",
    "acrylic": "아크릴 acrylic アクリル",
    "modal": "모달 modal",
    "down": "거위솜털 구스다운 오리솜털 덕다운 다운 솜털 down ダウン",
    "feather": "깃털 거위깃털 오리깃털 feather フェザー",
    "leather": "소가죽 양가죽 송아지가죽 천연가죽 가죽 카프스킨 램스킨 스웨이드 leather calfskin lambskin suede 革",
    "synthetic leather": "합성피혁 합성가죽 인조가죽 에코레더 비건레더 합피 pu",
    "rubber": "고무 러버 rubber",
}
_WORDS = {word: fibre for fibre, words in _FIBRES.items() for word in words.split()}
_SHARE = re.compile(r"\s*([^\d%(),/·+&]+?)\s*[(:]?\s*(\d{1,3}(?:\.\d{1,2})?)\s*%?\s*\)?\s*(?:[,/·+&]|$|(?<=[%)])\s*)")
_BEFORE = re.compile(r"\s*(\d{1,3}(?:\.\d{1,2})?)\s*%\s*([^\d%(),/·+&]+?)\s*(?:[,/·+&]|$|(?=\d))")
_MAIN = ("겉감", "소재", "원단", "갑피", "외피", "제품 소재", "shell", "outer")

_KNIT = re.compile(
    r"니트|스웨터|가디건|카디건|티셔츠|맨투맨|후드|하프집업|저지|knit|sweat|tee\b|t-shirt|hoodie", re.IGNORECASE
)
_WOVEN = re.compile(
    r"셔츠|자켓|재킷|코트|패딩|팬츠|데님|바람막이|블라우스|점퍼|shirt|jacket|coat|denim|pants|windbreaker",
    re.IGNORECASE,
)


class Construction(StrEnum):
    """How a thing is made, as customs ask."""

    KNIT = "knit"
    WOVEN = "woven"
    LEATHER = "leather"
    UNKNOWN = "unknown"


class Share(msgspec.Struct, frozen=True):
    """A fibre of a part; `fibre` is empty where its word is not known, and `percent` None where it is not said."""

    word: str
    fibre: str
    percent: Decimal | None


class Part(msgspec.Struct, frozen=True):
    """A part of a thing and what it is made of; `whole` when the shares are said and add up to 100."""

    name: str
    shares: tuple[Share, ...]

    @property
    def whole(self) -> bool:
        said = [share.percent for share in self.shares if share.percent is not None]
        return len(said) == len(self.shares) > 0 and sum(said) == 100


def parse(materials: Any) -> tuple[Part, ...]:
    """A record's materials: by part (`{"겉감": "울(90%), 나일론(10%)"}`), or one text for the whole."""
    if isinstance(materials, str):
        materials = {"": materials}
    if not isinstance(materials, dict):
        return ()
    parts = (Part(clean(str(name)), shares(str(text))) for name, text in materials.items() if text)
    return tuple(part for part in parts if part.shares)


def shares(text: str) -> tuple[Share, ...]:
    """What a text says of a part: `울(90%), 나일론(10%)`, `면 100%`, `60% COTTON 40% POLYESTER`, or a bare word."""
    plain = clean(normalize("NFKC", text))
    for pattern, word, percent in ((_SHARE, 1, 2), (_BEFORE, 2, 1)):
        found = _all(pattern, plain)
        if found:
            return tuple(_share(match.group(word), Decimal(match.group(percent))) for match in found)
    words = [word.strip() for word in re.split(r"[,/·+&]", re.sub(r"[\d%()]", " ", plain)) if word.strip()]
    return tuple(_share(word, None) for word in words) if words and not re.search(r"\d", plain) else ()


def _all(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Matches that cover the whole text; none if anything is left over, for a half-read mixture is a wrong one."""
    found, at = [], 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None or match.end() == at:
            return []
        found.append(match)
        at = match.end()
    return found


def _share(word: str, percent: Decimal | None) -> Share:
    word = word.strip(" :-")
    return Share(word, _WORDS.get(re.sub(r"\s+", "", word).casefold(), ""), percent)


def construction(parts: tuple[Part, ...], said: Iterable[str]) -> Construction:
    """Leather when the main part is mostly that; else knit or woven by what its category and name call it."""
    main = next((part for name in _MAIN for part in parts if part.name.startswith(name)), parts[0] if parts else None)
    if main and _leather(main) > 50:
        return Construction.LEATHER
    for text in said:
        knit, woven = _KNIT.search(text), _WOVEN.search(text)
        # 티셔츠 contains 셔츠, and what is knitted says so.
        if knit or woven:
            return Construction.KNIT if knit else Construction.WOVEN
    return Construction.UNKNOWN


def _leather(part: Part) -> Decimal:
    found = [share for share in part.shares if share.fibre == "leather"]
    if any(share.percent is None for share in found):
        return Decimal(100) if len(part.shares) == len(found) else Decimal(0)
    return sum((share.percent for share in found if share.percent is not None), Decimal(0))
