"""A new index beside the one that serves: filled without a commit for each batch, then put in its place at once."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import tantivy

from bobusang.kit import cores
from bobusang.kit.errors import Conflict
from bobusang.platform.searches.embedded.schema import SCHEMA, row
from bobusang.platform.searches.embedded.writing import REBUILD_HEAP

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from bobusang.platform.search import Document
    from bobusang.platform.searches.embedded.shelf import Shelf

    OffLoop = Callable[..., Awaitable[None]]

THREADS = 1
"""One, for each fills segments of its own: half as large, which are merged later at the price of filling them again."""


class Filling:
    """What a rebuild does, in the thread that writes."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.path: Path = shelf.fresh()
        self._writer: tantivy.IndexWriter | None
        with cores.everywhere():
            self._writer = tantivy.Index(SCHEMA, str(self.path)).writer(REBUILD_HEAP, THREADS)
        self._highest: int | None = None
        self._changed: set[int] = set()

    def fill(self, documents: Sequence[Document]) -> None:
        """Add documents. Only where a number may have come before is it looked for: that costs as much as adding."""
        writer = self._open()
        for document in documents:
            if (self._highest is not None and document.id <= self._highest) or document.id in self._changed:
                writer.delete_documents_by_term("id", document.id)
            writer.add_document(row(document))
            self._highest = document.id if self._highest is None else max(self._highest, document.id)

    def replace(self, documents: Sequence[Document]) -> None:
        """What is written into the serving one meanwhile."""
        writer = self._open()
        for document in documents:
            self._changed.add(document.id)
            writer.delete_documents_by_term("id", document.id)
            writer.add_document(row(document))

    def remove(self, ids: Iterable[int]) -> None:
        """What is taken out of the serving one meanwhile."""
        writer = self._open()
        for id in ids:
            writer.delete_documents_by_term("id", id)

    def finish(self) -> None:
        """Commit, and serve from here."""
        writer = self._open()
        writer.commit()
        self._writer = None
        writer.wait_merging_threads()
        self._shelf.switch(self.path)

    def abandon(self) -> None:
        """Drop it."""
        self._writer = None
        shutil.rmtree(self.path, ignore_errors=True)

    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise Conflict("this rebuild of the search index has ended", hint="begin another")
        return self._writer


class EmbeddedRebuild:
    """A rebuild as the contract has it."""

    def __init__(self, filling: Filling, off_loop: OffLoop, end: Callable[[bool], Awaitable[None]]) -> None:
        self._filling = filling
        self._off_loop = off_loop
        self._end = end

    async def put(self, documents: Sequence[Document]) -> None:
        await self._off_loop(self._filling.fill, documents)

    async def finish(self) -> None:
        await self._end(True)

    async def abandon(self) -> None:
        await self._end(False)
