"""SQL statements written once with `:names` and rendered for each driver."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, ClauseElement, SelectBase, Table
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import BindParameter
    from sqlalchemy.engine import Dialect as SqlAlchemyDialect
    from sqlalchemy.sql.compiler import SQLCompiler


class Dialect(StrEnum):
    """The databases we speak to."""

    SQLITE = "sqlite"
    POSTGRES = "postgresql"
    MARIADB = "mariadb"


_LIST = re.compile(r"\b(not\s+)?in\s*\(:([a-z_]\w*)\.\.\.\)", re.IGNORECASE)
_NAME = re.compile(r"(?<![:\w]):([a-z_]\w*)(\.\.\.)?")

SQLALCHEMY: dict[Dialect, SqlAlchemyDialect] = {
    Dialect.SQLITE: sqlite.dialect(paramstyle="qmark"),
    Dialect.POSTGRES: PGDialect_asyncpg(),  # type: ignore[no-untyped-call]
    Dialect.MARIADB: mysql.dialect(paramstyle="format"),
}
SQLALCHEMY[Dialect.MARIADB].is_mariadb = True  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A statement as one driver wants it: text, and the order of its arguments."""

    text: str
    names: tuple[str, ...]
    lists: frozenset[str]


class Statement:
    """One SQL statement; `:name` is a parameter, `in (:names...)` takes a list.

    A dialect that needs other words gets its own text by keyword. A colon inside a string literal is not for here.
    """

    __slots__ = ("_rendered", "_texts")

    def __init__(
        self, text: str = "", *, sqlite: str | None = None, postgres: str | None = None, mariadb: str | None = None
    ) -> None:
        self._texts = {
            Dialect.SQLITE: sqlite or text,
            Dialect.POSTGRES: postgres or text,
            Dialect.MARIADB: mariadb or text,
        }
        self._rendered: dict[Dialect, Rendered] = {}

    def rendered(self, dialect: Dialect) -> Rendered:
        """The text for a driver, made once."""
        found = self._rendered.get(dialect)
        if found is None:
            found = self._rendered[dialect] = _RENDER[dialect](self._texts[dialect])
        return found

    def bind(self, dialect: Dialect, params: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
        """Text and arguments for one execution."""
        rendered = self.rendered(dialect)
        if not rendered.lists or dialect is Dialect.POSTGRES:
            return rendered.text, [params[name] for name in rendered.names]
        if dialect is Dialect.SQLITE:
            lists = rendered.lists
            return rendered.text, [json.dumps(params[n]) if n in lists else params[n] for n in rendered.names]
        return _expand(rendered, params)


def _render_postgres(text: str) -> Rendered:
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    text = _LIST.sub(lambda m: f"<> all(:{m.group(2)})" if m.group(1) else f"= any(:{m.group(2)})", text)
    return Rendered(_NAME.sub(number, text), tuple(names), frozenset())


def _render_sqlite(text: str) -> Rendered:
    lists = frozenset(match.group(2) for match in _LIST.finditer(text))
    text = _LIST.sub(lambda m: f"{m.group(1) or ''}in (select value from json_each(:{m.group(2)}))", text)
    names = tuple(match.group(1) for match in _NAME.finditer(text))
    return Rendered(_NAME.sub("?", text), names, lists)


def _render_mariadb(text: str) -> Rendered:
    lists = frozenset(match.group(2) for match in _LIST.finditer(text))
    names = tuple(match.group(1) for match in _NAME.finditer(text))
    escaped = text.replace("%", "%%")
    marked = _NAME.sub(lambda m: f"{{{m.group(1)}}}" if m.group(2) else "%s", escaped)
    return Rendered(marked, names, lists)


_RENDER = {
    Dialect.POSTGRES: _render_postgres,
    Dialect.SQLITE: _render_sqlite,
    Dialect.MARIADB: _render_mariadb,
}


def _expand(rendered: Rendered, params: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
    """MariaDB has no array parameter: write one placeholder an element (an empty list matches nothing)."""
    text = rendered.text
    arguments: list[Any] = []
    for name in rendered.names:
        value = params[name]
        if name in rendered.lists:
            arguments.extend(value)
            text = text.replace(f"{{{name}}}", ",".join(["%s"] * len(value)) or "null", 1)
        else:
            arguments.append(value)
    return text, arguments


@dataclass(frozen=True, slots=True)
class Bulk:
    """Insert many rows of one shape in few statements; `keep` leaves a row with the same key as it is."""

    table: Table
    columns: tuple[str, ...]
    keep: bool = False


@lru_cache(maxsize=256)
def bulk_text(bulk: Bulk, dialect: Dialect, same: frozenset[int] = frozenset()) -> str:
    """The statement of a bulk insert; MariaDB's ends at `values`, for the rows to follow.

    On PostgreSQL the columns in `same` (by place) have one value for all rows and travel as that, not as an array:
    most columns of a batch are like that, and encoding an array costs a call an element.
    """
    target = f"insert into {bulk.table.name} ({', '.join(bulk.columns)})"
    match dialect:
        case Dialect.SQLITE:
            marks = ", ".join("?" * len(bulk.columns))
            return f"{target} values ({marks})" + (" on conflict do nothing" if bulk.keep else "")
        case Dialect.MARIADB:
            return f"{target} values "
        case Dialect.POSTGRES:
            return _unnest(bulk, target, same) + (" on conflict do nothing" if bulk.keep else "")


def _unnest(bulk: Bulk, target: str, same: frozenset[int]) -> str:
    """One array a column; JSON travels as text, because an array of jsonb would have to be encoded twice."""
    arrays, aliases, picks = [], [], []
    for place, name in enumerate(bulk.columns):
        kind = bulk.table.c[name].type
        is_json = isinstance(kind.dialect_impl(SQLALCHEMY[Dialect.POSTGRES]), JSON | postgresql.JSONB)
        wire = "text" if is_json else _wire(bulk.table, name, Dialect.POSTGRES)
        pick = f"${place + 1}::{wire}" if place in same else f"c{place}"
        if place not in same:
            arrays.append(f"${place + 1}::{wire}[]")
            aliases.append(pick)
        picks.append(f"{pick}::jsonb" if is_json else pick)
    return f"{target} select {', '.join(picks)} from unnest({', '.join(arrays)}) as given({', '.join(aliases)})"


@dataclass(frozen=True, slots=True)
class Revise:
    """Update many rows by their integer key, each with values of its own; a row is the key, then the columns."""

    table: Table
    key: str
    columns: tuple[str, ...]


@lru_cache(maxsize=256)
def revise_text(revise: Revise, dialect: Dialect) -> str:
    """The statement of a bulk update; PostgreSQL takes arrays, MariaDB one JSON document, SQLite a row at a time."""
    table, key = revise.table.name, revise.key
    kinds = {name: _wire(revise.table, name, dialect) for name in (key, *revise.columns)}
    given = ", ".join(f"{name} = given.{name}" for name in revise.columns)
    match dialect:
        case Dialect.SQLITE:
            places = {name: f"?{index}" for index, name in enumerate((key, *revise.columns), start=1)}
            pairs = ", ".join(f"{name} = {places[name]}" for name in revise.columns)
            return f"update {table} set {pairs} where {key} = {places[key]}"
        case Dialect.POSTGRES:
            arrays = ", ".join(f"${index}::{kind}[]" for index, kind in enumerate(kinds.values(), start=1))
            return (
                f"update {table} set {given} from unnest({arrays}) as given({', '.join(kinds)}) "
                f"where {table}.{key} = given.{key} and {table}.{key} = any($1)"
            )
        case Dialect.MARIADB:
            columns = ", ".join(f"{name} {kind} path '$[{index}]'" for index, (name, kind) in enumerate(kinds.items()))
            pairs = ", ".join(f"{table}.{name} = given.{name}" for name in revise.columns)
            return (
                f"update json_table(%s, '$[*]' columns ({columns})) as given straight_join {table} "
                f"on {table}.{key} = given.{key} set {pairs}"
            )


def _wire(table: Table, name: str, dialect: Dialect) -> str:
    """The type a value travels as."""
    written = table.c[name].type.compile(SQLALCHEMY[dialect])
    return written.split("(")[0] if dialect is Dialect.POSTGRES and "CHAR" in written else written


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression of one shape: its text, and what stands where, by the number of the value and the place in it if
    it is a list. `fixed` are values of the shape itself, behind those that are given: SQLite's `offset 0`."""

    text: str
    places: tuple[tuple[int, int | None], ...]
    fixed: tuple[Any, ...]


MOST_COMPILED = 2048
"""Shapes that are kept for all dialects; there are a few hundred, and as many as a list in one has lengths."""
LONGEST_LIST = 100
"""Values in lists up to which a shape is kept."""
_compiled: dict[tuple[Dialect, Any, tuple[int, ...]], Compiled] = {}


def bind_core(statement: ClauseElement, dialect: Dialect) -> tuple[str, Sequence[Any]]:
    """Text and arguments of a SQLAlchemy Core expression. One that differs from another in its values alone is not
    compiled again: that takes longer than most statements do."""
    shape = statement._generate_cache_key()
    if shape is None or shape.params is not None:
        return _arguments(_compile(statement, dialect))
    values: list[Any] = [one.effective_value for one in shape.bindparams]
    lengths = tuple(len(value) for one, value in zip(shape.bindparams, values, strict=True) if one.expanding)
    if sum(lengths) > LONGEST_LIST:
        return _arguments(_compile(statement, dialect))
    key = (dialect, shape.key, lengths)
    found = _compiled.get(key)
    if found is None:
        compiled = _compile(statement, dialect)
        found = _kept(compiled, shape.bindparams, is_read=isinstance(statement, SelectBase))
        if found is None:
            return _arguments(compiled)
        if len(_compiled) >= MOST_COMPILED:
            _compiled.clear()
        _compiled[key] = found
    values += found.fixed
    return found.text, [values[at] if inside is None else values[at][inside] for at, inside in found.places]


def _compile(statement: ClauseElement, dialect: Dialect) -> SQLCompiler:
    return statement.compile(  # type: ignore[return-value]
        dialect=SQLALCHEMY[dialect], compile_kwargs={"render_postcompile": True}
    )


def _arguments(compiled: SQLCompiler) -> tuple[str, Sequence[Any]]:
    return str(compiled), [compiled.params[name] for name in compiled.positiontup or ()]


def _kept(compiled: SQLCompiler, given: Sequence[BindParameter[Any]], *, is_read: bool) -> Compiled | None:
    """What is kept of it; None when it has values that are made of those given, as of a list of pairs, or elsewhere, as
    a column's default."""
    known: dict[str, tuple[int, int | None]] = {}
    for at, one in enumerate(given):
        name = compiled.bind_names.get(one)
        if name is not None and one.expanding:
            listed: Any = one.effective_value
            known.update({f"{name}_{place}": (at, place - 1) for place in range(1, len(listed) + 1)})
        elif name is not None:
            known[name] = at, None
    wanted = compiled.positiontup or ()
    added = [name for name in wanted if name not in known]
    if added and not (is_read and set(added) <= set(compiled.bind_names.values())):
        return None
    known.update({name: (at, None) for at, name in enumerate(added, start=len(given))})
    fixed = tuple(compiled.params[name] for name in added)
    return Compiled(str(compiled), tuple(known[name] for name in wanted), fixed)
