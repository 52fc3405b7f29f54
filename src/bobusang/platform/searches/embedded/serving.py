"""An index as it stood at one commit: what all searches of a moment share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import tantivy

from bobusang.kit import json
from bobusang.kit.errors import Drifted, Invalid
from bobusang.platform.search import SETTING
from bobusang.platform.searches.embedded.shelf import CURRENT, HINT, META
from bobusang.platform.searches.embedded.shorthand import called_so, numbered_so, standing_for

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from pathlib import Path

REMEMBERED = 1_000
REMEMBERED_TERMS = 20_000
MOST_SPANS = 1_000
"""More of them than that are not small parts of many products, but products far apart."""


class Serving:
    """A searcher that does not change, and what was found out with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp = stamp(path)
        self._index = tantivy.Index.open(str(path))
        self._index.config_reader("manual")
        self._index.reload()
        self.searcher = self._index.searcher()
        self.deleted = _deleted(path)
        self._memory: dict[Hashable, Any] = {}
        self._terms: dict[str, tuple[tuple[str, int], ...]] = {}

    def is_there(self) -> bool:
        """Whether the folder is: a file that was removed can still be searched, by whoever has opened it."""
        return (self.path / META).exists()

    def terms(self, token: str) -> tuple[tuple[str, int], ...]:
        """What documents have in the place of a token, and how many have each."""
        found = self._terms.get(token)
        if found is None:
            if len(self._terms) >= REMEMBERED_TERMS:
                self._terms.clear()
            counted = ((term, self.searcher.doc_freq("tokens", term)) for term in standing_for(token))
            found = self._terms[token] = tuple((term, count) for term, count in counted if count)
        return found

    def spans(self) -> Sequence[int]:
        """The spans in which there are numbers, in order; none where all are of one, or where there are too many."""
        found: Sequence[int] = self.remembered("spans", self._spans)
        return found

    def _spans(self) -> tuple[int, ...]:
        known = self.searcher.terms_with_prefix("span", "", limit=MOST_SPANS + 1)
        return tuple(sorted(int(span) for span, _ in known)) if 1 < len(known) <= MOST_SPANS else ()

    def df(self, token: str) -> int:
        """How many documents have a token, those counted that were deleted since segments were last merged, and twice
        those that have it for two reasons."""
        return sum(count for _, count in self.terms(token))

    def is_living(self, token: str) -> bool:
        """Whether a document that was not deleted has a token for sure."""
        return any(count > self.deleted for _, count in self.terms(token))

    def df_called(self, name: str) -> int:
        """How many documents are of a brand or have a number that is called so."""
        return self.searcher.doc_freq("tokens", numbered_so(name)) + sum(
            self.searcher.doc_freq("called", mark) for mark in called_so(name)
        )

    def frequency(self, word: str) -> int:
        """How many documents have a whole word."""
        return self.df(f"={word}")

    def remembered(self, key: Hashable, find: Callable[[], Any]) -> Any:
        """What was found out before at this commit; two threads may both find it out."""
        found = self._memory.get(key)
        if found is None:
            if len(self._memory) >= REMEMBERED:
                self._memory.clear()
            found = self._memory[key] = find()
        return found


def stamp(path: Path) -> int:
    """A number that every commit and every rebuild raises. Not by the name: where all was lost, names begin anew."""
    with _told(path):
        served_since = (path.parent / CURRENT).stat().st_mtime_ns
        return (served_since << 40) + int(_meta(path)["opstamp"])


def _deleted(path: Path) -> int:
    """Documents that are no more, but still count in `df`."""
    with _told(path):
        return sum((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in _meta(path)["segments"])


def _meta(path: Path) -> Any:
    return json.loads((path / META).read_text("utf-8"))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, Invalid, KeyError, TypeError, ValueError):
        raise Drifted(f"{SETTING}: the search index in {path} is gone or broken", hint=HINT) from None
