"""What a market would refuse in a text, found before anything is sent, each with what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.stages.convert.forbidden import List, occurs, replaced, same_name
from bobusang.stages.convert.text import HANGUL, unseen, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from bobusang.stages.convert.forbidden import Forbidden

HTML = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-z]{2,8}|#\d{1,6}|#x[0-9a-f]{1,6});", re.IGNORECASE)
BROKEN = "\ufffd"


class Field(StrEnum):
    """A text of a listing."""

    NAME = "name"
    OPTION = "option"
    SHOP_NAME = "shop_name"
    COMMENTS = "comments"
    NOTE = "colorsize_comments"
    BRAND_NAME = "brand_name"


class Rule(StrEnum):
    """What is checked."""

    EMPTY = "empty"
    HANGUL = "hangul"
    UNSEEN = "unseen"
    BLANKS = "blanks"
    BROKEN = "broken"
    HTML = "html"
    LENGTH = "length"
    BRAND = "forbidden_brand"
    SOURCE = "forbidden_source"
    WORD = "forbidden_word"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text may not be sent: where, by which rule, and what to do."""

    field: str
    rule: Rule
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a text may be: half-width units, or plain signs."""

    most: int
    units: bool = True
    lines: bool = False
    required: bool = False

    def length(self, text: str) -> int:
        """As this limit counts."""
        return width(text) if self.units else len(text)


@dataclass(frozen=True, slots=True)
class Gate:
    """A market's rules for texts in its language."""

    market: str
    language: str
    limits: Mapping[Field, Limit]
    forbidden: tuple[Forbidden, ...] = field(default=())

    def problems(self, texts: Iterable[tuple[Field, str, str]], on: date) -> tuple[Problem, ...]:
        """Of every text, given with its kind and with what it is called: `option[3]`."""
        held = self.entries(on)
        return tuple(problem for kind, name, text in texts for problem in self._of(kind, name, text, held))

    def entries(self, on: date) -> tuple[Forbidden, ...]:
        """What is forbidden here on that day."""
        return tuple(entry for entry in self.forbidden if entry.holds(self.market, self.language, on))

    def reworded(self, text: str, on: date) -> str:
        """A text with its words replaced where there is a replacement; one without such a word stays as it is, so that
        a list that is mended changes no other listing."""
        made = replaced(text, self.entries(on))
        return text if made == text else "\n".join(" ".join(line.split()) for line in made.split("\n"))

    def names(self, brand: str, source: str, on: date) -> tuple[Problem, ...]:
        """Whether the brand may be sold and the source be bought from."""
        given = {List.BRAND: brand, List.SOURCE: source}
        return tuple(
            _unwanted(entry)
            for entry in self.entries(on)
            if entry.kind in given and same_name(entry.term, given[entry.kind])
        )

    def _of(self, kind: Field, name: str, text: str, held: Iterable[Forbidden]) -> Iterable[Problem]:
        limit = self.limits[kind]
        yield from _shape(name, text, limit)
        yield from _signs(name, text)
        for entry in held:
            if entry.kind is List.WORD and occurs(entry.term, text):
                how = "reword it" if entry.replacement is None else f"write '{entry.replacement}' instead"
                yield Problem(name, Rule.WORD, f"'{entry.term}' may not be said on {self.market}", how)


def _shape(name: str, text: str, limit: Limit) -> Iterable[Problem]:
    if not text.strip():
        if limit.required:
            yield Problem(name, Rule.EMPTY, "there is no text", "translate the source's text, or write one")
        return
    if text != text.strip() or "  " in text or (not limit.lines and "\n" in text):
        yield Problem(name, Rule.BLANKS, "blanks at an end, in a row, or a second line", "clean it")
    length = limit.length(text)
    if length > limit.most:
        unit = "half-width units" if limit.units else "signs"
        advice = f"shorten it by {length - limit.most}"
        yield Problem(name, Rule.LENGTH, f"{length:,} {unit}, at most {limit.most:,} are allowed", advice)


def _signs(name: str, text: str) -> Iterable[Problem]:
    if found := "".join(dict.fromkeys(HANGUL.findall(text))):
        advice = "add the word to the glossary, or correct the translation"
        yield Problem(name, Rule.HANGUL, f"Korean is left: {found[:20]}", advice)
    if hidden := sorted(set(unseen(text))):
        codes = ", ".join(f"U+{ord(sign):04X}" for sign in hidden[:5])
        yield Problem(name, Rule.UNSEEN, f"signs that nobody sees: {codes}", "clean it")
    if BROKEN in text:
        yield Problem(name, Rule.BROKEN, "a sign was lost in decoding", "read the source's page again")
    if tag := HTML.search(text):
        yield Problem(name, Rule.HTML, f"HTML is not allowed: {tag[0][:40]}", "take the text without its markup")


def _unwanted(entry: Forbidden) -> Problem:
    why = f": {entry.evidence}" if entry.evidence else ""
    if entry.kind is List.BRAND:
        return Problem("brand", Rule.BRAND, f"'{entry.term}' may not be sold{why}", "leave it out, or lift the entry")
    advice = "buy it elsewhere, or lift the entry"
    return Problem("source", Rule.SOURCE, f"nothing may be bought from '{entry.term}'{why}", advice)


BUYMA_LIMITS = {
    Field.NAME: Limit(60, required=True),
    Field.OPTION: Limit(26, required=True),
    Field.SHOP_NAME: Limit(30),
    Field.COMMENTS: Limit(3000, units=False, lines=True, required=True),
    Field.NOTE: Limit(1000, units=False, lines=True),
    Field.BRAND_NAME: Limit(60),
}
"""As BUYMA refuses them; its brand name has no limit that we know, so the name's."""


def buyma(forbidden: Iterable[Forbidden] = ()) -> Gate:
    """BUYMA's gate, with the lists of the day."""
    return Gate("buyma", "ja", BUYMA_LIMITS, tuple(forbidden))
