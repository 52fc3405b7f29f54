"""Whether a model's translation says nothing of its own: no number, size or code may change, appear or get lost."""

from __future__ import annotations

import re
from collections import Counter

from bobusang.stages.convert.gates import HTML
from bobusang.stages.convert.text import clean_lines, has_hangul

WORD = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+|(?<=[0-9])[,/:](?=[0-9])[A-Za-z0-9]+)*")
SIZE = re.compile(r"(?:\d?X{0,4}[SL]|M|FREE|ONE|OS)", re.IGNORECASE)
LONGEST_GROWTH, SPARE = 4, 40


def fault(source: str, answer: str, default: str) -> str | None:
    """Why an answer is not taken, or None; `default` is the same text by rules, whose sizes may be said too."""
    if not answer.strip():
        return "the model gave an empty text"
    if len(answer) > LONGEST_GROWTH * len(source) + SPARE:
        return f"the model's text is {len(answer):,} signs long for {len(source):,}"
    if has_hangul(answer):
        return "the model left Korean in the text"
    if HTML.search(answer) and not HTML.search(source):
        return "the model added markup"
    if answer.count("\n") > source.count("\n"):
        return "the model added lines"
    return _changed(clean_lines(source), clean_lines(answer), default)


def _changed(source: str, answer: str, default: str) -> str | None:
    given, said = WORD.findall(source), WORD.findall(answer)
    kept, there = Counter(filter(_must_stay, given)), Counter(filter(_must_stay, said))
    if lost := kept - there:
        return f"the model lost or changed {_listed(lost)}"
    if made := Counter(filter(_is_figure, said)) - kept - Counter(filter(_is_figure, WORD.findall(default))):
        return f"the model made up {_listed(made)}"
    if list(filter(_has_digit, given)) != list(filter(_has_digit, said)):
        return "the model put the numbers in another order"
    return None


def _must_stay(word: str) -> bool:
    """Numbers, codes, sizes, and names in capitals."""
    return _is_figure(word) or (word.isupper() and len(word) > 1)


def _is_figure(word: str) -> bool:
    """What a model may not say of its own: a number, a code, a size."""
    return _has_digit(word) or (word.isupper() and SIZE.fullmatch(word) is not None)


def _has_digit(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def _listed(words: Counter[str]) -> str:
    return ", ".join(f"'{word}'" for word in sorted(words)[:5])
