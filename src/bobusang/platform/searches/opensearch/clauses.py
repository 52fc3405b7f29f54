"""Pieces of queries: typed clauses that hold values, never text that the server would parse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Clause: TypeAlias = dict[str, Any]

EVERYTHING: Clause = {"match_all": {}}
NOTHING: Clause = {"match_none": {}}
SMALLEST, LARGEST = -(2**63), 2**63 - 1
"""Numbers that a column can hold."""
MOST_SPELLINGS = 200
"""Words of the index that one word with a typo may stand for."""
SUREST = 1_000
"""The score of the first tier."""


def token(text: str) -> Clause:
    """Documents that are filed under a token."""
    return {"term": {"tokens": text}}


def one_of(field: str, values: Iterable[str]) -> Clause:
    """Documents with one of these values."""
    return {"terms": {field: list(values)}}


def every(clauses: Iterable[Clause]) -> Clause:
    """What all of them find."""
    return {"bool": {"filter": list(clauses)}}


def either(clauses: Sequence[Clause], least: int = 1) -> Clause:
    """What any of them finds, or at least so many."""
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": list(clauses), "minimum_should_match": least}}


def begun(field: str, value: str) -> Clause:
    """Documents with a value that begins so."""
    return {"prefix": {field: {"value": value}}}


def sounding(sound: str, distance: int) -> Clause:
    """Documents with a word that sounds almost so."""
    return {"fuzzy": {"sounds": {"value": sound, "fuzziness": distance, "max_expansions": MOST_SPELLINGS}}}


def morphemes(text: str) -> Clause:
    """Documents in whose name all morphemes of a text stand, however they are inflected and joined."""
    return {"match": {"name": {"query": text, "operator": "and"}}}


def between(field: str, low: int, high: int) -> Clause:
    """Documents whose number is within bounds."""
    return {"range": {field: {"gte": min(max(low, SMALLEST), LARGEST), "lte": min(max(high, SMALLEST), LARGEST)}}}


def ranked(tiers: Mapping[int, Clause]) -> Clause:
    """What any tier finds; the score says which was the first to find it."""
    scored = [{"constant_score": {"filter": tier, "boost": SUREST - rank}} for rank, tier in tiers.items()]
    return {"dis_max": {"queries": scored}}
