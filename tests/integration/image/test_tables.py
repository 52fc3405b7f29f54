"""The revision and the tables that the code knows say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, inspect

from bobusang.catalog.tables import product_images
from bobusang.stages.image import tables

if TYPE_CHECKING:
    from pathlib import Path

TABLES = (
    product_images,
    tables.image_files,
    tables.image_fetches,
    tables.image_blocks,
    tables.image_doubts,
    tables.image_revisits,
)


def test_the_revision_makes_the_tables_that_the_code_knows(sqlite_template: Path) -> None:
    engine = create_engine(f"sqlite:///{sqlite_template}")
    found = inspect(engine)
    made: dict[str, Any] = {
        table.name: (
            [(column["name"], column["nullable"]) for column in found.get_columns(table.name)],
            {index["name"]: index["column_names"] for index in found.get_indexes(table.name)},
            sorted(str(one["name"]) for one in found.get_check_constraints(table.name)),
        )
        for table in TABLES
    }
    engine.dispose()

    assert made == {
        table.name: (
            [(column.name, bool(column.nullable)) for column in table.columns],
            {index.name: [column.name for column in index.columns] for index in table.indexes},
            sorted(str(one.name) for one in table.constraints if type(one).__name__ == "CheckConstraint"),
        )
        for table in TABLES
    }
