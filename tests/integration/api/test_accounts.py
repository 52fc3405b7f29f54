"""Accounts: set up with secrets by reference, changed in parts, stopped by one switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.stages.register import ledger
from bobusang.stages.register.market import Family

if TYPE_CHECKING:
    from tests.integration.api.door import Door

MAIN = {
    "market": "buyma",
    "name": "main",
    "buying_area": "2002003000",
    "shipping_area": "2002003001",
    "shipping_methods": [888, 101],
    "shop_name": "오케이몰 🧥",
    "seller_name": "보부상 ★",
    "shipping_charge": 1500,
    "duty": "included",
    "fee_tier": "shop-1",
    "token_ref": "env:BUYMA_TOKEN",
    "secret_ref": "file:/run/secrets/buyma",
}
POLICY = {
    "caution": {"step": 30, "day": 50, "closed": 10, "changed": 60, "few": 5},
    "budget": {"hour": 5000, "day": 2500, "stock_counts": False, "shares": [100, 95, 85, 75, 60]},
    "most": 3,
    "days": 89,
    "extend": 14,
    "patience": "PT1800S",
    "sends": 4,
    "price_hours": 6,
    "doubles": False,
    "unseen": {"told": 48, "capped": 24, "suspended": 240, "cap": 1},
}


async def add(door: Door, **changes: Any) -> Any:
    return await door.admin.post("/accounts", json=MAIN | changes)


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if not name.endswith("_at")}


async def test_an_account_names_its_secrets_and_shows_what_it_has_called(door: Door) -> None:
    made = await add(door)
    assert made.status_code == 201, made.text

    async def call(tx: Any) -> None:
        await ledger.book(tx, made.json()["id"], [Family.PRODUCT, Family.PRODUCT, Family.STOCK])

    await door.app.engine.db.transact(call)

    assert without_times(await door.get("/accounts/buyma/main")) == MAIN | {
        "id": made.json()["id"],
        "enabled": True,
        "stopped_why": "",
        "rests_until": None,
        "live": 0,
        "held": 0,
        "policy": POLICY,
        "calls": {"hour": 3, "hour_limit": 5000, "day": 2, "day_limit": 2500},
        "listings": {},
    }
    (line,) = (await door.get("/accounts"))["items"]
    assert (line["market"], line["name"], line["enabled"]) == ("buyma", "main", True)


async def test_a_part_is_changed_and_the_rest_stays(door: Door) -> None:
    await add(door)
    changes = {
        "seller_name": "",
        "duty": "",
        "shipping_methods": [102],
        "shipping_charge": 0,
        "policy": {"caution": {"step": 20}, "patience": "PT10M"},
    }

    changed = await door.admin.patch("/accounts/buyma/main", json=changes)

    assert changed.status_code == 200, changed.text
    assert {name: changed.json()[name] for name in MAIN} == MAIN | {
        "seller_name": "",
        "duty": "",
        "shipping_methods": [102],
        "shipping_charge": 0,
    }
    assert changed.json()["policy"] == POLICY | {"caution": POLICY["caution"] | {"step": 20}, "patience": "PT600S"}  # type: ignore[operator]
    acts = (await door.get("/audit", subject_type="account"))["items"]
    assert [act["action"] for act in acts] == ["account.change", "account.add"]


async def test_the_switch_stops_all_sending_until_somebody_starts_it(door: Door) -> None:
    await add(door)

    stopped = await door.operator.post("/accounts/buyma/main/stop", json={"why": "wrong prices"})
    again = await door.operator.post("/accounts/buyma/main/stop", json={"why": "another reason"})
    started = await door.operator.post("/accounts/buyma/main/start")

    told = [(one.json()["enabled"], one.json()["stopped_why"]) for one in (stopped, again, started)]
    assert told == [(False, "wrong prices"), (False, "wrong prices"), (True, "")]
    acts = (await door.get("/audit", subject_type="account"))["items"]
    assert [act["action"] for act in acts] == ["account.start", "account.stop", "account.add"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "the secret itself": ({"token_ref": "5ecret-t0ken"}, "token_ref"),
    "an unknown market": ({"market": "buyam"}, "market"),
    "no shipping method": ({"shipping_methods": []}, "shipping_methods"),
    "a name of the policy that means nothing": ({"policy": {"cautoin": {}}}, "policy.cautoin"),
    "a name inside it": ({"policy": {"caution": {"stepp": 1}}}, "policy.caution.stepp"),
    "a policy of a wrong type": ({"policy": {"most": "three"}}, "policy"),
    "shares that grow": ({"policy": {"budget": {"shares": [60, 75, 85, 95, 100]}}}, "shares"),
    "a cap at which nothing can be ordered": ({"policy": {"unseen": {"cap": 0}}}, "unseen"),
    "hours below zero": ({"policy": {"unseen": {"told": -1}}}, "unseen"),
    "an unknown field": ({"password": "x"}, "password"),
}


@pytest.mark.parametrize("case", list(WRONG))
async def test_what_could_not_sell_is_refused_by_its_field(small: Door, case: str) -> None:
    changes, field = WRONG[case]

    refused = await add(small, **changes)

    assert (refused.status_code, refused.json()["field"]) == (422, field), refused.text
    assert "5ecret" not in refused.text
    assert (await small.get("/accounts"))["items"] == []


async def test_there_is_one_account_of_a_name_and_only_an_admin_makes_it(small: Door) -> None:
    forbidden = await small.operator.post("/accounts", json=MAIN)
    await add(small)
    second = await add(small)
    missing = await small.viewer.get("/accounts/buyma/mian")
    silent = await small.operator.post("/accounts/buyma/main/stop", json={"why": "  "})

    assert [one.status_code for one in (forbidden, second, missing, silent)] == [403, 409, 404, 422]
    assert second.json()["hint"] == "`bobusang account set main` changes it"
