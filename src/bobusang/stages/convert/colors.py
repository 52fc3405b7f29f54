"""Colours: what looks like one, and which of a market's few families it belongs to."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

MULTI = "multi"

_FAMILIES = {
    "white": "white ivory cream offwhite ecru 화이트 흰색 아이보리 크림 오프화이트 백색 ホワイト アイボリー 白",
    "black": "black blk bk jetblack 블랙 검정 검정색 검은색 흑색 흑청 ブラック 黒",
    "gray": "gray grey charcoal melange heather ash 그레이 회색 차콜 멜란지 애쉬 グレー チャコール 灰色",
    "brown": "brown camel mocha cognac chocolate tan 브라운 갈색 카멜 모카 초콜릿 밤색 ブラウン 茶色 茶",
    "beige": "beige sand oatmeal 베이지 샌드 오트밀 ベージュ",
    "green": "green khaki olive mint lime 그린 초록 녹색 연두 카키 올리브 민트 라임 グリーン 緑 カーキ",
    "blue": "blue sky denim indigo aqua turquoise 블루 파랑 파란색 하늘색 소라 데님 연청 중청 진청 인디고 ブルー 青",
    "navy": "navy nvy 네이비 남색 곤색 ネイビー 紺",
    "purple": "purple violet lavender lilac 퍼플 보라 보라색 바이올렛 라벤더 パープル 紫",
    "yellow": "yellow mustard lemon 옐로우 옐로 노랑 노란색 머스타드 레몬 イエロー 黄色 黄",
    "pink": "pink rose coral peach 핑크 분홍 분홍색 로즈 코랄 피치 ピンク",
    "red": "red wine burgundy bordeaux crimson 레드 빨강 빨간색 와인 버건디 자주 크림슨 レッド 赤",
    "orange": "orange brick 오렌지 주황 주황색 オレンジ",
    "silver": "silver 실버 은색 シルバー 銀",
    "gold": "gold 골드 금색 ゴールド 金",
    "clear": "clear transparent 투명 클리어 クリア 透明",
    MULTI: "multi multicolor multicolour 멀티 멀티컬러 マルチ マルチカラー",
}
_WORDS = {word: family for family, words in _FAMILIES.items() for word in words.split()}
_MODIFIERS = frozenset(("denim", "데님", "melange", "heather", "멜란지"))
"""How a colour is dyed: a family only where no other colour is named, for `Black Denim` is black."""
_APART = frozenset({"white", "black"})
"""Neither shades the other (grey would be the word for it): side by side they are two colours."""
_SPELLED = "|".join(sorted((word for word in _WORDS if not word.isascii()), key=len, reverse=True))
_MENTION = re.compile(rf"[a-z]+|{_SPELLED}")
_SIGN = re.compile(r"[/&+,|×]|(?<![a-z])(?:x|and|mix)(?![a-z])")
_RUN = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=8192)
def families(text: str) -> frozenset[str]:
    """The families that are named in a text; none if it names no colour that we know.

    Latin words count as words (so that `blackout` is no black), Hangul and kana wherever they stand (`라이트블루`).
    """
    return frozenset(family for part in _parts(text) for family in _named(part))


@lru_cache(maxsize=8192)
def family(text: str) -> str | None:
    """The one family of a colour; several are `multi`, and None is not known."""
    found = {shade for part in _parts(text) if (shade := _shaded(part)) is not None}
    return MULTI if len(found) > 1 else next(iter(found), None)


def _parts(text: str) -> list[str]:
    """What stands between signs: `Black/White` is two colours, `Sand Beige` is one."""
    return _SIGN.split(normalize("NFKC", text).casefold().replace("off-white", "offwhite"))


def _named(part: str) -> list[str]:
    """The families of its words in their order."""
    words = [word for word in _MENTION.findall(part) if word in _WORDS]
    return [_WORDS[word] for word in words if word not in _MODIFIERS] or [_WORDS[word] for word in words]


def _shaded(part: str) -> str | None:
    """Words without a sign between them shade the last one, in one run of letters too: `샌드베이지`."""
    named = _named(part)
    if len(set(named)) < 2:
        return named[0] if named else None
    words = part.split()
    last = next((word for word in reversed(words) if not _is_modifier(word)), words[-1])
    runs = {shades[-1] for run in _RUN.findall(last) if (shades := _named(run))}
    return MULTI if len(runs) != 1 or set(named) >= _APART else runs.pop()


def _is_modifier(word: str) -> bool:
    words = [found for found in _MENTION.findall(word) if found in _WORDS]
    return bool(words) and _MODIFIERS.issuperset(words)


def is_color(text: str) -> bool:
    """Whether a text names a colour that we know."""
    return bool(families(text))
