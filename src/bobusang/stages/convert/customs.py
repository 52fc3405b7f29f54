"""What customs ask of a thing: how it is made, and whether it is leather. Duty depends on both."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.stages.convert.materials import LEATHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.stages.convert.materials import Part

OTHER = "other"
MOSTLY = 50
"""Per cent: what is more than that is what a part is made of."""
_MAIN = ("겉감", "소재", "원단", "갑피", "외피", "제품 소재", "제품소재", "shell", "outer", "upper")
_BESIDE = re.compile(
    r"안감|내피|충전|패딩|밑창|아웃솔|인솔|미드솔|중창|깔창|바닥|굽|힐|배색|부속|장식|지퍼|손잡이|스트랩|끈|소매|주머니|"
    r"lining|filling|sole|heel|trim|strap|handle",
    re.IGNORECASE,
)
"""Parts that are never what a thing is mostly made of."""

_KNIT = re.compile(
    r"니트|스웨터|가디건|카디건|티셔츠|팔티|후드티|맨투맨|저지|스웨트|스웻|피케|플리스|후리스|레깅스|양말|"
    r"knit|sweat|cardigan|tee\b|t-shirt|jersey|pique|fleece|leggings",
    re.IGNORECASE,
)
"""What is knitted whatever else is said."""
_WOVEN = re.compile(
    r"데님|청바지|옥스포드|포플린|샴브레이|플란넬|트위드|코듀로이|개버딘|린넨|리넨|시폰|새틴|나일론|블라우스|슬랙스|치노|"
    r"블레이저|코트|트렌치|파카|패딩|푸퍼|다운\s?(?:재킷|자켓|점퍼|베스트)|바람막이|윈드브레이커|아노락|"
    r"denim|jeans|oxford|poplin|chambray|flannel|tweed|corduroy|gabardine|linen|chiffon|satin|nylon|blouse|slacks|chino|"
    r"blazer|\bcoats?\b|trench|parka|padded|puffer|down jacket|windbreaker|anorak",
    re.IGNORECASE,
)
"""A cloth, or a cut, that is woven."""
_MAYBE_KNIT = re.compile(
    r"후드|하프집업|집업|풀오버|폴로(?!\s*랄프)|카라(?!멜)|럭비|조거|트레이닝|트랙|"
    r"hood|pullover|\bpolo\b(?!\s*ralph)|rugby|jogger|training|track",
    re.IGNORECASE,
)
"""Mostly knitted; a woven cloth may be cut so too, and then its name says which (`데님 조거 팬츠`)."""
_SHIRTS = re.compile(
    r"(?:^|[>/])\s*(?:드레스\s?|남성\s?|여성\s?)?(?:셔츠|(?:dress )?shirts?)\s*(?:$|[>/])", re.IGNORECASE
)
"""A mall's shelf of shirts. What lies there is buttoned and woven: malls keep T-shirts and polos apart, and what is
knitted among them says so. A name alone that says shirt, trousers or jacket proves nothing: a rugby shirt, jogging
trousers and a fleece jacket are knitted, knitwear is never free of duty, and so what nobody knows stays unknown."""


class Construction(StrEnum):
    """How a thing is made, as customs ask."""

    KNIT = "knit"
    WOVEN = "woven"
    LEATHER = "leather"
    UNKNOWN = "unknown"


def construction(parts: Sequence[Part], said: Iterable[str]) -> Construction:
    """Leather when the main part is mostly that; else knit or woven by what its category and name call it."""
    main = mains(parts)
    if main and all(_percent(part) > MOSTLY for part in main):
        return Construction.LEATHER
    texts = tuple(said)
    for pattern, made in (
        (_KNIT, Construction.KNIT),
        (_WOVEN, Construction.WOVEN),
        (_MAYBE_KNIT, Construction.KNIT),
        (_SHIRTS, Construction.WOVEN),
    ):
        if any(pattern.search(text) for text in texts):
            return made
    return Construction.UNKNOWN


def material(parts: Sequence[Part]) -> str:
    """Leather or something else, by the main part; empty where nobody knows, which is priced as the dearest."""
    found = {_material(part) for part in mains(parts)}
    return found.pop() if len(found) == 1 else ""


def mains(parts: Sequence[Part]) -> tuple[Part, ...]:
    """What a thing is mainly made of, in whatever order its parts are told (PostgreSQL's JSON keeps none): the parts
    of the first name that means that, else all that are not known to be something beside it."""
    for name in _MAIN:
        found = tuple(part for part in parts if part.name.casefold().startswith(name))
        if found:
            return found
    return tuple(part for part in parts if not _BESIDE.search(part.name))


def _material(part: Part) -> str:
    if _percent(part) > MOSTLY:
        return LEATHER
    if any(share.percent is None for share in part.shares):
        return "" if any(share.fibre in ("", LEATHER) for share in part.shares) else OTHER
    many: defaultdict[str, Decimal] = defaultdict(Decimal)
    for share in part.shares:
        many[share.fibre] += share.percent or 0
    most = {fibre for fibre, percent in many.items() if percent == max(many.values())}
    return LEATHER if LEATHER in most else "" if "" in most else OTHER


def _percent(part: Part) -> Decimal:
    """How much of a part is leather."""
    found = [share for share in part.shares if share.fibre == LEATHER]
    if any(share.percent is None for share in found):
        return Decimal(100) if len(part.shares) == len(found) else Decimal(0)
    return sum((share.percent for share in found if share.percent is not None), Decimal(0))
