"""Sizes: what looks like one, what all means the same single size, and how one is written."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

FREE = "FREE"
"""How the one size of a thing without sizes is written everywhere."""

_FREE = frozenset(
    word
    for line in (
        "free freesize f onesize one os uni unisize tu single singlesize nosize",
        "단일 단일사이즈 단일상품 프리 프리사이즈 원사이즈 원사이즈상품 사이즈없음 フリー フリーサイズ ワンサイズ",
    )
    for word in line.split()
)
_KOREAN = {
    "엑스스몰": "XS",
    "스몰": "S",
    "미디움": "M",
    "미디엄": "M",
    "라지": "L",
    "엑스라지": "XL",
    "투엑스라지": "2XL",
    "더블엑스라지": "2XL",
    "소": "S",
    "중": "M",
    "대": "L",
    "특대": "XL",
}
_ENGLISH = {"SMALL": "S", "MEDIUM": "M", "LARGE": "L", "X-LARGE": "XL", "XLARGE": "XL"}
_SPELLED = sorted((_KOREAN | _ENGLISH).items(), key=lambda pair: -len(pair[0]))
_LETTERS = re.compile(r"(?<![A-Z0-9])(\d{0,2})(X{0,4})([SML])(?![A-Z])")
_REGION = r"(?:US|UK|EU|EUR|FR|IT|KR|JP|JPN|DE|AU|W|M|Y)"
_LETTER = r"(?:\d{0,2}X{0,4}[SL]|X{1,4}[SL]?|M|SMALL|MEDIUM|LARGE)"
_NUMBER = r"\d{1,3}(?:[.,]\d{1,2})?(?:\s?(?:[12]/[23]|[1357]/[48]))?"
_UNIT = r"(?:CM|MM|INCH|IN|호|号|사이즈|SIZE|Y|T|M|W|L|MONTHS?|개월|세)"
_ONE = rf"(?:{_REGION}\s?)?(?:{_LETTER}|{_NUMBER}\s?{_UNIT}?)(?:\s?사이즈)?"
_SIZE = re.compile(rf"{_ONE}(?:\s?[-/~(\[,]\s?{_ONE}\s?[)\]]?)*", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_APART = re.compile(r"[\s\-_/.·]+")
_FRACTION = re.compile(r"[¼-¾⅐-⅟↉]")
_HALF = re.compile(r"(?<![\d.,/])(\d{1,3}) 1/2(?!\d)")


@lru_cache(maxsize=8192)
def is_free(text: str) -> bool:
    """Whether this says that there is one size only: FREE, Free, ONE SIZE, O/S, 단일 …"""
    return _APART.sub("", normalize("NFKC", text).casefold()) in _FREE


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """In plain signs and single blanks: a fraction keeps its number (`42⅔` is not 422), and a half is written as the
    market's lists write it (`8½` is 8.5)."""
    apart = _FRACTION.sub(lambda found: f" {found[0]}", text)
    folded = _SPACES.sub(" ", normalize("NFKC", apart).replace("\u2044", "/")).strip()
    return _HALF.sub(r"\1.5", folded)


@lru_cache(maxsize=8192)
def is_size(text: str) -> bool:
    """Whether this reads as a size; a colour's number such as `009` does too, so a group is judged as a whole."""
    said = plain(text)
    return is_free(said) or said in _KOREAN or _SIZE.fullmatch(said) is not None


@lru_cache(maxsize=8192)
def written(text: str) -> str:
    """A size as it is written: one FREE for all its names, letters in capitals, Korean words for letters undone."""
    said = plain(text)
    if is_free(said):
        return FREE
    said = _KOREAN.get(said, said)
    short = re.sub(r"\s*(?:사이즈|size)$", "", said, flags=re.IGNORECASE) or said
    return short.upper() if _SIZE.fullmatch(short) else short


def letters(text: str) -> list[str]:
    """The letter sizes that a text names, each in one spelling: `Small (95)` is S, XXL and 2XL are 2XL."""
    said = plain(text).upper()
    for word, letter in _SPELLED:
        said = said.replace(word, f" {letter} ")
    return [_letter(*found) for found in _LETTERS.findall(said)]


def _letter(number: str, exes: str, size: str) -> str:
    times = int(number) if number else len(exes)
    return size if not times else f"X{size}" if times == 1 else f"{times}X{size}"
