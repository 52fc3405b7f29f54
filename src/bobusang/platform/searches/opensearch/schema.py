"""The index as it is made: a template with `nori` when the server has it, and the row that each document becomes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.platform.search import Document
from bobusang.platform.searches.columns import told
from bobusang.platform.searches.synonyms import known_as
from bobusang.platform.searches.tokens import LONGEST, filed, names
from bobusang.platform.searches.words import compact, folded, initials, jamo, words

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPE = 2
"""Raised when what is kept changes: an index of another shape has to be built anew."""
BETWEEN = "\x1f"
"""Stands between what is typed and what is shown, in what suggestions are made of."""
LONGEST_VALUE = 8_000
"""Letters of a value that is filed as it is: Lucene takes 32,766 bytes."""

_DIGIT = re.compile(r"\d")
_KEPT: Mapping[str, Any] = {"type": "object", "enabled": False}
_FILED: Mapping[str, Any] = {"type": "keyword", "doc_values": False, "ignore_above": LONGEST_VALUE}
_COUNTED: Mapping[str, Any] = {"type": "keyword", "ignore_above": LONGEST_VALUE}
_WORDS: Mapping[str, Any] = {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
_COLUMN: Mapping[str, Any] = {"type": "long"}

NORI: Mapping[str, Any] = {
    "tokenizer": {"morphemes": {"type": "nori_tokenizer", "decompound_mode": "mixed"}},
    "analyzer": {
        "names": {
            "tokenizer": "morphemes",
            "filter": ["nori_part_of_speech", "nori_readingform", "lowercase"],
        }
    },
}
BIGRAMS: Mapping[str, Any] = {
    "analyzer": {"names": {"tokenizer": "standard", "filter": ["cjk_width", "lowercase", "cjk_bigram"]}}
}
MAPPING: Mapping[str, Any] = {
    "dynamic": "strict",
    # Whatever else is filed is made from the document again.
    "_source": {"includes": ["document"]},
    "properties": {
        "document": _KEPT,
        "id": _COLUMN,
        "price": _COLUMN,
        "changed": _COLUMN,
        "digest": {"type": "keyword", "index": False},
        "in_stock": {"type": "boolean"},
        "mall": _COUNTED,
        "brand": _COUNTED,
        "category": _COUNTED,
        "brands": _COUNTED,
        "models": _COUNTED,
        "called": _FILED,
        "exact": _FILED,
        "tokens": _WORDS,
        "sounds": _WORDS,
        "name": {"type": "text", "analyzer": "names", "norms": False},
    },
}


def template(pattern: str, *, nori: bool) -> dict[str, Any]:
    """How indices of this name are made. One shard: facets are exact, and a million products are a small index."""
    settings = {"number_of_shards": 1, "auto_expand_replicas": "0-1", "analysis": NORI if nori else BIGRAMS}
    return {"index_patterns": [pattern], "priority": 500, "template": {"settings": settings, "mappings": MAPPING}}


def row(document: Document) -> dict[str, Any]:
    """A document as it is written."""
    spoken = names(document)
    called, brands = _brand(spoken)
    model = compact(folded(document.model))
    texts = [text for text in (document.name, document.translated, document.colours) if text]
    found: dict[str, Any] = {
        "document": document,
        "id": document.id,
        "changed": document.changed,
        "digest": document.digest(),
        "tokens": filed(document),
        "sounds": " ".join(
            [
                *(_sounds(piece) for text in texts for piece in text.split() if not _DIGIT.search(piece)),
                *map(_sounds, (*spoken, *known_as(spoken))),
            ]
        ),
        "name": texts,
        "called": called,
        "exact": [*called, compact(folded(document.product_id)), *([model] if model else ())],
        "brands": brands,
        "mall": document.mall,
    }
    found |= told(document, model, BETWEEN)
    return found


def read(source: Mapping[str, Any]) -> Document:
    """A document as it was put."""
    return msgspec.convert(source["document"], Document)


@lru_cache(10_000)
def _brand(called: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """A brand's names in one form, and what completes to them: jamo as they are typed, and initials."""
    plain = {name: compact(folded(name)) for name in called if name}
    typed = {form: name for name, whole in plain.items() for form in (jamo(whole), initials(whole)) if whole}
    known = {*plain.values(), *(compact(folded(name)) for name in known_as(called))}
    return sorted(known - {""}), [f"{form}{BETWEEN}{name}" for form, name in typed.items()]


@lru_cache(100_000)
def _sounds(text: str) -> str:
    """Words as their jamo, in which a typo is one letter; numbers are left out: one wrong digit is another thing."""
    return " ".join([jamo(word[:LONGEST]) for word in words(folded(text)) if len(word) > 1 and not _DIGIT.search(word)])
