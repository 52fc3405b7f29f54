"""What may not be sold or said, in three dated lists: brands, purchase sources, words."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize

from bobusang.kit.commas import reading
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOKEN = re.compile(r"[0-9A-Za-zÀ-ɏ]+|[ァ-ヺー・]+|[ぁ-ゖ]+|[一-鿿々]+|[가-힣]+")
"""A run of one script: Japanese puts no blank between words, and コピー品 must not hide コピー."""


COLUMNS = ("kind", "term", "since", "until", "market", "language", "replacement", "evidence")


class List(StrEnum):
    """Which of the three lists."""

    BRAND = "brand"
    SOURCE = "source"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """One entry, in force from `since` to the day before `until`; an empty market or language means every one."""

    kind: List
    term: str
    since: date
    until: date | None = None
    market: str = ""
    language: str = ""
    replacement: str | None = None
    """What a word becomes instead, perhaps nothing; None: a person has to reword it."""
    evidence: str = ""

    def __post_init__(self) -> None:
        if not tokens(self.term):
            raise Invalid(f"'{self.term}' holds no word", hint="letters or digits", field="term")
        if self.replacement is not None and occurs(self.term, self.replacement):
            hint = "a replacement without the word itself"
            raise Invalid(f"'{self.term}' would be replaced by itself", hint=hint, field="replacement")

    def holds(self, market: str, language: str, on: date) -> bool:
        """Whether it is in force there and then."""
        return (
            self.since <= on
            and (self.until is None or on < self.until)
            and self.market in {"", market}
            and self.language in {"", language}
        )


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Its words in one spelling."""
    return tuple(TOKEN.findall(normalize("NFKC", text).casefold()))


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same words: MM6 is not Maison Margiela MM6, and OM is in no COMME."""
    return tokens(one) == tokens(other)


def occurs(term: str, text: str) -> bool:
    """Whether all words of a term stand in a text, one after the other."""
    wanted, given = tokens(term), tokens(text)
    return any(given[start : start + len(wanted)] == wanted for start in range(len(given) - len(wanted) + 1))


def replaced(text: str, entries: Iterable[Forbidden]) -> str:
    """The text with those words replaced that have a replacement; the longest first."""
    words = [entry for entry in entries if entry.kind is List.WORD and entry.replacement is not None]
    for entry in sorted(words, key=lambda entry: -len(entry.term)):
        if occurs(entry.term, text):
            text = _without(text, tokens(entry.term), entry.replacement or "")
    return text


def read(text: str) -> tuple[Forbidden, ...]:
    """A list from CSV: kind, term, since, and if wanted until, market, language, replacement, evidence.

    An empty replacement means that there is none; `-` takes the word out.
    """
    with reading("the forbidden list", COLUMNS):
        rows = list(csv.DictReader(text.lstrip("\ufeff").splitlines()))
    return tuple(_entry(row, number) for number, row in enumerate(rows, start=2))


def _entry(row: Mapping[str, str | None], number: int) -> Forbidden:
    given = {name: (value or "").strip() for name, value in row.items() if name and isinstance(value, str | None)}
    replacement = {"": None, "-": ""}.get(given.get("replacement", ""), given.get("replacement", ""))
    try:
        return Forbidden(
            List(given.get("kind", "")),
            given.get("term", ""),
            date.fromisoformat(given.get("since", "")),
            date.fromisoformat(given["until"]) if given.get("until") else None,
            given.get("market", ""),
            given.get("language", ""),
            replacement,
            given.get("evidence", ""),
        )
    except (ValueError, Invalid) as error:
        hint = "kind is brand, source or word; days are written 2026-01-27"
        raise Invalid(f"line {number} of the forbidden list: {error}", hint=hint, field=f"line {number}") from error


def _without(text: str, wanted: tuple[str, ...], replacement: str) -> str:
    places = list(TOKEN.finditer(text))
    written = [normalize("NFKC", place[0]).casefold() for place in places]
    parts, start, index = [], 0, 0
    while index < len(places):
        if tuple(written[index : index + len(wanted)]) == wanted:
            parts += [text[start : places[index].start()], replacement]
            index += len(wanted)
            start = places[index - 1].end()
        else:
            index += 1
    return "".join([*parts, text[start:]])
