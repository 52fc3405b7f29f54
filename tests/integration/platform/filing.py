"""The program that dies while it writes an index: `python -m tests.integration.platform.filing FOLDER put|rebuild`."""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from bobusang.platform.search import Document
from bobusang.platform.searches.embedded import EmbeddedSearch


def document(id: int) -> Document:
    """The product of a number."""
    return Document(id, "okmall", str(id), name=f"남성 경량 패딩 {id}", price=id)


async def file_for_ever(folder: Path, how: str) -> None:
    """Batches of ten; the highest number is told when it is kept, or has been given to the rebuild."""
    search = EmbeddedSearch(folder)
    where = await search.rebuild() if how == "rebuild" else search
    for number in count():
        await where.put([document(id) for id in range(number * 10, number * 10 + 10)])
        print(number * 10 + 9, flush=True)


if __name__ == "__main__":
    asyncio.run(file_for_ever(Path(sys.argv[1]), sys.argv[2]))
