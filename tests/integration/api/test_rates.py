"""What prices are made of, and how they came about: sheets, rates of exchange, policies, and a price explained."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.stages.price import fxbook, policies, ratebook, sheets
from bobusang.stages.price.model import FxQuote
from bobusang.stages.price.service import Pricing
from tests.unit.price.stall import LEAN, RATES, TODAY, WANTED

if TYPE_CHECKING:
    from tests.integration.api.door import Door

CSV = {"content-type": "text/csv"}
TAX = (
    "country,taxable_share,exempt_up_to,consumption_rate,clearance,currency,valid_from,source\n"
    "JP,0.6,10000,0.10,200,JPY,2025-01-01,customs\n"
)
RATE = {"base": "jpy", "quote": "KRW", "rate": "941.2", "per": 100, "spread": "0.0175", "source": "bank"}


async def test_a_sheet_comes_back_as_it_went_in(door: Door) -> None:
    first = await door.admin.post("/rates/tax", content=TAX, headers=CSV)
    again = await door.admin.post("/rates/tax", content=TAX, headers=CSV)
    newer = TAX.replace("2025-01-01", "2026-04-01").replace("0.10", "0.12")
    added = await door.admin.post("/rates/tax", content=newer, headers=CSV)

    assert first.json() == {"sheet": "tax", "rows": 1, "changed": 1}
    assert (again.json()["changed"], added.json()["changed"]) == (0, 1)
    exported = await door.viewer.get("/rates/tax/file")
    assert exported.text == TAX + newer.splitlines(keepends=True)[1]
    rows = (await door.get("/rates/tax"))["items"]
    assert rows[0] == {
        "country": "JP",
        "taxable_share": "0.6",
        "exempt_up_to": 10000,
        "consumption_rate": "0.10",
        "clearance": 200,
        "currency": "JPY",
        "valid_from": "2025-01-01",
        "source": "customs",
    }
    counts = {one["sheet"]: one["rows"] for one in (await door.get("/rates"))["items"]}
    assert counts == {"fees": 0, "freight": 0, "duty": 0, "tax": 2}
    acts = (await door.get("/audit", subject_type="rates"))["items"]
    assert [act["after"] for act in acts] == [{"rows": 1, "changed": 1}] * 2


async def test_one_wrong_row_refuses_the_file(small: Door) -> None:
    wrong = TAX + "JP,1.6,0,0,0,JPY,2026-01-01,customs\n"

    refused = await small.admin.post("/rates/tax", content=wrong, headers=CSV)
    unknown = await small.viewer.get("/rates/taxes")

    assert (refused.status_code, refused.json()["detail"]) == (422, "line 3 of the tax file: taxable_share is 1.6")
    assert (unknown.status_code, unknown.json()["hint"]) == (404, "did you mean tax?")
    assert (await small.get("/rates/tax"))["items"] == []


async def test_a_rate_that_jumps_waits_for_a_person(door: Door) -> None:
    good = await door.admin.post("/fx", json=RATE | {"quoted_at": "2026-01-27T12:00:00+09:00"})
    again = await door.admin.post("/fx", json=RATE | {"quoted_at": "2026-01-27T12:00:00+09:00"})
    tenfold = await door.admin.post("/fx", json=RATE | {"per": 10, "quoted_at": "2026-01-27T13:00:00+09:00"})
    table = "base,quote,rate,per,spread,source,quoted_at\nJPY,KRW,95,10,0,bank,2026-01-27T14:00:00+09:00\n"
    filed = await door.admin.post("/fx/import", content=table, headers=CSV)

    told = [one.json() for one in (good, again, tenfold, filed)]
    assert told == [
        {"given": 1, "trusted": 1, "held": 0},
        {"given": 1, "trusted": 0, "held": 0},
        {"given": 1, "trusted": 0, "held": 1},
        {"given": 1, "trusted": 1, "held": 0},
    ]
    (held,) = (await door.get("/fx", state="held", base="jpy"))["items"]
    assert (held["rate"], held["reason"]) == ("94.12", "JPY/KRW 9.412 → 94.12 (900.0%, more than 5.0% is held)")
    refused = await door.operator.post(f"/fx/{held['id']}/reject")
    twice = await door.operator.post(f"/fx/{held['id']}/accept")
    missing = await door.operator.post("/fx/999999/accept")
    assert (refused.json()["state"], refused.json()["decided_by"]) == ("REJECTED", "the operator")
    assert (twice.status_code, missing.status_code) == (409, 404)
    rates = (await door.get("/fx"))["items"]
    assert [(one["rate"], one["state"]) for one in rates] == [
        ("9.5", "TRUSTED"),
        ("94.12", "REJECTED"),
        ("9.412", "TRUSTED"),
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"rate": "abc"}, "rate"),
        ({"rate": "0"}, "rate"),
        ({"rate": 9.4}, "rate"),
        ({"spread": "1.5"}, "spread"),
        ({"base": "KRW"}, "quote"),
        ({"base": "yen "}, "base"),
        ({"quoted_at": "2999-01-01T00:00:00Z"}, "quoted_at"),
        ({"source": ""}, "source"),
    ],
)
async def test_a_rate_that_cannot_be_is_refused(small: Door, changes: dict[str, Any], field: str) -> None:
    refused = await small.admin.post("/fx", json=RATE | changes)

    assert (refused.status_code, refused.json()["field"]) == (422, field), refused.text
    assert (await small.get("/fx"))["items"] == []


async def test_the_nearest_policy_holds(door: Door) -> None:
    default = await door.get("/prices/policy")
    mine = await door.admin.put("/prices/policy", json={"least_margin": "0.10"})
    unknown = await door.admin.put("/prices/policy", params={"account": "main"}, json={})
    wrong = await door.admin.put("/prices/policy", json={"undercut": 0})
    odd = await door.admin.put("/prices/policy", json={"least_mragin": "0.10"})

    assert (default["origin"], default["policy"]["least_margin"]) == ("default", "0.05")
    assert mine.json()["policy"] == default["policy"] | {"least_margin": "0.10"}
    of_account = await door.get("/prices/policy", account="main")
    assert (of_account["origin"], of_account["decided_by"]) == ("market", "the admin")
    assert (unknown.status_code, wrong.status_code, odd.status_code) == (404, 422, 422)
    assert wrong.json()["field"] == "undercut"


async def test_a_price_is_explained_step_by_step(door: Door) -> None:
    async def work(tx: Any) -> None:
        await ratebook.put(tx, sheets.FEES, RATES.fees)
        await ratebook.put(tx, sheets.FREIGHTS, RATES.freights)
        await policies.put(tx, "buyma", "", LEAN, "owner")
        await Pricing().quote(tx, [WANTED], TODAY)
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.2", "bank", tx.now - timedelta(hours=1))])
        await Pricing().quote(tx, [WANTED], TODAY)

    await door.app.engine.db.transact(work)

    found = await door.get("/prices/explain", sku="sku-1", market="buyma", account="main")

    assert {name: found[name] for name in ("decision", "reason", "price", "floor", "currency")} == {
        "decision": "HOLD",
        "reason": "not_searched",
        "price": None,
        "floor": 38257,
        "currency": "JPY",
    }
    names = [step["step"] for step in found["steps"]]
    assert names[:4] == ["rate JPY/KRW", "purchase", "domestic freight", "international freight"]
    assert found["steps"][1] == {
        "step": "purchase",
        "amount": "₩300,000",
        "local": "¥32,609",
        "basis": "source price",
        "source": "source",
        "dated": "",
    }
    assert found["rival"]["search"] == "NEVER"
    history = (await door.get("/prices/history", sku="sku-1"))["items"]
    assert [one["reason"] for one in history] == ["not_searched", "no_fx"]
    missing = await door.viewer.get("/prices/explain", params={"sku": "sku-1", "account": "other"})
    assert (missing.status_code, missing.json()["code"]) == (404, "missing")
