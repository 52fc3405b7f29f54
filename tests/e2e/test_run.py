"""A batch from a shell, over a real sandbox and a real process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import Running, up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("e2e-run")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[str]:
    found = Running("sandbox", "--port", "0", "--size", "120", "--json", cwd=tmp_path)
    try:
        yield re.findall(r'"url": "([^"]+)"', found.read_line())[0]
    finally:
        found.close()


def test_a_batch_is_started_watched_and_ends(tmp_path: Path, sandbox: str) -> None:
    with up(tmp_path, BOBUSANG_SANDBOX_URL=sandbox) as shop:
        shop.finished(shop.post("/brands/collect", {"mall": "okmall"})["job_id"])
        brands = shop.get("/brands?mall=okmall&limit=2")["items"]
        for one in brands:
            shop.post(f"/brands/{one['id']}/accept", {})

        wrong = shop.run("run", "full", "--brand", f"{brands[0]['key']}x", "--json")
        done = shop.run("run", "full", "--mall", "okmall", "--stages", "collect", "--limit", "3", "--wait", "--json")
        listed = shop.run("run", "list")

    assert (wrong.code, wrong.document["error"]["hint"]) == (3, f"did you mean {brands[0]['key']}?")
    assert done.code == 0, done.err
    facts = ("mode", "status", "total_brands", "success_brands", "left")
    assert [done.document[name] for name in facts] == ["FULL", "COMPLETED", 2, 2, 0]
    assert [[cell["stage"] for cell in one["stages"]] for one in done.document["brands"]] == [["COLLECT"], ["COLLECT"]]
    assert listed.out.splitlines()[1].startswith(f"{done.document['batch_id']}\tFULL\tCOMPLETED\t2\t2\t")
