"""A long past, made by bulk SQL: records, one in ten of them with three versions, their changes and their lineage."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.sql import Dialect, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.kit.db import Database

CHUNK = 10_000
"""Records of one transaction; all of them changed at the same instant, a minute after those before."""
LIVELY = 10
"""One in so many records has more than one version."""
VERSIONS = 3
SYSTEM = "okmall"

_NUMBERS = {
    Dialect.SQLITE: "with recursive n(i) as (select {first} union all select i + 1 from n where i < {last}) "
    "select i from n",
    Dialect.POSTGRES: "select i from generate_series({first}, {last}) as i",
    Dialect.MARIADB: "select seq as i from seq_{first}_to_{last}",
}
_TEXT = {Dialect.SQLITE: "text", Dialect.POSTGRES: "varchar", Dialect.MARIADB: "char"}
_WHICH = "(select 1 as v union all select 2 union all select 3) as versions"
_CHANGED = "(select 2 as v union all select 3) as versions"
_FIELDS = "(select 'price' as field union all select 'options.3.available') as fields"
_LATER = f"i % {LIVELY} = 0"
_PICTURES = ", ".join(f'"https://okimg.example/img{n}_big.JPG"' for n in range(3))
_OPTIONS = ", ".join(f'{{"code": "{n}", "color": "Black", "size": "{n}", "available": true}}' for n in range(5))


def key(number: int) -> str:
    """The mall's own id of a record."""
    return str(number)


async def fill(db: Database, records: int, until: datetime) -> None:
    """Put them in, the last ones changed at `until`."""
    chunks = -(-records // CHUNK)
    for chunk in range(chunks):
        first, last = chunk * CHUNK + 1, min((chunk + 1) * CHUNK, records)
        at = until - timedelta(minutes=chunks - 1 - chunk)
        async with db.begin() as tx:
            for statement in _statements(tx.dialect, first, last):
                await tx.execute(statement, at=at)


def _statements(dialect: Dialect, first: int, last: int) -> Sequence[Statement]:
    numbers = f"({_NUMBERS[dialect].format(first=first, last=last)}) as numbers"
    text = _TEXT[dialect]
    name, document = f"cast(i as {text})", _document(dialect)
    versions = f"case when {_LATER} then {VERSIONS} else 1 end"
    return (
        Statement(f"""
            insert into source_records (id, source_type, source_system, source_id, version, version_id, digests, hashes,
              last_changed_at, created_at)
            select i, 'supplier_product', '{SYSTEM}', {name}, {versions}, i * {VERSIONS} + {versions}, '{{}}', '{{}}',
              :at, :at from {numbers}"""),
        Statement(f"""
            insert into source_data (id, record_id, source_type, source_system, source_id, version, raw_data,
              normalized_data, hash, processing_status, workflow_id, created_at, updated_at, last_changed_at)
            select i * {VERSIONS} + v, i, 'supplier_product', '{SYSTEM}', {name}, v, {document}, {document}, {name},
              'raw', '1', :at, :at, :at from {numbers} cross join {_WHICH} where v = 1 or {_LATER}"""),
        Statement(f"""
            insert into data_lineage (parent_id, child_id, transformation_type, transformation_metadata, raw_id, reader,
              created_at)
            select case when v > 1 then i * {VERSIONS} + v - 1 end, i * {VERSIONS} + v, 'collect', '{{}}', i, 'bench-1',
              :at from {numbers} cross join {_WHICH} where v = 1 or {_LATER}"""),
        Statement(f"""
            insert into field_changes (record_id, version, field, group_name, old_value, new_value, changed_at, raw_id,
              reader, stream)
            select i, v, field, 'price', '1', '2', :at, i, 'bench-1', 'detail'
            from {numbers} cross join {_CHANGED} cross join {_FIELDS} where {_LATER}"""),
    )


def _document(dialect: Dialect) -> str:
    """A product of half a kilobyte whose price is another one in each version, as an SQL expression."""
    text = _TEXT[dialect]
    parts = (
        """'{"name": "남성 드라이 핏 페이서 하프 짚 '""",
        f"cast(i as {text})",
        """'", "brand": "BRAND '""",
        f"cast(i % 200 as {text})",
        f"""'", "currency": "KRW", "sold_out": false, "images": [{_PICTURES}], "options": [{_OPTIONS}], "price": '""",
        f"cast(30000 + 1000 * v as {text})",
        "'}'",
    )
    joined = f"concat({', '.join(parts)})" if dialect is Dialect.MARIADB else f"({' || '.join(parts)})"
    return f"cast({joined} as jsonb)" if dialect is Dialect.POSTGRES else joined
