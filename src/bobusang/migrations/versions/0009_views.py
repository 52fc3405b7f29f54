"""The views that show our tables under the names of the first conveyor's.

Views are no part of the history (`migrations._make_views`): this only makes a database of 0008 get them.
"""

from __future__ import annotations

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    pass
