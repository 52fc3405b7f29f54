"""What BUYMA's refusals mean: by field and wording, who must act, and in plain words what to do.

`errors` is an object; a value is a list of sentences, or an object by stringified index, then field, then sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.stages.register.market import Cause, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: the beginning of the field's path ('' any), a part of the sentence ('' any)."""

    path: str
    said: str
    cause: Cause
    words: str


TABLE = (
    Line("", "画像を取得できません", Cause.OUTAGE, "BUYMA could not fetch a picture: check that its address is public"),
    Line("", "システムエラー", Cause.OUTAGE, "BUYMA had a fault of its own"),
    Line("", "削除できない商品", Cause.PERMANENT, "BUYMA does not let this product be deleted"),
    Line("", "編集できない商品", Cause.PERMANENT, "BUYMA does not let this product be edited"),
    Line("", "変更できません", Cause.PERMANENT, "the field is frozen once published: send it as registered"),
    Line("id", "不正な値", Cause.PERMANENT, "BUYMA has no product with this id"),
    Line("reference_number", "不正な値", Cause.PERMANENT, "BUYMA has no such product, or it is suspended"),
    Line("brand_id", "", Cause.MAPPING, "the brand is not in BUYMA's list, or may not be sold: review its mapping"),
    Line("brand_name", "", Cause.MAPPING, "BUYMA does not take the brand's name: review its mapping"),
    Line("category_id", "", Cause.MAPPING, "the category is not in BUYMA's list: review its mapping"),
    Line("", "使用できない文字", Cause.DATA, "a character that BUYMA does not take: Hangul, or an invisible one"),
    Line("options", "項目", Cause.MAPPING, "a measurement that the category does not know: review its keys"),
    Line("options", "マスタ", Cause.MAPPING, "the colour or size is not in BUYMA's list: review its mapping"),
    Line("variants", "", Cause.DATA, "the grid of colours and sizes has a hole, or another spelling"),
    Line("buying_area_id", "", Cause.MAPPING, "the account's buying area is not in BUYMA's list"),
    Line("shipping_area_id", "", Cause.MAPPING, "the account's shipping area is not in BUYMA's list"),
    Line("shipping_methods", "", Cause.MAPPING, "the account does not have this shipping method"),
)
ELSE = Line("", "", Cause.DATA, "BUYMA does not take this value")


def problems(errors: object) -> tuple[Problem, ...]:
    """Every sentence with its place and its class; an answer of an unknown shape is one problem, never none."""
    found = tuple(_problem(path, said) for path, said in _flat(errors, ""))
    return found or (Problem("", str(errors)[:500], Cause.DATA, "BUYMA refused it without a reason that we can read"),)


def _problem(path: str, said: str) -> Problem:
    line = next((line for line in TABLE if _fits(line, path, said)), ELSE)
    return Problem(path, said[:500], line.cause, line.words)


def _fits(line: Line, path: str, said: str) -> bool:
    return line.said in said and (not line.path or path == line.path or path.startswith(f"{line.path}."))


def _flat(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > DEEPEST:
        return
    match value:
        case str():
            yield path, value
        case dict():
            for name, inner in value.items():
                yield from _flat(inner, f"{path}.{name}" if path else str(name), depth + 1)
        case list():
            for inner in value:
                yield from _flat(inner, path, depth + 1)
