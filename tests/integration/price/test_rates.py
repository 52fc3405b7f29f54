"""Dated rows: imported as files, replaced by their keys, exported as they stand; rates of exchange are distrusted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from bobusang.flows.conveyor import marks
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.platform.tables import outbox
from bobusang.stages.price import fxbook, policies, ratebook, sheets
from bobusang.stages.price.model import Fx, FxQuote, FxState
from bobusang.stages.price.policy import CAREFUL, Policy
from bobusang.stages.price.rates import Duty, Fee, FeeKind
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from bobusang.kit.db import Database

FEE = Fee("buyma", FeeKind.SALE, "2026-01-01", "help page", rate=Decimal("0.077"))
KNIT = Duty("JP", Decimal("0.109"), "2026-01-01", "세관", construction="knit", is_exemptable=False)
ENDS = Duty("JP", Decimal("0.05"), "2026-01-01", "세관", construction="knit", up_to=200_000)
RATE = FxQuote("JPY", "KRW", "9.2", "bank", NOON, "0.0175")


async def test_rows_are_added_replaced_and_exported(db: Database) -> None:
    dearer = Fee("buyma", FeeKind.SALE, "2026-01-01", "letter", rate=Decimal("0.08"))
    later = Fee("buyma", FeeKind.SALE, "2026-07-01", "letter", rate=Decimal("0.09"), amount=10)
    async with db.begin() as tx:
        assert await ratebook.put(tx, sheets.FEES, [FEE]) == 1
        assert await ratebook.put(tx, sheets.FEES, [FEE]) == 0
        assert await ratebook.put(tx, sheets.FEES, [dearer, later]) == 2
        assert await ratebook.put(tx, sheets.DUTIES, [KNIT, ENDS]) == 2
    async with db.read() as tx:
        fees, duties = await ratebook.listed(tx, sheets.FEES), await ratebook.listed(tx, sheets.DUTIES)

    assert (fees, duties) == ([dearer, later], [KNIT, ENDS])
    assert sheets.read(sheets.FEES, sheets.write(sheets.FEES, fees)) == fees
    assert sheets.read(sheets.DUTIES, sheets.write(sheets.DUTIES, duties)) == duties


async def test_a_row_that_takes_the_place_of_the_newest_makes_prices_anew(db: Database) -> None:
    """SQLite gave it the number of the one it replaced, and what was marked kept its price until the next day."""
    dearer = Fee("buyma", FeeKind.SALE, "2026-01-01", "letter", rate=Decimal("0.08"))
    stamps = []
    for row in (FEE, dearer):
        async with db.begin() as tx:
            await ratebook.put(tx, sheets.FEES, [row])
        async with db.read() as tx:
            stamps.append(await marks.stamp(tx, "buyma", NOON.date()))

    assert stamps[0] != stamps[1]


async def test_what_comes_with_the_program_leaves_the_operators_rows_alone(db: Database) -> None:
    own = Fee("buyma", FeeKind.SALE, "2025-01-01", "our contract", rate=Decimal("0.05"))
    async with db.begin() as tx:
        await ratebook.put(tx, sheets.FEES, [own])
        added = await ratebook.install(tx)
        assert await ratebook.install(tx) == 0
        rates = await ratebook.load(tx)

    assert added == sum(map(len, (rates.fees, rates.freights, rates.duties, rates.taxes))) - 1
    assert own in rates.fees


async def test_the_first_rate_is_believed_and_a_jump_waits_for_a_person(db: Database) -> None:
    jumped = replace(RATE, rate="92", quoted_at=NOON + timedelta(minutes=5))
    async with db.begin() as tx:
        [first, held] = await fxbook.record(tx, [jumped, RATE])
        assert await fxbook.record(tx, [RATE]) == []
        known = (await fxbook.known(tx, "JPY", ["KRW", "JPY"]))["KRW"]
        [event] = await tx.fetch(select(outbox.c.topic, outbox.c.event_key))
        assert (event["topic"], event["event_key"]) == ("price.fx_held", "JPY/KRW")
    assert (first, held) == (RATE, replace(jumped, state=FxState.HELD))
    assert known.quote is not None
    assert known.held is not None
    assert known == Fx(replace(RATE, id=known.quote.id), replace(held, id=known.held.id))

    async with db.begin() as tx:
        accepted = await fxbook.decide(tx, known.held.id, "owner", accept=True)
        assert await fxbook.known(tx, "JPY", ["KRW"]) == {"KRW": Fx(accepted)}
        with pytest.raises(Conflict, match="not held"):
            await fxbook.decide(tx, known.held.id, "owner", accept=False)
        nobodys = known.held.id + 1_000  # where numbers begin is the database's affair
        with pytest.raises(Missing, match=f"no rate {nobodys}"):
            await fxbook.decide(tx, nobodys, "owner", accept=False)


async def test_a_rejected_rate_and_one_that_was_only_a_glitch_hold_nothing(db: Database) -> None:
    glitch = replace(RATE, rate="92", quoted_at=NOON + timedelta(minutes=1))
    async with db.begin() as tx:
        await fxbook.record(tx, [RATE, glitch])
        known = (await fxbook.known(tx, "JPY", ["KRW"]))["KRW"]
        assert known.held is not None
        await fxbook.decide(tx, known.held.id, "owner", accept=False)
        assert await fxbook.known(tx, "JPY", ["KRW"]) == {"KRW": Fx(known.quote)}

        again = replace(glitch, quoted_at=NOON + timedelta(minutes=2))
        sane = replace(RATE, rate="9.21", quoted_at=NOON + timedelta(minutes=3))
        await fxbook.record(tx, [again, sane])
        now = (await fxbook.known(tx, "JPY", ["KRW"]))["KRW"]
        assert now.quote is not None
        assert (now.quote.rate, now.held) == ("9.21", None)
        assert [one.rate for one in await fxbook.listed(tx, "JPY", "KRW")] == ["9.21", "92", "92", "9.2"]


async def test_a_pair_may_be_written_either_way_and_none_is_made_up(db: Database) -> None:
    inverse = FxQuote("KRW", "JPY", "0.1086", "other", NOON + timedelta(minutes=1))
    async with db.begin() as tx:
        assert await fxbook.known(tx, "JPY", ["KRW"]) == {}
        await fxbook.record(tx, [RATE, inverse])
        found = (await fxbook.known(tx, "JPY", ["KRW", "USD"]))["KRW"].quote

    assert found is not None
    assert replace(found, id=0) == inverse


async def test_a_wrong_rate_written_the_other_way_holds_the_pair_until_a_sane_one_comes_either_way(
    db: Database,
) -> None:
    """0.0104 yen for a won where 0.1087 is right: everything new was priced at a tenth."""
    wrong = FxQuote("KRW", "JPY", "0.0104", "other", NOON + timedelta(minutes=1))
    async with db.begin() as tx:
        await fxbook.record(tx, [RATE])
        assert await fxbook.record(tx, [wrong]) == [replace(wrong, state=FxState.HELD)]
        known = (await fxbook.known(tx, "JPY", ["KRW"]))["KRW"]
        assert known.quote is not None
        assert known.held is not None
        assert (known.quote.rate, known.held.rate) == ("9.2", "0.0104")
        assert (await fxbook.known(tx, "KRW", ["JPY"]))["JPY"] == known

        await fxbook.record(tx, [replace(RATE, rate="9.21", quoted_at=NOON + timedelta(minutes=2))])
        now = (await fxbook.known(tx, "JPY", ["KRW"]))["KRW"]
        assert now.quote is not None
        assert (now.quote.rate, now.held) == ("9.21", None)


async def test_the_first_rate_of_a_pair_has_its_band_whichever_way_it_is_written(db: Database) -> None:
    hundred = FxQuote("KRW", "JPY", "0.001087", "other", NOON)
    async with db.begin() as tx:
        assert await fxbook.record(tx, [hundred]) == [replace(hundred, state=FxState.HELD)]


async def test_a_rate_that_creeps_is_held_and_what_a_person_accepts_begins_anew(db: Database) -> None:
    rates = ("9.2", "9.6", "10", "10.1", "9.9")
    crept = [replace(RATE, rate=rate, quoted_at=NOON + timedelta(minutes=at)) for at, rate in enumerate(rates)]
    async with db.begin() as tx:
        kept = [state for one in crept[:3] for state in [one.state for one in await fxbook.record(tx, [one])]]
        held = (await fxbook.known(tx, "JPY", ["KRW"]))["KRW"].held
        assert held is not None
        await fxbook.decide(tx, held.id, "owner", accept=True)
        kept += [one.state for one in await fxbook.record(tx, crept[3:])]

    assert kept == [FxState.TRUSTED, FxState.TRUSTED, FxState.HELD, FxState.TRUSTED, FxState.TRUSTED]


async def test_the_day_before_is_found_among_what_is_kept(db: Database) -> None:
    """Four per cent a day are no creeping; as much again within the hour is."""
    hours = {"9.2": 72, "9.55": 48, "9.9": 25, "10.35": 1, "10.75": 0}
    given = [replace(RATE, rate=rate, quoted_at=NOON - timedelta(hours=ago)) for rate, ago in hours.items()]
    async with db.begin() as tx:
        kept = [one.state for quote in given for one in await fxbook.record(tx, [quote])]

    assert kept == [*[FxState.TRUSTED] * 4, FxState.HELD]


async def test_a_policy_is_the_accounts_own_or_the_markets_or_careful(db: Database) -> None:
    market, account = Policy(least_margin=Decimal("0.1")), Policy(least_margin=None)
    async with db.begin() as tx:
        await policies.put(tx, "buyma", "", CAREFUL, "owner")
        await policies.put(tx, "buyma", "", market, "owner")
        await policies.put(tx, "buyma", "second", account, "owner")
        with pytest.raises(Invalid, match="price_step"):
            await policies.put(tx, "buyma", "third", Policy(price_step=0), "owner")
    async with db.read() as tx:
        found = await policies.load(tx)

    assert [found.of("buyma", name) for name in ("first", "second")] == [market, account]
    assert found.of("smartstore", "first") == CAREFUL
