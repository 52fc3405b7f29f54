"""Hangul by its sound in katakana: what no glossary knows and no model was asked about is at least readable."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from bobusang.stages.convert.text import HANGUL

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
RUN = re.compile("[가-힣]+")

COLUMNS = dict(zip(VOWELS, (0, 3, 5, 8, 4, 3, 7, 8, 4, 9, 10, 10, 7, 2, 11, 10, 12, 6, 13, 12, 1), strict=True))
"""Which column of a row a vowel takes: a i u e o, ya yu yo, ye, wa we wo wi, and ㅡ."""

ROWS = {
    row.split()[0]: row.split()[1:]
    for row in """
    ㅇ ア イ ウ エ オ ヤ ユ ヨ イェ ワ ウェ ウォ ウィ ウ
    ㅋ カ キ ク ケ コ キャ キュ キョ キェ クァ クェ クォ クィ ク
    ㄱ ガ ギ グ ゲ ゴ ギャ ギュ ギョ ギェ グァ グェ グォ グィ グ
    ㄴ ナ ニ ヌ ネ ノ ニャ ニュ ニョ ニェ ヌァ ヌェ ヌォ ヌィ ヌ
    ㅌ タ ティ トゥ テ ト テャ テュ テョ ティェ トァ トゥェ トゥォ トゥィ ト
    ㄷ ダ ディ ドゥ デ ド デャ デュ デョ ディェ ドァ ドゥェ ドゥォ ドゥィ ド
    ㄹ ラ リ ル レ ロ リャ リュ リョ リェ ルァ ルェ ルォ ルィ ル
    ㅁ マ ミ ム メ モ ミャ ミュ ミョ ミェ ムァ ムェ ムォ ムィ ム
    ㅍ パ ピ プ ペ ポ ピャ ピュ ピョ ピェ プァ プェ プォ プィ プ
    ㅂ バ ビ ブ ベ ボ ビャ ビュ ビョ ビェ ブァ ブェ ブォ ブィ ブ
    ㅅ サ シ ス セ ソ シャ シュ ショ シェ スァ スェ スォ スィ ス
    ㅊ チャ チ チュ チェ チョ チャ チュ チョ チェ チュァ チュェ チュォ チュィ ツ
    ㅈ ジャ ジ ジュ ジェ ジョ ジャ ジュ ジョ ジェ ジュァ ジュェ ジュォ ジュィ ズ
    ㅎ ハ ヒ フ ヘ ホ ヒャ ヒュ ヒョ ヒェ ファ フェ フォ フィ フ
    """.strip().splitlines()
}
"""Kana by the sound that is really heard: ㄱ is voiced here, ㅋ is not."""

HARD = {"ㄱ": "ㅋ", "ㄲ": "ㅋ", "ㄷ": "ㅌ", "ㄸ": "ㅌ", "ㅂ": "ㅍ", "ㅃ": "ㅍ", "ㅈ": "ㅊ", "ㅉ": "ㅊ", "ㅆ": "ㅅ"}
ASPIRATED = {"ㄱ": "ㅋ", "ㄷ": "ㅌ", "ㅂ": "ㅍ", "ㅈ": "ㅊ"}
SPLIT = {"ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ", "ㄾ": "ㄹㅌ"}
SPLIT |= {"ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ", "ㅄ": "ㅂㅅ"}
HEARD = dict.fromkeys("ㄷㅅㅆㅈㅊㅌ", "ㄷ") | dict.fromkeys("ㄱㄲㅋ", "ㄱ") | dict.fromkeys("ㅂㅍ", "ㅂ")
"""Which of the seven final sounds a final letter has; the rest sounds as it is written."""
SECOND_HEARD = {"ㄹㄱ": "ㄱ", "ㄹㅁ": "ㅁ", "ㄹㅍ": "ㅂ"}
"""Of two final letters the first is heard, but for these."""
ENDS = {"ㄱ": "ク", "ㄴ": "ン", "ㄷ": "ッ", "ㄹ": "ル", "ㅁ": "ム", "ㅂ": "プ", "ㅇ": "ン", " ": "", "ㅎ": ""}
NASAL = {"ㄱ": "ㅇ", "ㄷ": "ㄴ", "ㅂ": "ㅁ"}
VOICED_AFTER = frozenset(" ㄴㄹㅁㅇ")


class Syllable(NamedTuple):
    """One block, in letters; ` ` where there is no final."""

    initial: str
    vowel: str
    final: str


def transliterate(text: str) -> str:
    """The same text with every Korean sign in katakana, and everything else as it was."""
    if HANGUL.search(text) is None:
        return text
    # Letters written one by one are put together first; what then still is no syllable stands for its own sound.
    composed = HANGUL.sub(_composed, normalize("NFC", text))
    return HANGUL.sub(_letter, RUN.sub(lambda run: _spoken(run[0]), normalize("NFC", composed)))


def _composed(match: re.Match[str]) -> str:
    sign = match[0]
    return normalize("NFKC", sign) if sign not in INITIALS + VOWELS + FINALS else sign


def _letter(match: re.Match[str]) -> str:
    """A letter alone: a vowel as it sounds, a consonant with the vowel ㅡ; one of the old script has no sound left."""
    sign = match[0]
    if sign in VOWELS:
        return ROWS["ㅇ"][COLUMNS[sign]]
    number = ord(sign) - 0x1100
    if 0 <= number < len(INITIALS):
        sign = INITIALS[number]
    first = SPLIT.get(sign, sign)[0]
    if first in INITIALS:
        return ROWS[HARD.get(first, first)][COLUMNS["ㅡ"]]
    number = ord(sign) - 0x1161
    return ROWS["ㅇ"][COLUMNS[VOWELS[number]]] if 0 <= number < len(VOWELS) else ""


@lru_cache(maxsize=16_384)
def _spoken(word: str) -> str:
    written = [_syllable(block) for block in word]
    heard: list[str] = []
    before = None
    for place, syllable in enumerate(written):
        following = written[place + 1] if place + 1 < len(written) else None
        now, after = _linked(syllable, following)
        heard.append(_kana(now, before, last=after is None))
        if after is not None:
            written[place + 1] = after
        before = now
    return "".join(heard)


def _syllable(block: str) -> Syllable:
    rest, final = divmod(ord(block) - 0xAC00, len(FINALS))
    initial, vowel = divmod(rest, len(VOWELS))
    return Syllable(INITIALS[initial], VOWELS[vowel], FINALS[final])


def _linked(now: Syllable, after: Syllable | None) -> tuple[Syllable, Syllable | None]:
    """Two neighbours as they are spoken: linking (연음), aspiration, nasals, liquids."""
    final = SPLIT.get(now.final, now.final)
    if after is None:
        return now._replace(final=_heard(final)), None
    match final[-1], after.initial:
        case (" ", _) | ("ㅇ", "ㅇ"):
            return now, after
        case "ㅎ", "ㅇ":
            rest = final[:-1]
            return (now._replace(final=" "), after._replace(initial=rest)) if rest else (now._replace(final=" "), after)
        case last, "ㅇ":
            return now._replace(final=_heard(final[0]) if len(final) > 1 else " "), after._replace(initial=last)
        case "ㅎ", ("ㄱ" | "ㄷ" | "ㅂ" | "ㅈ") as initial:
            return now._replace(final=final[:-1] or " "), after._replace(initial=ASPIRATED[initial])
        case ("ㄱ" | "ㄷ" | "ㅂ" | "ㅈ") as last, "ㅎ":
            return now._replace(final=final[:-1] or " "), after._replace(initial=ASPIRATED[last])
    return _met(now._replace(final=_heard(final)), after)


def _met(now: Syllable, after: Syllable) -> tuple[Syllable, Syllable]:
    match now.final, after.initial:
        case "ㄹ", "ㄹ":
            # So Korean writes a foreign l, and what is left to be sounded is mostly foreign names: 몽클레어, 셀린느.
            return now._replace(final=" "), after
        case ("ㄴ", "ㄹ") | ("ㄹ", "ㄴ"):
            return now._replace(final="ㄹ"), after._replace(initial="ㄹ")
        case (("ㅁ" | "ㅇ"), "ㄹ"):
            return now, after._replace(initial="ㄴ")
        case ("ㄱ" | "ㄷ" | "ㅂ") as final, ("ㄴ" | "ㅁ"):
            return now._replace(final=NASAL[final]), after
    return now, after


def _heard(final: str) -> str:
    sound = SECOND_HEARD.get(final, final[0])
    return HEARD.get(sound, sound)


def _kana(now: Syllable, before: Syllable | None, *, last: bool) -> str:
    """Soft consonants are voiced between voiced sounds only; ㅅ-like finals close the word as ット."""
    soft = before is not None and before.final in VOICED_AFTER
    initial = now.initial if soft and now.initial in ROWS else HARD.get(now.initial, now.initial)
    end = "ット" if last and now.final == "ㄷ" else ENDS[now.final]
    return ROWS[initial][COLUMNS[now.vowel]] + end
