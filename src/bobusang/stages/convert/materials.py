"""Materials parsed into parts with shares, and each word into its fibre: duty depends on them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from unicodedata import normalize

import msgspec

from bobusang.stages.convert.text import clean

LEATHER = "leather"
_FIBRES = {
    "cotton": "면 코튼 순면 cotton 綿",
    "wool": "울 양모 램스울 메리노울 버진울 wool lambswool merino 毛 ウール",
    "cashmere": "캐시미어 캐시미르 cashmere カシミヤ",
    "alpaca": "알파카 alpaca アルパカ",
    "mohair": "모헤어 mohair モヘヤ",
    "silk": "실크 견 silk 絹",
    "linen": "린넨 리넨 마 아마 linen 麻",
    "polyester": "폴리에스테르 폴리에스터 폴리 polyester ポリエステル",
    "nylon": "나일론 폴리아미드 nylon polyamide ナイロン",
    "polyurethane": "폴리우레탄 스판덱스 스판 엘라스틴 polyurethane elastane spandex ポリウレタン",
    "rayon": "레이온 비스코스 viscose rayon レーヨン",
    "lyocell": "텐셀 리오셀 라이오셀 lyocell tencel リヨセル",
    "cupro": "큐프라 큐프로 cupro cupra キュプラ",
    "acrylic": "아크릴 acrylic アクリル",
    "modal": "모달 modal",
    "down": "거위솜털 구스다운 오리솜털 덕다운 다운 솜털 down ダウン",
    "feather": "깃털 거위깃털 오리깃털 feather フェザー",
    "cloth": "패브릭 캔버스 메쉬 메시 텍스타일 직물 섬유 합성섬유 데님 fabric canvas mesh textile denim",
    "straw": "라피아 밀짚 왕골 raffia straw",
    LEATHER: (
        "가죽 레더 천연가죽 생가죽 통가죽 소가죽 양가죽 송아지가죽 염소가죽 돼지가죽 천연소가죽 천연양가죽 천연피혁 "
        "카프스킨 램스킨 쉽스킨 시프스킨 고트스킨 카우하이드 스웨이드 소가죽스웨이드 누벅 소가죽누벅 나파가죽 "
        "leather genuineleather realleather bovine bovineleather cowleather calfleather goatleather sheepleather "
        "lambleather cowhide cowskin calfskin lambskin sheepskin goatskin nappa nubuck suede calfsuede cowsuede 革"
    ),
    "synthetic leather": (
        "합성피혁 합성가죽 합성레더 인조가죽 인조피혁 인조레더 인조스웨이드 에코레더 에코가죽 비건레더 비건가죽 "
        "합피 합성 인조 pu pu가죽 pu레더 puleather fauxleather fauxsuede ecoleather veganleather syntheticleather "
        "artificialleather syntheticsuede synthetic 合成皮革 合皮"
    ),
    "plastic": "pvc tpu eva 에바",
    "rubber": "고무 합성고무 러버 rubber",
}
_WORDS = {word: fibre for fibre, words in _FIBRES.items() for word in words.split()}
_WORD = r"[^\d%(),/·+&]+?(?:\([^\d%()]+\))?"
_SHARE = re.compile(rf"\s*({_WORD})\s*[(:]?\s*(\d{{1,3}}(?:\.\d{{1,2}})?)\s*%?\s*\)?\s*(?:[,/·+&]|$|(?<=[%)])\s*)")
_BEFORE = re.compile(rf"\s*(\d{{1,3}}(?:\.\d{{1,2}})?)\s*%\s*({_WORD})\s*(?:[,/·+&]|$|(?=\d))")
_APART = re.compile(r"[,/·+&](?![^(]*\))")
_REMARK = re.compile(r"\(([^()]*)\)")
_LABEL = r"[^\s\d%():,/|;·+&]{1,8}"
_NAME = re.compile(rf"{_LABEL}(?:\s{_LABEL})?")
_LABELLED = (
    re.compile(rf"\s*[,/|;]\s*(?={_NAME.pattern}\s*:)"),
    re.compile(rf"\s*[,/|;]\s*(?={_LABEL}\s*:)|\s+(?={_LABEL}\s*:)"),
)
"""Where the next part begins in a text that names parts: behind a sign, or where there is none behind a blank."""


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
    named = [one for name, text in materials.items() if text for one in _labelled(str(name), str(text))]
    return tuple(Part(clean(name), found) for name, text in named if (found := shares(text)))


def _labelled(name: str, text: str) -> list[tuple[str, str]]:
    """One text that names parts by itself (`밑창: 고무 / 갑피: 소가죽`); `면: 60%` names none."""
    plain = clean(normalize("NFKC", text))
    for pattern in _LABELLED if ":" in plain else ():
        pieces = [piece.partition(":") for piece in pattern.split(plain)]
        if all(_NAME.fullmatch(label.strip()) and ":" not in rest and shares(rest) for label, _, rest in pieces):
            return [(label, rest) for label, _, rest in pieces]
    return [(name, text)]


def shares(text: str) -> tuple[Share, ...]:
    """What a text says of a part: `울(90%), 나일론(10%)`, `면 100%`, `60% COTTON 40% POLYESTER`, or a bare word."""
    plain = clean(normalize("NFKC", text))
    for pattern, word, percent in ((_SHARE, 1, 2), (_BEFORE, 2, 1)):
        found = _all(pattern, plain)
        if found:
            return tuple(_share(match.group(word), Decimal(match.group(percent))) for match in found)
    if re.search(r"\d", plain):
        return ()
    words = [word.strip() for word in _APART.split(plain.replace("%", " "))]
    return tuple(_share(word, None) for word in words if re.sub(r"[()\s]", "", word))


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
    return Share(" ".join(re.sub(r"[()]", " ", word).split()), _fibre(word), percent)


def _fibre(word: str) -> str:
    """The fibre of a word; its remark may be anything (`소가죽(겉)`) but another fibre (`가죽(합성)`)."""
    found = _known(_REMARK.sub("", word))
    remarks = {_known(remark) for remark in _REMARK.findall(word)}
    return found if remarks <= {"", found} else ""


def _known(word: str) -> str:
    return _WORDS.get(re.sub(r"\s+", "", word).casefold(), "")
