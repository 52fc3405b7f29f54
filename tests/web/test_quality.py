"""Data quality: what a shop's products lack and break, drift of its pages, and why products wait."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit import json
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.collect.tables import collect_runs
from tests.web import holding

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.web.screen import Screen

LAST = Statement("select id, name from products where mall = 'okmall' order by id desc limit 1")
SPOIL = Statement("update products set image = null, price = 0 where id = :id")
RUN = Bulk(collect_runs, ("job_id", "source", "target", "scope", "mode", "unknown", "started_at", "tripped", "reason"))


async def test_what_a_product_lacks_leads_to_it(screen: Screen) -> None:
    async def spoil(tx: Tx) -> str:
        row = await tx.first(LAST)
        assert row is not None
        await tx.execute(SPOIL, id=row["id"])
        return str(row["name"])

    before = await screen.viewer.get("/quality")
    name = await screen.app.engine.db.transact(spoil)
    page = await screen.viewer.get("/quality")
    (link,) = set(page.links("#complete tbody tr:nth-child(4) a"))
    lacking = await screen.viewer.get(link.removeprefix("/ui"))
    (broken, _) = page.links("#rules tbody tr:nth-child(1) a")
    failing = await screen.viewer.get(broken.removeprefix("/ui"))

    assert before.links("#complete tbody tr:nth-child(4) a") == []
    assert page.texts("#complete tbody th") == [
        *("name", "brand", "price", "picture", "address", "stock", "category", "model number")
    ]
    assert lacking.text("h2") == "Missing: picture · okmall"
    assert lacking.texts("tbody th") == failing.texts("tbody th") == [name]
    assert failing.text("h2") == "The price is above 0."
    assert (await screen.viewer.get("/quality/failing", check="nothing")).status == 404


@pytest.mark.parametrize(("unknown", "alarms"), [(38, 1), (1, 0)])
async def test_a_field_that_is_no_longer_read_is_told(screen: Screen, unknown: int, alarms: int) -> None:
    def row(tx: Tx, id: int, bad: int, tripped: str | None) -> tuple[object, ...]:
        told = json.dumps({"seen": {"price": 100}, "unknown": {"price": bad}, "changed": {}})
        why = f"price could not be read in {bad} of 100 readings (limit 1.0%)" if tripped else None
        at = tx.now - timedelta(hours=9_000_010 - id)
        return id, "feed", "brand:A", "list:brand:A", "FULL", told, at, tripped, why

    async def happened(tx: Tx) -> None:
        old = [row(tx, 9_000_000 + place, 1, None) for place in range(3)]
        await tx.insert(RUN, [*old, row(tx, 9_000_003, unknown, "null_rate" if unknown > 3 else None)])

    await screen.app.engine.db.transact(happened)
    page = await screen.viewer.get("/quality")

    told = page.texts("#drift .said")
    assert len(told) == 2 * alarms
    if alarms:
        assert told[0].startswith("feed: “price” could not be read in 38.0% of the readings since ")
        assert "before it was 1.0%." in told[0]
        assert told[1].startswith("feed · brand:A: “price” could not be read in 38 of 100 readings")


async def test_guards_and_gates_are_counted_and_lead_on(screen: Screen) -> None:
    await holding.prices(screen.app.engine.db, 2)

    page = await screen.viewer.get("/quality")

    assert page.texts("#held-by-day thead th") == ["Time", "Price jump"]
    assert page.texts("#held-by-day tbody td")[-1] == "2"
    assert "Nobody has reviewed the category mend" in page.texts("#gates tbody th")
    assert "/ui/products?held=1&why=category_unreviewed" in page.links("#gates tbody a")
    assert page.texts(".figure")[2] == "Changes that guards hold2"
