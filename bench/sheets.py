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
    from collections.abc import Iterator, Mapping, Sequence

    from bench.shelving import Shelved

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
        read = _middle([_bare_read(file) for _ in range(3)])
        what = f"{ROWS:,} rows of {len(HEAD)} columns, read by calamine alone"
        yield Line(what, f"{read['seconds']:.2f} s ({read['cpu']:.2f} s of CPU)")
        for name in DATABASES[size]:
            yield from _lines(name, file, read, ROUNDS[size])


def _lines(name: str, file: Path, read: Mapping[str, float], rounds: int) -> Iterator[Line]:
    found = [_round(name, file) for _ in range(rounds)]
    one = _middle(found)
    ours, bare = one["import"], one["bare"]
    yield Line(
        f"{name}: the rows it makes, by bare multi-row inserts", f"{bare:.2f} s ({one['bare_cpu']:.2f} s of CPU)"
    )
    yield Line(f"{name}: looked through before it is imported", f"{one['preview']:.2f} s")
    took = f"{ours:.2f} s ({one['cpu']:.2f} s of CPU; {ROWS / ours:,.0f} rows/s)"
    yield Line(f"{name}: imported, from the job's start to its end", took)
    yield at_most(f"{name}: import ÷ (bare read + bulk insert)", ours / (read["seconds"] + bare), 3, "×")
    if name == "sqlite":  # of other databases most of the work is not in our process
        share = one["cpu"] / (read["cpu"] + one["bare_cpu"])
        yield Line(f"{name}: the same of CPU alone, which no neighbour lengthens", f"{share:.2f} ×")
    yield at_most(f"{name}: memory of the whole process", max(one["peak"] for one in found), 400, "MB")


def _middle(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: median(one[name] for one in found) for name in found[0]}


def _bare_read(file: Path) -> dict[str, float]:
    from python_calamine import CalamineWorkbook

    data = file.read_bytes()
    begun, spent = time.perf_counter(), time.process_time()
    rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    took, spent = time.perf_counter() - begun, time.process_time() - spent
    assert len(rows) == ROWS + 1
    return {"seconds": took, "cpu": spent}


def _round(name: str, file: Path) -> dict[str, float]:
    with FRESH[name]() as url, FRESH[name]() as other, tempfile.TemporaryDirectory() as home:
        asked = [sys.executable, "-m", "bench.sheets_import", home, url, str(file)]
        answer = subprocess.run(asked, check=True, capture_output=True, text=True)
        found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
        shelved = asyncio.run(_bare_insert(url, other))
        return found | {"bare": shelved.seconds, "bare_cpu": shelved.cpu}


async def _bare_insert(url: str, other: str) -> Shelved:
    """The same rows into another database, as `bench storing` does it."""
    await migrations.upgrade(other)
    db, into = await connect(url), await connect(other)
    try:
        return await shelve(db, into, ROWS // BATCH)
    finally:
        await db.close()
        await into.close()
