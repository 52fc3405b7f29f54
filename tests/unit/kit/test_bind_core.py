"""Expressions that differ in their values alone are compiled once, and bound as if each had been compiled by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import (
    Column,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from bobusang.kit.sql import SQLALCHEMY, Dialect, bind_core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import ClauseElement

things = Table(
    "things",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("name", String(20)),
    Column("count", Integer, default=5),
)
_row = things.c

MADE: dict[str, Callable[[Any, list[int]], ClauseElement]] = {
    "a list and a page": lambda name, ids: (
        select(things).where(_row.name == name, _row.id.in_(ids)).limit(len(ids) + 3).offset(2)
    ),
    "a limit alone, twice": lambda name, ids: select(func.count().label("value")).select_from(
        select(things).where(_row.name == name).limit(len(ids) + 1).subquery()
    ),
    "a list of pairs": lambda name, ids: select(_row.id).where(
        tuple_(_row.id, _row.name).in_([(x, name) for x in ids])
    ),
    "a literal": lambda name, ids: select(literal(str(name)).label("value")).where(_row.id > len(ids)),
    "a row": lambda name, ids: insert(things).values(id=len(ids), name=name, count=7),
    "a row with a default": lambda name, ids: insert(things).values(id=len(ids), name=name),
    "a change": lambda name, ids: update(things).where(_row.id == len(ids)).values(name=name, count=_row.count + 1),
    "a removal": lambda name, ids: delete(things).where(or_(_row.name == name, _row.id.not_in(ids))),
}
GIVEN: list[tuple[str | None, list[int]]] = [("a", [1, 2]), ("b", [3, 4]), ("c", []), ("d", [9]), (None, [9])]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_bound_is_what_compiling_anew_would_bind(
    make: Callable[[Any, list[int]], ClauseElement], dialect: Dialect
) -> None:
    for name, ids in GIVEN * 2:
        assert _bound(make(name, ids), dialect) == _compiled(make(name, ids), dialect)


def _bound(statement: ClauseElement, dialect: Dialect) -> tuple[str, list[Any]]:
    text, arguments = bind_core(statement, dialect)
    return text, list(arguments)


def _compiled(statement: ClauseElement, dialect: Dialect) -> tuple[str, Sequence[Any]]:
    found: Any = statement.compile(dialect=SQLALCHEMY[dialect], compile_kwargs={"render_postcompile": True})
    return str(found), [found.params[name] for name in found.positiontup or ()]
