"""A share of a core for a process and all below it, by the system's control groups: as if other cores were its own."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD = 20_000
"""Microseconds after which a share is given anew: short, so that nobody stands still for long."""
FIRST, UNIFIED = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


def possible() -> bool:
    """Whether shares can be given here: by root, where the control groups are there to be written."""
    place = _place()
    return place is not None and os.access(place, os.W_OK)


@contextmanager
def limited(pid: int, share: float) -> Iterator[None]:
    """Let a process have at most this share of a core."""
    place = _place()
    assert place is not None
    group = place / f"bobusang-bench-{pid}"
    group.mkdir()
    try:
        quota = round(share * PERIOD)
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD}")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for left in (group / "cgroup.procs").read_text().split():
            (place / "cgroup.procs").write_text(left)
        group.rmdir()


def _place() -> Path | None:
    if (FIRST / "cpu.cfs_quota_us").exists() or (FIRST / "cpu.shares").exists():
        return FIRST
    control = UNIFIED / "cgroup.subtree_control"
    return UNIFIED if control.exists() and "cpu" in control.read_text().split() else None
