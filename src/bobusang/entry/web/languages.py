"""Korean and English: which one a visitor reads, and his words for ours."""

from __future__ import annotations

import gettext
from pathlib import Path

LOCALES = Path(__file__).with_name("locale")
DEFAULT = "en"
NAMES = {"ko": "한국어", "en": "English"}


def N_(text: str) -> str:  # noqa: N802  (its name is what catalogues look for)
    """Mark a text that is translated where it is shown."""
    return text


def load() -> dict[str, gettext.NullTranslations]:
    """The catalogues by language. English is what stands in the templates."""
    found: dict[str, gettext.NullTranslations] = {DEFAULT: gettext.NullTranslations()}
    with (LOCALES / "ko.mo").open("rb") as file:
        found["ko"] = gettext.GNUTranslations(file)
    return found


def chosen(*wishes: str, accepts: str = "") -> str:
    """The first wish that can be fulfilled, then what the browser accepts, in its order of liking."""
    for wish in wishes:
        if wish in NAMES:
            return wish
    liked: list[tuple[float, str]] = []
    for part in accepts.split(",")[:20]:
        tag, _, weight = part.strip().partition(";q=")
        try:
            liked.append((-float(weight or 1), tag.lower()[:2]))
        except ValueError:
            continue
    return next((tag for _, tag in sorted(liked, key=lambda one: one[0]) if tag in NAMES), DEFAULT)
