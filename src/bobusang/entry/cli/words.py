"""Notes and table headers in English and Korean; JSON, statuses, field names and logs are never translated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bobusang.entry.cli.options import Lang


class Words:
    """Says things in one language. The English text is its own key, so nothing can be left without words."""

    def __init__(self, lang: Lang) -> None:
        self.lang = lang

    def __call__(self, text: str, **values: Any) -> str:
        """A note with its values filled in."""
        if self.lang == "ko":
            from bobusang.entry.cli.korean import NOTES

            text = NOTES.get(text, text)
        return text.format(**values) if values else text

    def header(self, name: str) -> str:
        """A column's header."""
        plain = name.rpartition(".")[2].replace("_", " ")
        if self.lang == "ko":
            from bobusang.entry.cli.korean_headers import HEADERS

            return HEADERS.get(plain, plain)
        return plain
