"""What an index keeps of a document: tokens to find it by, columns to filter, sort and count by, and all of it."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b

import msgspec
import tantivy

from bobusang.platform.search import Document
from bobusang.platform.searches.columns import told
from bobusang.platform.searches.embedded.shorthand import brief, brief_names
from bobusang.platform.searches.synonyms import known_as
from bobusang.platform.searches.tokens import LONGEST, names, pieces
from bobusang.platform.searches.words import compact, folded, initials, jamo, words

SHAPE = 3
"""Raised when what is kept changes: an index of another shape has to be built anew."""
SPAN = 15
"""Numbers that differ only in so many last bits are of one span: an index of a million has some thirty."""
BETWEEN = "\x1f"
"""Stands between what is typed and what is shown, in the terms of suggestions."""

_DIGIT = re.compile(r"\d")
_DECODER = msgspec.json.Decoder(Document)
_encode = msgspec.json.Encoder().encode


def _built() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", indexed=True, fast=True)
    for name in ("price", "changed", "digest"):
        builder.add_integer_field(name, fast=True)
    builder.add_boolean_field("in_stock", indexed=True, fast=True)
    for name in ("mall", "brand", "category"):
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in ("called", "brands", "models", "span"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("tokens", "sounds"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    builder.add_bytes_field("source", stored=True)
    return builder.build()


SCHEMA = _built()


def row(document: Document) -> tantivy.Document:
    """A document as it is written."""
    called, brands = _brand(names(document))
    model = compact(folded(document.model))
    source = _encode(document)
    columns: dict[str, object] = {
        "id": document.id,
        "span": str(span(document.id)),
        "changed": document.changed,
        "digest": int.from_bytes(blake2b(source, digest_size=8).digest(), signed=True),  # as `Document.digest` has it
        "tokens": brief(document),
        "sounds": _sounding(document),
        "called": called,
        "brands": brands,
        "mall": document.mall,
        "source": source,
    }
    columns |= told(document, model, BETWEEN)
    return tantivy.Document.from_dict(columns, SCHEMA)


def span(id: int) -> int:
    """The part of all numbers in which one is: the first of what was found by number are in one of the first parts."""
    return id >> SPAN


def read(kept: tantivy.Document) -> Document:
    """A document as it was put."""
    return _DECODER.decode(kept.get_first("source") or b"")


def unsigned(kept: int) -> str:
    """The digest that a column keeps."""
    return kept.to_bytes(8, signed=True).hex()


@lru_cache(10_000)
def _brand(called: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """A brand's names in one form, and what completes to them: jamo as they are typed, and initials."""
    plain = {name: compact(folded(name)) for name in called if name}
    typed = {form: name for name, whole in plain.items() for form in (jamo(whole), initials(whole)) if whole}
    return brief_names(called), [f"{form}{BETWEEN}{name}" for form, name in typed.items()]


def _sounding(document: Document) -> str:
    """What it is called by ear; what has a digit is not read aloud."""
    model = "" if _DIGIT.search(document.model) else _sounds(document.model)
    return " ".join([*map(_sounds_of_piece, pieces(document)), model, _spoken(names(document))])


@lru_cache(100_000)
def _sounds_of_piece(piece: str) -> str:
    return "" if _DIGIT.search(piece) else _sounds(piece)


@lru_cache(10_000)
def _spoken(called: tuple[str, ...]) -> str:
    return " ".join(map(_sounds, (*called, *known_as(called))))


def _sounds(text: str) -> str:
    """Words as their jamo, in which a typo is one letter; numbers are left out: one wrong digit is another thing."""
    return " ".join([jamo(word[:LONGEST]) for word in words(folded(text)) if len(word) > 1 and not _DIGIT.search(word)])
