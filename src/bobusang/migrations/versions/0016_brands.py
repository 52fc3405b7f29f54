"""Products by the Korean name of their brand: a brand of thousands does not read its whole mall.

It may be run again: MariaDB commits each statement by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_index("ix_products_brand_ko", "products", ["mall", "brand_ko", "id"], if_not_exists=True)
