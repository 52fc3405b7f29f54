"""What a thing is made of reaches its price: duty is by the material that CONVERT has read, whatever it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from bobusang.catalog.variants import Goods
from bobusang.flows.conveyor import wanting
from bobusang.flows.conveyor.goods import Told
from bobusang.kit.money import Money
from bobusang.stages.convert import customs, materials
from bobusang.stages.price import sheets
from bobusang.stages.price.model import Fx, FxQuote
from bobusang.stages.price.policy import Policy
from bobusang.stages.price.rates import Rates
from bobusang.stages.price.rules import Facts, decide
from tests.unit.flows.test_conveyor_wanting import KNOWN, MADE, NOW
from tests.unit.register.making import ACCOUNT

RATES = Rates(
    sheets.shipped(sheets.FEES),
    sheets.shipped(sheets.FREIGHTS),
    sheets.shipped(sheets.DUTIES),
    sheets.shipped(sheets.TAXES),
)
FX = {"KRW": Fx(FxQuote("JPY", "KRW", "9.4", "bank", NOW, "0.01"))}
LOAFER, TOTE, SWEATSHIRT, SHIRT = ("신발", "로퍼"), ("가방", "토트백"), ("상의", "스웨트셔츠"), ("상의", "셔츠")


def floor(category: tuple[str, ...], said: Any) -> Money | None:
    """What a thing of ₩150,000 must bring at least, by the rows that come with the program."""
    parts = materials.parse(said)
    made = msgspec.structs.replace(
        MADE,
        materials=tuple(msgspec.to_builtins(part) for part in parts),
        construction=customs.construction(parts, [" > ".join(category)]).value,
    )
    known = replace(KNOWN, told=Told({"price": 150_000, "category": list(category), "weight_grams": 900}))
    wanted = wanting.priced(known, made, Goods((), ()), ACCOUNT, None, currency="JPY", may_raise=True)
    return decide(Facts(wanted, RATES, NOW.date(), FX), Policy(), NOW).floor


@pytest.mark.parametrize(
    ("category", "said", "least"),
    [
        (LOAFER, "소가죽 100%", 28_060),
        (LOAFER, "카프스킨", 28_060),
        (LOAFER, "밑창: 고무 / 갑피: 스웨이드", 28_060),
        (LOAFER, {"굽": "고무", "갑피": "소가죽"}, 28_060),
        (LOAFER, "상세페이지 참조", 28_060),
        (LOAFER, "비건레더", 23_970),
        (TOTE, "램스킨", 24_592),
        (TOTE, "합성가죽", 23_970),
        (SWEATSHIRT, "면 100%", 23_970),
        (SHIRT, "면 100%", 21_305),
    ],
)
def test_leather_and_knitwear_are_never_free_of_duty(category: tuple[str, ...], said: Any, least: int) -> None:
    """A calfskin loafer was listed ¥6,750 below what it costs: its duty was forgotten."""
    assert floor(category, said) == Money(least, "JPY")
