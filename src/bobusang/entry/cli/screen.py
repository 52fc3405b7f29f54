"""Where output goes: data to stdout as table, plain columns or JSON; everything else to stderr."""

from __future__ import annotations

import json
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bobusang.entry.cli.cells import STYLES, narrowed, numeric, pick, plain, safe, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from bobusang.entry.cli.options import Options
    from bobusang.entry.cli.words import Words

WIDE = {
    *("error", "error_message", "message", "reason", "why", "waits"),
    *("text", "detail", "advice", "description", "definition", "url", "target_url"),
    *("old", "new", "before", "after", "paused_reason"),
    *("basis", "cited", "may_be", "stopped_why", "refused", "note", "changes", "translation"),
}
"""Columns that give way when a terminal is narrow; all others are shown whole."""


class Screen:
    """One command's output."""

    def __init__(self, options: Options, words: Words) -> None:
        self.options = options
        self.words = words

    @cached_property
    def console(self) -> Console:
        """For data on a terminal."""
        return self._console(stderr=False)

    @cached_property
    def side(self) -> Console:
        """For progress and notes."""
        return self._console(stderr=True)

    def _console(self, *, stderr: bool) -> Console:
        from rich.console import Console

        return Console(stderr=stderr, no_color=not self.options.color, highlight=False, markup=False, emoji=False)

    @property
    def live(self) -> bool:
        """Whether progress may move on the terminal."""
        return sys.stderr.isatty() and not self.options.quiet and not self.options.machine

    @property
    def reads_well(self) -> bool:
        """Whether a person reads the whole, so that a longer report is welcome."""
        return not self.options.machine and not self.options.fields

    def note(self, text: str) -> None:
        """Say something that is not data."""
        if not self.options.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say what must be said even to those who want it quiet."""
        sys.stderr.write(safe(text) + "\n")
        sys.stderr.flush()

    def document(self, value: Any) -> None:
        """Data for a program."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    def page(self, answer: Mapping[str, Any], columns: str) -> None:
        """One page of a list, and how to get the next."""
        items: list[Any] = list(answer["items"])
        fields = self.options.fields
        if self.options.machine:
            chosen = [narrowed(item, fields) for item in items] if fields else items
            if self.options.jsonl:
                for item in chosen:
                    self.document(item)
            else:
                self.document({**answer, "items": chosen})
            return
        self.table([narrowed(item, fields) for item in items] if fields else items, " ".join(fields) or columns)
        if answer.get("next"):
            self.note(self.words("more: --cursor {cursor}", cursor=answer["next"]))

    def table(self, items: Sequence[Mapping[str, Any]], columns: str, *, whole: bool = False) -> None:
        """Rows for a person; in a pipe the same as plain columns, whole and separated by tabs.

        On a narrow terminal long texts are cut, or with `whole` wrapped.
        """
        names = columns.split()
        rows = [[item.get(name, pick(item, name)) for name in names] for item in items]
        if not sys.stdout.isatty():
            for row in [names, *rows]:
                sys.stdout.write("\t".join(plain(value) for value in row) + "\n")
            return
        if not rows:
            self.note(self.words("nothing here"))
            return
        self._rich_table(names, rows, whole=whole)

    def _rich_table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, whole: bool) -> None:
        from rich.cells import cell_len
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        texts = [[shown(value, self.words, name) for name, value in zip(columns, row, strict=True)] for row in rows]
        for at, name in enumerate(columns):
            wide, header = name.rpartition(".")[2] in WIDE, self.words.header(name)
            table.add_column(
                header,
                justify="right" if numeric([row[at] for row in rows]) else "left",
                no_wrap=not wide,  # only what may wrap gives way, even when it is then cut to one line
                min_width=None if wide else max(cell_len(text) for text in (header, *(row[at] for row in texts))),
            )
        for row, line in zip(rows, texts, strict=True):
            styles = [STYLES.get(str(value), "") for value in row]
            cells = [Text(text, style=style) for text, style in zip(line, styles, strict=True)]
            for cell in cells:
                cell.no_wrap, cell.overflow = not whole, "ellipsis"
            table.add_row(*cells)
        self.console.print(table)

    def record(self, found: Mapping[str, Any], *, only: str = "", line: str | None = None) -> None:
        """One document: as JSON, or as names with values."""
        fields = self.options.fields
        chosen = narrowed(found, fields) if fields else found
        if self.options.machine:
            self.document(chosen)
        elif line is not None and not fields:
            sys.stdout.write(line + "\n")
        else:
            self._pairs(
                {name: chosen[name] for name in only.split() if name in chosen} if only and not fields else chosen
            )

    def _pairs(self, found: Mapping[str, Any]) -> None:
        if not sys.stdout.isatty():
            for name, value in found.items():
                sys.stdout.write(f"{name}\t{plain(value)}\n")
            return
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in found.items():
            text = Text(shown(value, self.words, name), style=STYLES.get(str(value), ""))
            table.add_row(self.words.header(name), text)
        self.console.print(table)

    def title(self, text: str) -> None:
        """A heading between parts of a longer report, for a person only."""
        if sys.stdout.isatty():
            from rich.text import Text

            self.console.print()
            self.console.print(Text(self.words(text), style="bold underline"))
        else:
            sys.stdout.write(f"\n# {self.words(text)}\n")

    def done(self, answer: Any, text: str, **values: Any) -> None:
        """What a change brought: its answer as JSON, or one line."""
        if self.options.machine:
            self.document(answer)
        else:
            sys.stdout.write(safe(self.words(text, **values)) + "\n")
