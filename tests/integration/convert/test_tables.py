"""The revision and the tables that the code knows say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import create_engine, inspect

from bobusang.stages.convert import tables
from tests.integration.catalog.test_tables import known

if TYPE_CHECKING:
    from pathlib import Path

TABLES = (
    tables.conversions,
    tables.market_masters,
    tables.translation_memory,
    tables.glossary_terms,
)


def test_the_revision_makes_the_tables_that_the_code_knows(sqlite_template: Path) -> None:
    engine = create_engine(f"sqlite:///{sqlite_template}")
    found = inspect(engine)
    made = {
        table.name: (
            [(column["name"], column["nullable"]) for column in found.get_columns(table.name)],
            {index["name"]: index["column_names"] for index in found.get_indexes(table.name)},
            {one["name"]: one["column_names"] for one in found.get_unique_constraints(table.name)},
        )
        for table in TABLES
    }
    engine.dispose()

    assert made == {table.name: known(table) for table in TABLES}
