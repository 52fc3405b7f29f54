"""What people have said of translations is looked for by every batch, among all that models were paid for.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_index("ix_translation_memory_origin", "translation_memory", ["origin", "id"], if_not_exists=True)
