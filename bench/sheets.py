"""A supplier's spreadsheet from XLSX to stored records, beside its bare reader and a bulk insert of the same rows."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.report import Line, at_most
from bench.servers import FRESH
from bench.shelving import shelve
from bobusang import migrations
from bobusang.kit.db import connect
from bobusang.testing.workbook import Sheet, workbook

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 100_000
ROUNDS = {"quick": 1, "full": 3}
DATABASES = {"quick": ("sqlite",), "full": tuple(FRESH)}
BATCH = 1_000
HEAD = [
    *("상품코드", "상품명", "브랜드", "공급가", "소비자가", "재고"),
    *("색상", "사이즈", "원산지", "카테고리", "이미지", "등록일"),
]


def goods(count: int) -> Iterator[list[Any]]:
    """A list as suppliers send it: twelve columns, money as numbers and as text."""
    yield HEAD
    for at in range(count):
        yield [
            f"P{at:06}",
            f"라이트 다운 조거 팬츠 와인 {at}",
            "나이키(NIKE)",
            10_000 + at,
            f"{20_000 + at:,}원",
            at % 50,
            "와인",
            "M",
            "한국",
            "의류 > 팬츠",
            f"https://img.example.com/p/{at}.jpg",
            date(2026, 1, 1),
        ]


def run(size: str) -> Iterator[Line]:
    """Each import in a process of its own, whose memory is looked at."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "list.xlsx"
        file.write_bytes(workbook(Sheet("단가표", goods(ROWS))))
        read = median(_bare_read(file) for _ in range(3))
        yield Line(f"{ROWS:,} rows of {len(HEAD)} columns, read by calamine alone", f"{read:.2f} s")
        for name in DATABASES[size]:
            yield from _lines(name, file, read, ROUNDS[size])


def _lines(name: str, file: Path, read: float, rounds: int) -> Iterator[Line]:
    found = [_round(name, file) for _ in range(rounds)]
    ours, bare = median(one["import"] for one in found), median(one["bare"] for one in found)
    yield Line(f"{name}: the rows it makes, by bare multi-row inserts", f"{bare:.2f} s")
    yield Line(f"{name}: looked through before it is imported", f"{median(one['preview'] for one in found):.2f} s")
    yield Line(f"{name}: imported, from the job's start to its end", f"{ours:.2f} s ({ROWS / ours:,.0f} rows/s)")
    yield at_most(f"{name}: import ÷ (bare read + bulk insert)", ours / (read + bare), 3, "×")
    yield at_most(f"{name}: memory of the whole process", max(one["peak"] for one in found), 400, "MB")


def _bare_read(file: Path) -> float:
    from python_calamine import CalamineWorkbook

    data = file.read_bytes()
    begun = time.perf_counter()
    rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    took = time.perf_counter() - begun
    assert len(rows) == ROWS + 1
    return took


def _round(name: str, file: Path) -> dict[str, float]:
    with FRESH[name]() as url, FRESH[name]() as other, tempfile.TemporaryDirectory() as home:
        asked = [sys.executable, "-m", "bench.sheets_import", home, url, str(file)]
        answer = subprocess.run(asked, check=True, capture_output=True, text=True)
        found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
        return found | {"bare": asyncio.run(_bare_insert(url, other))}


async def _bare_insert(url: str, other: str) -> float:
    """The same rows into another database, as `bench storing` does it."""
    await migrations.upgrade(other)
    db, into = await connect(url), await connect(other)
    try:
        return (await shelve(db, into, ROWS // BATCH)).seconds
    finally:
        await db.close()
        await into.close()
