"""The name an operator knows: each record's current version, with when it was last seen."""

from __future__ import annotations

from bobusang.catalog.tables import source_data

_COLUMNS = ", ".join(f"d.{column.name}" for column in source_data.columns)

# A subselect, not a join over a grouped table: asked for one record it looks at that record's rows alone.
_CURRENT = f"""
    select {_COLUMNS}, (select max(s.last_seen_at) from source_seen s where s.record_id = r.id) as last_seen_at
    from source_records r join source_data d on d.id = r.version_id"""

DEFINITIONS = {"source_data_current": _CURRENT}
"""View name → select, in the order they have to be made; the same on all three databases."""
