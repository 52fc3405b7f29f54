"""Generated pages of the docs are what the code says now."""

from __future__ import annotations

from pathlib import Path

from bobusang import settings

DOCS = Path(__file__).parents[2] / "docs"


def test_the_settings_page_is_current() -> None:
    assert (DOCS / "settings.md").read_text("utf-8") == settings.reference(), "run `make docs`"
