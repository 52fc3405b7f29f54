"""How people type and how names are written, brought to one form: folded text, words, jamo, initials and keyboards."""

from __future__ import annotations

import re
from unicodedata import normalize

LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
TAILS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
STROKES = {
    one: first + second
    for one, first, second in zip(
        "ㅘㅙㅚㅝㅞㅟㅢㄳㄵㄶㄺㄻㄼㄽㄾㄿㅀㅄ",
        "ㅗㅗㅗㅜㅜㅜㅡㄱㄴㄴㄹㄹㄹㄹㄹㄹㄹㅂ",
        "ㅏㅐㅣㅓㅔㅣㅣㅅㅈㅎㄱㅁㅂㅅㅌㅍㅎㅅ",
        strict=True,
    )
}
"""A jamo that is typed by two keys."""
KEYS = dict(
    zip(
        "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡㅃㅉㄸㄲㅆㅒㅖ",
        "qwertyuiopasdfghjklzxcvbnmQWERTOP",
        strict=True,
    )
)
"""The keyboard that Korea types on (두벌식)."""

_LETTERS = {key: jamo for jamo, key in KEYS.items()}
_FIRST = ord("가")
_PLAIN = re.compile(r"[\x00-\x7f가-힣]*")
_JAMO = re.compile(r"([ㄱ-ㅣ]+)")
_MARKS = re.compile(r"[\u0300-\u036f]+")
_HIRAGANA = {code: code + 0x60 for code in range(ord("ぁ"), ord("ゖ") + 1)}
_LONE = {
    **{0x1100 + place: jamo for place, jamo in enumerate(LEADS)},
    **{0x1161 + place: jamo for place, jamo in enumerate(VOWELS)},
    **{0x11A7 + place: jamo for place, jamo in enumerate(TAILS) if jamo},
}
"""Jamo as half a syllable's code, as they are left over where nothing stands to join them."""

_EAST = r"ァ-ヺーヽ-ヿ㐀-䶿一-鿿々"
_LATIN = rf"[^\W_가-힣ㄱ-ㅣ{_EAST}]+"
_WORD = re.compile(rf"[가-힣]+|[ㄱ-ㅣ]+|[{_EAST}]+|{_LATIN}(?:['’.&]{_LATIN})*")
_ASCII = re.compile(r"[a-z0-9]+(?:['.&][a-z0-9]+)*")
_JOINTS = re.compile(r"['’.&]+")
_COMPOUND = re.compile(rf"{_LATIN}(?:[-_/.]{_LATIN})+")
_ASCII_COMPOUND = re.compile(r"[a-z0-9]+(?:[-_/.][a-z0-9]+)+")
_INITIALS = re.compile(f"[{LEADS}]+")
_GAPS = re.compile(r"[\W_]+")

_VOWEL = "|".join((*(pair for one, pair in STROKES.items() if one in VOWELS), "[ㅏ-ㅣ]"))
_TAIL = "|".join((*(pair for one, pair in STROKES.items() if one not in VOWELS), f"[{''.join(TAILS)}]"))
_SYLLABLE = re.compile(f"([{LEADS}])({_VOWEL})((?:{_TAIL})(?![ㅏ-ㅣ]))?")
_JOINED = {pair: one for one, pair in STROKES.items()}


def folded(text: str) -> str:
    """One form of letters: no capitals, full and half width, accents or hiragana; jamo typed alone stay as they are."""
    if _PLAIN.fullmatch(text):
        return text.lower()
    return "".join(part if place % 2 else _folded(part) for place, part in enumerate(_JAMO.split(text)))


def _folded(text: str) -> str:
    bare = _MARKS.sub("", normalize("NFKD", text)).casefold()
    return normalize("NFC", _MARKS.sub("", normalize("NFKD", bare))).translate(_HIRAGANA).translate(_LONE)


def words(text: str) -> list[str]:
    """The words of a folded text: cut at spaces, signs and where the script changes; `a.p.c.` is one, `apc`."""
    found: list[str] = (_ASCII if text.isascii() else _WORD).findall(text)
    return [_JOINTS.sub("", word) for word in found] if _JOINTS.search(text) else found


def compounds(text: str) -> list[str]:
    """What stands joined by hyphens and the like in a folded text, as one word: `cw2288-111` is `cw2288111`."""
    return [compact(found) for found in (_ASCII_COMPOUND if text.isascii() else _COMPOUND).findall(text)]


def compact(text: str) -> str:
    """A folded text without spaces and signs."""
    return _GAPS.sub("", text)


def is_hangul(word: str) -> bool:
    """Whether a word of `words` is made of syllables."""
    return "가" <= word[:1] <= "힣"


def is_jamo(word: str) -> bool:
    """Whether a word of `words` is made of single jamo."""
    return "ㄱ" <= word[:1] <= "ㅣ"


def is_initials(word: str) -> bool:
    """Whether a word of `words` is made of consonants that can begin a syllable: `ㄴㅇㅋ`."""
    return _INITIALS.fullmatch(word) is not None


def is_dense(word: str) -> bool:
    """Whether a word is of a script in which two letters say as much as three Latin ones."""
    return word[:1] >= "ぁ"


def jamo(text: str) -> str:
    """Syllables as the keys by which they are typed (`과` is `ㄱㅗㅏ`), so that what is half typed is a beginning."""
    return "".join(map(_strokes, text))


def _strokes(letter: str) -> str:
    if not "가" <= letter <= "힣":
        return STROKES.get(letter, letter)
    lead, vowel, tail = _parts(letter)
    return lead + STROKES.get(vowel, vowel) + STROKES.get(tail, tail)


def _parts(syllable: str) -> tuple[str, str, str]:
    place = ord(syllable) - _FIRST
    return LEADS[place // 588], VOWELS[place % 588 // 28], TAILS[place % 28]


def initials(text: str) -> str:
    """The consonants its syllables begin with (초성); other letters stay."""
    return "".join(LEADS[(ord(letter) - _FIRST) // 588] if "가" <= letter <= "힣" else letter for letter in text)


def as_hangul(typed: str) -> str:
    """What somebody meant who typed Korean on a keyboard left at English (`skdlzl` is `나이키`); empty: nothing."""
    if not typed.isascii() or not typed.isalpha():
        return ""
    keys = typed.lower() if typed.isupper() else typed
    letters = "".join(_LETTERS.get(key) or _LETTERS[key.lower()] for key in keys)
    return _SYLLABLE.sub(_syllable, letters) if not _SYLLABLE.sub("", letters) else ""


def _syllable(found: re.Match[str]) -> str:
    lead, vowel, tail = found[1], found[2], found[3] or ""
    place = LEADS.index(lead) * 588 + VOWELS.index(_JOINED.get(vowel, vowel)) * 28
    return chr(_FIRST + place + TAILS.index(_JOINED.get(tail, tail)))


def as_latin(typed: str) -> str:
    """What somebody meant who typed English on a keyboard left at Korean (`ㅜㅑㅏㄷ` is `nike`)."""
    return "".join(KEYS.get(letter, letter) for letter in jamo(typed)).lower()
