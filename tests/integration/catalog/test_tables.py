"""The revision and the tables that the code knows say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import UniqueConstraint, create_engine, inspect

from bobusang.catalog import tables
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Table

Shape = tuple[list[tuple[str, bool]], dict[Any, list[Any]], dict[Any, list[Any]]]


def known(table: Table) -> Shape:
    uniques = [one for one in table.constraints if isinstance(one, UniqueConstraint)]
    return (
        [(column.name, bool(column.nullable)) for column in table.columns],
        {index.name: [column.name for column in index.columns] for index in table.indexes},
        {one.name: [column.name for column in one.columns] for one in uniques},
    )


def test_the_revision_makes_the_tables_that_the_code_knows(sqlite_template: Path) -> None:
    engine = create_engine(f"sqlite:///{sqlite_template}")
    found = inspect(engine)
    made: dict[str, Shape] = {
        name: (
            [(column["name"], column["nullable"]) for column in found.get_columns(name)],
            {index["name"]: index["column_names"] for index in found.get_indexes(name)},
            {one["name"]: one["column_names"] for one in found.get_unique_constraints(name)},
        )
        for name in tables.__all__
    }
    engine.dispose()

    assert made == {name: known(getattr(tables, name)) for name in tables.__all__}


async def test_postgres_looks_into_documents_by_index(empty_postgres: str) -> None:
    db = await connect(empty_postgres)
    async with db.read() as tx:
        rows = await tx.fetch(
            Statement("""select indexname as name, indexdef like '%jsonb_path_ops%' as lean from pg_indexes
            where tablename = 'source_data' and indexdef like '% gin %' order by indexname""")
        )
    await db.close()

    assert [(row["name"], row["lean"]) for row in rows] == [
        ("ix_source_data_market_data", True),
        ("ix_source_data_normalized_data", True),
    ]
