"""The list of goods inside of JSON, wherever it stands: records, how many there are, and what leads further."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.generator.guess import Guess, guesses

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 10
MOST_LISTS = 2000

_TOTAL = re.compile(r"(?:total|count|nb|num)[a-z]{0,12}$|[a-z]{0,12}(?:total|count|found|hits)$")
_NOT_TOTAL = re.compile(r"page|size|limit|perpage|review|like|price|amount")
_OTHER = re.compile(
    r"banner|menu|navi|categor|brand|notice|event|review|faq|popup|filter|option|tags?$|keyword|footer|crumb|seller|store"
    r"|shop$|collection|promotion|exhibit|search|query"
)
_NEXT = re.compile(r"next(?:url|link|page|pageurl|apiurl|href|cursor|token|pagetoken)?$|(?:end|next)?cursor$")


@dataclass(frozen=True, slots=True)
class Found:
    """A list that was found."""

    path: str
    """To its records, with `[*]`."""
    records: list[Any]
    fields: dict[str, Guess] = field(default_factory=dict)
    total: str = ""
    """The path to how many there are."""
    count: int | None = None
    next: str = ""
    """The path to what leads to the next page."""
    next_value: str = ""

    @property
    def score(self) -> float:
        worth = {"key": 3.0, "name": 3.0, "price": 4.0, "images": 1.0, "thumbnail": 1.0, "brand": 1.0, "url": 0.5}
        known = sum(worth.get(name, 0.2) for name in self.fields)
        return known + min(len(self.records), 40) / 40 - self.path.count(".") / 20


def best_list(data: Any, *, currency: str = "") -> Found | None:
    """The list that looks most like goods; None where none has keys and names."""
    found = []
    for path, records in _lists(data, "", 0):
        fields = guesses(records, currency=currency)
        if "key" in fields and "name" in fields and ("price" in fields or not is_other(path)):
            found.append(Found(path, records, fields))
    if not found:
        return None
    best = max(found, key=lambda one: one.score)
    return _around(data, best)


def is_other(path: str) -> bool:
    """Whether what stands there is called something that is not goods: banners have ids and titles, too."""
    return _OTHER.search(path.removesuffix("[*]").rpartition(".")[2].lower()) is not None


def _lists(value: Any, path: str, depth: int) -> Iterator[tuple[str, list[Any]]]:
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        if value and all(isinstance(each, dict) for each in value):
            yield f"{path}[*]", value
            for name in {name for each in value[:3] for name in each}:
                inner = [each.get(name) for each in value]
                if fits(name) and all(isinstance(each, list) for each in inner) and len(value) == 1:
                    yield from _lists(inner[0], f"{path}[*].{name}", depth + 1)
    elif isinstance(value, dict):
        for name, each in list(value.items())[:MOST_LISTS]:
            if fits(name):
                yield from _lists(each, f"{path}.{name}" if path else name, depth + 1)


def fits(name: str) -> bool:
    """Whether a path can name it."""
    return re.fullmatch(r"[^.\[\]\s|{}*][^.\[\]|{}*]{0,80}", name) is not None


def _around(data: Any, found: Found) -> Found:
    """How many there are and what comes next, from where the list stands and outwards."""
    steps = re.sub(r"\[\*\].*", "", found.path).split(".")
    total = next_path = next_value = ""
    count = None
    for depth in range(len(steps), -1, -1):
        place = _at(data, steps[:depth])
        if not isinstance(place, dict):
            continue
        prefix = ".".join(steps[:depth])
        for path, value in _near(place, prefix):
            name = re.sub(r"[^a-z]", "", path.rpartition(".")[2].lower())
            if not total and _is_total(name, value, len(found.records)):
                total, count = path, int(value)
            if not next_path and _NEXT.search(name) and isinstance(value, str) and value:
                next_path, next_value = path, value
    return Found(found.path, found.records, found.fields, total, count, next_path, next_value)


def _near(place: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Its single values, and those one deeper (`pagination.total`)."""
    for name, value in place.items():
        path = f"{prefix}.{name}" if prefix else name
        if not fits(name):
            continue
        if isinstance(value, dict):
            for inner, each in value.items():
                if fits(inner) and not isinstance(each, dict | list):
                    yield f"{path}.{inner}", each
        elif not isinstance(value, list):
            yield path, value


def _is_total(name: str, value: Any, least: int) -> bool:
    is_number = type(value) is int or (isinstance(value, str) and value.isdigit() and len(value) < 10)
    return is_number and bool(_TOTAL.fullmatch(name)) and not _NOT_TOTAL.search(name) and int(value) >= least


def _at(data: Any, steps: list[str]) -> Any:
    for step in steps:
        data = data.get(step) if isinstance(data, dict) else None
    return data
