"""A crowd writes and searches while the worker is killed and the index is deleted; the soak does it for a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.under_fire import CLEAN, Choice, fought

if TYPE_CHECKING:
    from pathlib import Path


async def test_nothing_is_lost_and_nothing_old_is_shown_while_parts_of_it_die(tmp_path: Path) -> None:
    choice = Choice(f"sqlite:///{tmp_path / 'bobusang.db'}")

    found = await fought(tmp_path, choice, clients=8, seconds=6, seed=1)

    print(found.done)
    assert (found.wrong, found.lost, found.unlike) == ([], [], [])
    assert found.verified | {"compared": 0} == CLEAN
    assert found.done["certain answers: hit"] > 0
    assert found.done["haggled"] > 0
