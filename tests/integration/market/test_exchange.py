"""Rates of exchange from the sandbox's bank: recorded, held when they jump, and left alone when nobody answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.market.exchange import EVERY, Exchange, exchange, place_of, record_file
from bobusang.kit.db import connect
from bobusang.kit.errors import Drifted, Invalid, Missing
from bobusang.kit.transport import AiohttpTransport
from bobusang.platform.alerting import open_alerts
from bobusang.sandbox.world import World
from bobusang.stages.price import fxbook
from bobusang.stages.price.model import FxState
from bobusang.testing.clock import ManualClock
from bobusang.testing.sandbox import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.sandbox import Door

SPREAD = "0.0175"


class Bank:
    """An exchange at the sandbox's bank, on a clock of its own."""

    def __init__(self, db: Database, door: Door, transport: AiohttpTransport, clock: ManualClock) -> None:
        self.db = db
        self.door = door
        self.clock = clock
        self.transport = transport
        self.exchange = Exchange(db, transport, place_of(f"{door.url}/fx/latest.json", SPREAD))

    async def ask(self, **later: float) -> None:
        """Let time pass, and let it ask if it is time."""
        self.clock.advance(**later)
        await self.exchange.run()

    async def known(self) -> list[tuple[str, str, FxState]]:
        """Rates and spreads, the newest first."""
        async with self.db.read() as tx:
            return [(one.rate, one.spread, one.state) for one in await fxbook.listed(tx, "JPY", "KRW")]

    async def alerts(self) -> list[str]:
        async with self.db.read() as tx:
            return [one.key for one in await open_alerts(tx)]

    async def calls(self) -> int:
        return len(await self.door.log(mall="exchange"))


@pytest.fixture
async def bank(url: str) -> AsyncIterator[Bank]:
    clock = ManualClock(datetime.now(UTC))
    db = await connect(url, clock=clock)
    async with running(World(seed=5, size=60, brands=2)) as door:
        host, port = door.host_port.split(":")
        transport = AiohttpTransport(frozenset({(host, int(port))}))
        yield Bank(db, door, transport, clock)
        await transport.close()
    await db.close()


@pytest.fixture
async def small(empty_sqlite: str) -> AsyncIterator[Database]:
    db = await connect(empty_sqlite)
    yield db
    await db.close()


async def test_a_rate_is_asked_for_every_hour(bank: Bank) -> None:
    await bank.ask()
    first = await bank.known()
    await bank.ask(minutes=59)
    await bank.door.advance(24)
    await bank.ask(minutes=2)
    second = await bank.known()

    assert [(spread, state) for _, spread, state in first] == [(SPREAD, FxState.TRUSTED)]
    assert (await bank.calls(), await bank.alerts()) == (2, [])
    assert 9.1 < float(second[0][0]) < 9.3


async def test_nobody_answers_and_the_old_rate_stays(bank: Bank) -> None:
    await bank.ask()
    before = await bank.known()
    await bank.door.fault("exchange", "*", "http_500")
    waits = []
    for minutes in (61, 1, 1, 2, 4, 8):
        await bank.ask(minutes=minutes)
        waits.append(await bank.calls())
    alerts = await bank.alerts()
    await bank.door.clear()
    await bank.ask(hours=1)

    assert (waits, alerts) == ([2, 3, 3, 4, 5, 6], ["fx_dead"])
    assert (await bank.known())[-1:] == before
    assert await bank.alerts() == []


async def test_ten_times_the_rate_is_held_for_a_person(bank: Bank) -> None:
    await bank.ask()
    await bank.door.fault("exchange", "latest", "tenfold", count=1)
    await bank.ask(hours=1, minutes=1)

    async with bank.db.read() as tx:
        known = (await fxbook.known(tx, "JPY", ["KRW"]))["KRW"]
    assert known.quote is not None
    assert known.held is not None
    assert float(known.held.rate) == pytest.approx(10 * float(known.quote.rate), rel=1e-3)
    assert await bank.alerts() == ["fx_held"]

    held = known.held.id
    await bank.db.transact(lambda tx: fxbook.decide(tx, held, "kim", accept=False))
    await bank.ask(hours=1, minutes=1)
    assert await bank.alerts() == []


async def test_half_an_answer_is_no_rate(bank: Bank) -> None:
    await bank.door.fault("exchange", "latest", "half_html", count=1)
    await bank.ask()

    assert (await bank.known(), await bank.alerts()) == ([], ["fx_dead"])


def test_an_exchange_is_a_duty_that_looks_often_and_asks_rarely(tmp_path: Path) -> None:
    duty = exchange(Any, Any, "https://bank.example/latest.json", "0")  # type: ignore[arg-type]

    assert (duty.name, duty.leader, duty.every < EVERY / 10) == ("exchange rates", True, True)


async def test_a_file_is_a_place_too(small: Database, tmp_path: Path) -> None:
    table, document = tmp_path / "rates.csv", tmp_path / "rate.json"
    table.write_text("base,quote,rate,per,source,quoted_at\nJPY,KRW,921.4,100,bank,2026-01-27T09:00:00+09:00\n")
    document.write_text('{"rates": {"KRW": 9.25}, "time": "2026-01-28T09:00:00+09:00"}')
    found = [
        *await small.transact(lambda tx: record_file(tx, table)),
        *await small.transact(lambda tx: record_file(tx, document, "0.01")),
    ]
    again = await small.transact(lambda tx: record_file(tx, table))

    assert [(one.rate, one.source, one.spread, one.state) for one in found] == [
        ("9.214", "bank", "0", FxState.TRUSTED),
        ("9.25", "rate.json", "0.01", FxState.TRUSTED),
    ]
    assert again == []


@pytest.mark.parametrize(
    ("column", "cell", "spread"), [("", "", SPREAD), (",spread", ",", SPREAD), (",spread", ",0", "0")]
)
async def test_a_table_that_does_not_say_the_banks_share_gets_that_of_the_setting(
    small: Database, tmp_path: Path, column: str, cell: str, spread: str
) -> None:
    """Without it the floor lacks what the bank takes."""
    table = tmp_path / "rates.csv"
    table.write_text(f"base,quote,rate,source,quoted_at{column}\nJPY,KRW,9.2,bank,2026-01-27T09:00:00+09:00{cell}\n")

    [found] = await small.transact(lambda tx: record_file(tx, table, SPREAD))

    assert found.spread == spread


async def test_a_file_that_is_none_is_refused(small: Database, tmp_path: Path) -> None:
    odd = tmp_path / "odd.json"
    odd.write_text('{"rates": {}}')
    with pytest.raises(Drifted, match=r"the answer of odd\.json has no rate at rates\.KRW"):
        await small.transact(lambda tx: record_file(tx, odd))
    with pytest.raises(Missing, match="cannot be read"):
        await small.transact(lambda tx: record_file(tx, tmp_path / "none.csv"))


def test_a_setting_says_where_the_rate_stands() -> None:
    found = place_of("https://bank.example/q?pair=JPYKRW#rate=0.basePrice&time=0.timestamp&per=100", "0.01")

    assert (found.address, found.is_file, found.is_table) == ("https://bank.example/q?pair=JPYKRW", False, False)
    assert (found.feed.source, found.feed.rate_at, found.feed.time_at) == ("bank.example", "0.basePrice", "0.timestamp")
    assert (found.feed.per, found.feed.spread) == (100, "0.01")


@pytest.mark.parametrize("written", ["latest.json", "ftp://bank.example/x", "https://b.example/#rat=x", "file:x#per=a"])
def test_a_place_that_cannot_be_meant_is_refused(written: str) -> None:
    with pytest.raises(Invalid) as refused:
        place_of(written, "0")
    assert refused.value.field == "fx_url"
