"""Writing into the index that serves: one process at a time, each batch durable when it has returned."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import tantivy

from bobusang.kit import cores
from bobusang.platform.searches.embedded.schema import row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bobusang.platform.search import Document
    from bobusang.platform.searches.embedded.shelf import Shelf

HEAP = 64 << 20
"""Bytes that tantivy gathers before it writes a segment."""
REBUILD_HEAP = 256 << 20


class Writing:
    """The role of the one that writes: taken when there is something to write, given back when nothing comes."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._held: ExitStack | None = None
        self._lock = 0
        self._path: Path | None = None
        self._writer: tantivy.IndexWriter | None = None

    def take(self) -> None:
        """Become the writer; Conflict when another process is."""
        if self._held is not None and not self._shelf.is_lock(self._lock):
            self.give_back()
        if self._held is None:
            with ExitStack() as stack:
                self._lock = stack.enter_context(self._shelf.writing())
                self._held = stack.pop_all()

    def replace(self, documents: Sequence[Document]) -> None:
        """Put documents in the place of those with the same numbers."""
        writer = self._opened()
        try:
            for document in documents:
                writer.delete_documents_by_term("id", document.id)
                writer.add_document(row(document))
            writer.commit()
        except BaseException:
            self.drop()
            raise

    def remove(self, ids: Iterable[int]) -> None:
        """Take documents out."""
        writer = self._opened()
        try:
            for id in ids:
                writer.delete_documents_by_term("id", id)
            writer.commit()
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Forget what was not committed, and the index it was for."""
        self._writer = self._path = None

    def give_back(self) -> None:
        """Let another process write."""
        self.drop()
        if self._held is not None:
            self._held.close()
            self._held = None

    def _opened(self) -> tantivy.IndexWriter:
        self._shelf.current()  # that there is none is worse news than that another writes
        self.take()
        path = self._shelf.current()
        if self._writer is None or self._path != path or not path.exists():
            self.drop()
            with cores.everywhere():  # its own threads run no Python
                self._writer = tantivy.Index.open(str(path)).writer(HEAP, 1)
            self._path = path
        return self._writer
