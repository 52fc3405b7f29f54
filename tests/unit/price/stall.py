"""A small shop for price tests: rates, a rate of exchange, and what is wanted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bobusang.kit.money import won, yen
from bobusang.stages.price.model import Fx, FxQuote, Lately, Rival, Search, Wanted
from bobusang.stages.price.policy import Policy
from bobusang.stages.price.rates import Duty, Fee, FeeKind, Freight, Leg, Rates, Tax
from bobusang.stages.price.rules import Facts

NOW = datetime(2026, 1, 27, 12, tzinfo=UTC)
TODAY = NOW.date()
SPRING = "2025-04-01"

RATES = Rates(
    fees=(
        Fee("buyma", FeeKind.SALE, SPRING, "fee page", rate=Decimal("0.077")),
        Fee("buyma", FeeKind.SALE, SPRING, "fee page", tier="gold", rate=Decimal("0.055")),
        Fee("buyma", FeeKind.PAYOUT, SPRING, "fee page"),
    ),
    freights=(
        Freight(Leg.DOMESTIC, "KR-JP", 1_000_000, 0, "KRW", SPRING, "none"),
        Freight(Leg.INTERNATIONAL, "KR-JP", 1_000_000, 15_000, "KRW", SPRING, "forwarder"),
    ),
    duties=(Duty("JP", Decimal(0), SPRING, "customs"),),
    taxes=(Tax("JP", Decimal("0.6"), 10_000, Decimal(0), 0, "JPY", SPRING, "customs"),),
)

LEAN = Policy(cancel_rate=Decimal(0), pays_duty=False)
"""No cost but purchase, freight and fee."""

WANTED = Wanted(1, "sku-1", "buyma", "main", won(300_000), tier="gold", weight_grams=500, model="AB-123")


def fx(rate: str = "9.2", age: timedelta = timedelta(hours=1), spread: str = "0") -> Fx:
    return Fx(FxQuote("JPY", "KRW", rate, "bank", NOW - age, spread, id=7))


def found(total: int, age: timedelta = timedelta(hours=1)) -> Rival:
    return Rival(Search.FOUND, yen(total), "other", "coat", 3, 2, NOW - age)


EMPTY = Rival(Search.EMPTY, found_at=NOW)
UNCLEAR = Rival(Search.UNCLEAR, offers=40, found_at=NOW)
FAILED = Rival(Search.FAILED, yen(40_000), "other", found_at=NOW)


def facts(rival: Rival = EMPTY, *, rate: Fx | None = None, lately: Lately | None = None, **wanted: Any) -> Facts:
    return Facts(replace(WANTED, **wanted), RATES, TODAY, {"KRW": rate or fx()}, rival, lately)
