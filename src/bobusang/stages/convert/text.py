"""Text as a market counts it: its width, a cut that splits no sign, and a cleaning that is done once and for all."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import category, decomposition, east_asian_width, is_normalized, normalize

if TYPE_CHECKING:
    from collections.abc import Iterator

HANGUL = re.compile(
    "[\u1100-\u11ff\u302e\u302f\u3130-\u318f\u3200-\u321e\u3260-\u327e\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7ff\uffa0-\uffdc]"
)
"""Syllables, letters, and the signs made of them: circled, in brackets, half-width, of the old script."""

KEPT = frozenset({"<super>", "<sub>", "<fraction>", "<circle>"})
"""Folding these would change a number: 10² would be 102, 1½ would be 11⁄2."""
BLANK = frozenset("\u115f\u1160\u2800\u3164\ufffc\uffa0\u034f\u17b4\u17b5")
"""Signs that are letters or marks to Unicode and nothing to the eye: Hangul fillers, an empty Braille cell."""
HIDDEN = re.compile(f"[{''.join(BLANK)}\ufe00-\ufe0f\u180b-\u180f\U000e0100-\U000e01ef]")
LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
BLANKS = re.compile(r"[ \t]+")
SHORT = 200
"""Texts up to this length are remembered once cleaned."""
ZWJ, KEYCAP = "\u200d", "\u20e3"
JOINING = frozenset({"Mn", "Me", "Mc"})
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def width(text: str) -> int:
    """Half-width units, as Japanese markets count: a full-width sign is 2, an emoji is 2 however it is composed.

    What Unicode calls ambiguous (é, ①, …) counts 2, for a market that counts 1 loses us a sign and the other way
    round loses us the listing.
    """
    if text.isascii() and text.isprintable():
        return len(text)
    text = normalize("NFC", text)
    if not any(map(_binds, text)):
        return sum(map(_cells, text))
    return sum(_width_of(sign) for sign in graphemes(text))


def cut(text: str, limit: int) -> str:
    """The longest beginning that is no wider than `limit`, stripped: a blank at the end is no longer what was sent."""
    text = normalize("NFC", text).strip()
    if width(text) <= limit:
        return text
    kept, left = [], limit
    for sign in graphemes(text):
        left -= _width_of(sign)
        if left < 0:
            break
        kept.append(sign)
    return "".join(kept).strip()


def ending(text: str, limit: int) -> str:
    """The last words that are no wider than `limit`: in Korean and Japanese what a thing is stands last, and a word
    that is cut may be another one (パンツ, trousers; パン, bread)."""
    words = normalize("NFC", text).split()
    for first in range(len(words)):
        kept = " ".join(words[first:])
        if width(kept) <= limit:
            return kept
    return cut(words[-1], limit) if words else ""


def clean(text: str) -> str:
    """One line of visible signs: compatible forms folded, blanks made plain and single, nothing invisible."""
    return _cleaned_before(text) if len(text) <= SHORT else _cleaned(text)


def _cleaned(text: str) -> str:
    if _is_plain(text) and is_normalized("NFKC", text):
        return BLANKS.sub(" ", text).strip()
    folded = "".join(_plain(sign) for sign in normalize("NFC", LINE_ENDS.sub(" ", text)))
    return normalize("NFC", BLANKS.sub(" ", folded).strip())


_cleaned_before = lru_cache(maxsize=16_384)(_cleaned)
"""Sizes, colours and materials are few words, said of every product."""


def clean_lines(text: str) -> str:
    """Several lines, each cleaned; never more than one empty line between two."""
    lines = "\n".join(clean(line) for line in LINE_ENDS.split(text))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n")


def without_word(text: str, word: str) -> str:
    """The text with a blank wherever the word stands by itself. An expression would be made anew for every product:
    what is taken out of a name is its own model number."""
    kept, begin, at = "", 0, text.find(word)
    while at >= 0:
        end = at + len(word)
        alone = not (_in_words(text[at - 1 : at]) or _in_words(text[end : end + 1]))
        if alone:
            kept, begin = f"{kept}{text[begin:at]} ", end
        at = text.find(word, end if alone else at + 1)
    return kept + text[begin:]


def _in_words(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def has_hangul(text: str) -> bool:
    """Whether any Korean sign is in it."""
    return not text.isascii() and HANGUL.search(text) is not None


def unseen(text: str) -> tuple[str, ...]:
    """The signs that a market refuses because nobody sees them, or because they are not plain blanks."""
    if _is_plain(text.replace("\n", "")):
        return ()
    return tuple(sign for sign in text if sign != "\n" and _plain(sign) == "") + tuple(
        sign for sign in text if sign not in " \n" and _plain(sign) == " "
    )


def _is_plain(text: str) -> bool:
    """Nothing unseen is in it; most texts are so, and need no look at each sign."""
    return text.isprintable() and (text.isascii() or HIDDEN.search(text) is None)


def graphemes(text: str) -> Iterator[str]:
    """What a reader takes for one sign: a letter with its marks, a flag, a family of emoji, a syllable in letters."""
    if not any(map(_binds, text)):
        yield from text
        return
    held = ""
    for sign in text:
        if held and not _joins(held, sign):
            yield held
            held = ""
        held += sign
    if held:
        yield held


@lru_cache(maxsize=8192)
def _binds(sign: str) -> bool:
    """Whether a sign may stand with a neighbour for one; in most texts none does."""
    return _extends(sign) or _is_flag(sign) or _is_picture(sign) or sign == "\r" or "\u1100" <= sign <= "\u11ff"


@lru_cache(maxsize=8192)
def _plain(sign: str) -> str:
    """One sign, folded where folding keeps its meaning; empty if it is not to be seen."""
    if sign == "\t" or category(sign) in {"Zs", "Zl", "Zp"}:
        return " "
    if sign in BLANK or _is_variation(sign) or category(sign) in UNSEEN:
        return ""
    form = decomposition(sign)
    if not form.startswith("<") or form.split()[0] in KEPT or "\u3131" <= sign <= "\u318e":
        return sign
    folded = normalize("NFKC", sign)
    # A mark that stands alone (¨) would become a blank and a mark upon whatever comes before.
    return sign if folded.startswith(" ") else folded


def _joins(held: str, sign: str) -> bool:
    last = held[-1]
    if last == "\r":
        return sign == "\n"
    if _extends(sign):
        return category(last) != "Cc"
    if last == ZWJ:
        return _is_picture(sign) and any(_is_picture(part) for part in held)
    if _is_flag(sign):
        return len(held) == 1 and _is_flag(last)
    return _joins_hangul(last, sign)


def _joins_hangul(last: str, sign: str) -> bool:
    """Letters of one syllable, written one by one."""
    if "\u1160" <= sign <= "\u11ff":
        return "\u1100" <= last <= "\u11ff" or "\uac00" <= last <= "\ud7a3"
    return "\u1100" <= sign <= "\u115f" and "\u1100" <= last <= "\u115f"


@lru_cache(maxsize=8192)
def _extends(sign: str) -> bool:
    """Marks, selectors, skin tones, tags, the joiner, and the half-width voicing marks that belong to their kana."""
    return (
        category(sign) in JOINING
        or sign in {ZWJ, "\u200c", "\uff9e", "\uff9f"}
        or "\U0001f3fb" <= sign <= "\U0001f3ff"
        or "\U000e0020" <= sign <= "\U000e007f"
    )


def _is_flag(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _is_picture(sign: str) -> bool:
    return "\U0001f000" <= sign <= "\U0001faff" or "\u2190" <= sign <= "\u2bff" or sign in "©®‼⁉™ℹ〰〽㊗㊙"


def _is_variation(sign: str) -> bool:
    return "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef" or "\u180b" <= sign <= "\u180f"


def _width_of(grapheme: str) -> int:
    if len(grapheme) > 1 and ("\ufe0f" in grapheme or KEYCAP in grapheme or _is_picture(grapheme[0])):
        return 2
    if _is_flag(grapheme[0]):
        return 2
    return sum(_cells(sign) for sign in grapheme)


@lru_cache(maxsize=8192)
def _cells(sign: str) -> int:
    if sign in {"\uff9e", "\uff9f"}:
        return 1
    if category(sign) in JOINING or category(sign) in UNSEEN or "\u1160" <= sign <= "\u11ff":
        return 0
    return 2 if east_asian_width(sign) in "WFA" else 1
