"""Instants as text: of one width, in UTC, and read back as they were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bobusang.kit.clock import text, utc

SEOUL = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("instant", "written"),
    [
        (datetime(2026, 1, 27, 3, tzinfo=UTC), "2026-01-27 03:00:00.000000"),
        (datetime(2026, 1, 27, 3, 0, 0, 7, tzinfo=UTC), "2026-01-27 03:00:00.000007"),
        (datetime(2026, 1, 27, 3, tzinfo=SEOUL), "2026-01-26 18:00:00.000000"),
        (datetime(2026, 1, 27, 3), "2026-01-27 03:00:00.000000"),  # noqa: DTZ001 - taken for UTC
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01 00:00:00.000000"),
    ],
)
def test_an_instant_is_written_in_utc_and_always_as_wide(instant: datetime, written: str) -> None:
    assert text(instant) == written
    assert utc(text(instant)) == (instant if instant.tzinfo else instant.replace(tzinfo=UTC))
