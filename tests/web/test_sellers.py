"""Sellers: added, listed with what their quality is made of, paused, resumed, crawled now, one by one and together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import sellers
from bobusang.catalog.model import SellerStatus
from bobusang.kit.sql import Bulk
from bobusang.stages.collect.tables import collect_runs
from bobusang.views import sellers as view
from bobusang.views.sellers import SellerFilter

if TYPE_CHECKING:
    from bobusang.views.sellers import SellerLine
    from tests.web.screen import Screen

RUN = Bulk(collect_runs, ("job_id", "source", "target", "scope", "mode", "started_at"))
FORM = {"mall": "mustit", "seller_id": "dmont", "name": "디몽", "company": "㈜디몽", "cadence": "6h"}
GRADE = {"score": 84.2, "items": 12, "completeness": 0.95, "validity": 1.0, "freshness": 0.5, "consistency": 0.88}


async def added(screen: Screen, **other: str) -> int:
    page = await screen.operator.post("/sellers/new", on="/sellers/new", **FORM | other)
    assert page.status == 200, page.text()
    return int(page.url.rpartition("/")[2])


async def stored(screen: Screen) -> list[SellerLine]:
    async with screen.app.engine.db.read() as tx:
        return await view.listed(tx, SellerFilter(), None, 10)


async def test_without_sellers_the_page_says_what_to_do(screen: Screen) -> None:
    page = await screen.operator.get("/sellers")

    assert page.texts(".tabs a") == ["Sellers", "Suppliers", "Sources and gates", "Identities and quotas"]
    assert page.links(".empty a") == ["/ui/sellers/new"]


async def test_sellers_are_listed_with_the_parts_of_their_quality(screen: Screen) -> None:
    id = await added(screen)
    await screen.app.engine.db.transact(lambda tx: sellers.set_quality(tx, id, GRADE))

    page = await screen.viewer.get("/sellers")

    heads = ["Choose", "Seller", "State", "Cadence", "Quality", "Products", "Last crawl", "Next crawl", "Actions"]
    assert page.texts("thead th") == heads
    assert page.texts("tbody th > a") == ["디몽"]
    assert page.texts("tbody td:nth-child(3)") == ["active"]
    assert page.texts("tbody td:nth-child(4)") == ["every 6 hours"]
    assert page.text(".score") == "84.2"
    assert page.texts(".parts dt") == ["Completeness", "Validity", "Freshness", "Consistency"]
    assert page.texts(".parts dd.right") == ["95%", "100%", "50%", "88%"]
    assert page.links("tbody td:nth-child(6) a") == ["/ui/products?mall=mustit&seller=dmont"]
    assert (await screen.viewer.get("/sellers", q="nobody")).text(".empty p") == "No seller is like this."


async def test_one_seller_with_its_products_and_its_crawls(screen: Screen) -> None:
    id = await added(screen)

    page = await screen.viewer.get(f"/sellers/{id}")

    assert page.text("h1") == "디몽"
    assert int(page.text(".facts div:nth-child(2) dd")) > 0
    assert page.text("#seller-quality p") == "It is measured at the end of its first crawl."
    assert page.text("#seller-runs .empty p") == "It was not crawled yet."
    assert page.text("#seller-running") == ""


async def test_a_seller_is_paused_with_a_reason_and_resumed(screen: Screen) -> None:
    id = await added(screen)
    path = f"/sellers/{id}"

    paused = await screen.operator.post(f"{path}/pause", on=path, reason="prices look wrong")
    assert paused.text(".said") == "디몽 is paused."
    assert [(one.status, one.paused_reason) for one in await stored(screen)] == [
        (SellerStatus.PAUSED, "prices look wrong")
    ]
    refused = await screen.operator.post(f"{path}/crawl", on=path)
    assert "paused" in refused.text(".said.refused")

    resumed = await screen.operator.post(f"{path}/resume", on=path)
    assert resumed.text(".said") == "디몽 is crawled again, one cadence from now."
    disabled = await screen.operator.post(f"{path}/disable", on=path)
    assert disabled.text(".said") == "디몽 is switched off; what was collected stays."
    refused = await screen.operator.post(f"{path}/delete", on=path)
    assert "is of seller mustit/dmont" in refused.text(".said.refused")


async def test_a_seller_is_crawled_now_and_the_page_shows_how_far(screen: Screen) -> None:
    path = f"/sellers/{await added(screen)}"

    page = await screen.operator.post(f"{path}/crawl", on=path, mode="FULL")
    job = int(page.text(".said").removeprefix("The crawl was started, as job ").removesuffix("."))

    async def begun(tx: Any) -> None:
        place = (job, "mustit", "seller:dmont", "list:seller:dmont", "FULL", tx.now)
        await tx.insert(RUN, [place])

    await screen.app.engine.db.transact(begun)
    page = await screen.viewer.get(path)

    assert page.links("#seller-running h2 a") == page.links("#seller-runs tbody a") == [f"/ui/jobs/{job}"]
    assert page.text("#seller-running p") == "0 of 0 requests are over, 0 failed, 0 wait at the gate."
    assert page.texts("#seller-runs tbody td") == ["FULL", "running", "0", "0", "0", "0", "–"]


async def test_many_are_paused_and_resumed_after_they_were_shown(screen: Screen) -> None:
    first, second = await added(screen), await added(screen, seller_id="hanastore", name="하나")
    await screen.operator.post(f"/sellers/{first}/pause", on="/sellers")

    asked = await screen.operator.post("/sellers/many/pause", on="/sellers", ids=[str(first), str(second)])
    assert asked.text("section p") == "1 of 2 lines would be changed."
    assert asked.texts("main li") == ["mustit · 하나"]
    done = await screen.operator.post("/sellers/many/pause", on="/sellers", ids=[str(first), str(second)], sure="1")
    assert done.text(".said") == "1 were changed."
    done = await screen.operator.post("/sellers/many/resume", on="/sellers", all="1", mall="mustit", sure="1")
    assert done.text(".said") == "2 were changed."

    assert [one.status for one in await stored(screen)] == [SellerStatus.ACTIVE] * 2


async def test_a_seller_is_changed(screen: Screen) -> None:
    path = f"/sellers/{await added(screen)}/edit"

    page = await screen.operator.post(path, on=path, name="디몽트", cadence="30m", adaptive="1")

    assert page.text(".said") == "디몽트 was changed."
    assert [(one.name, one.company, one.cadence, one.adaptive) for one in await stored(screen)] == [
        ("디몽트", None, "30m", True)
    ]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"cadence": "now and then"}, "'now and then' is no cadence"),
        ({"email": "nobody"}, "email: "),
        ({"mall": "nowhere"}, "nowhere"),
        ({"seller_id": "dmont"}, "mustit has a seller 'dmont' already"),
    ],
)
async def test_what_is_wrong_is_said_beside_what_was_typed(screen: Screen, wrong: dict[str, str], said: str) -> None:
    await added(screen)
    form = {**FORM, "seller_id": "another", **wrong}

    page = await screen.operator.post("/sellers/new", on="/sellers/new", **form)

    assert page.status == 422 or "mall" in wrong
    assert said in page.text(".said.refused")
    fields = {one.attributes["name"]: one.attributes["value"] for one in page.tree.css(".fields input")}
    assert {name: fields[name] for name in ("seller_id", "name", "cadence")} == {
        name: form[name] for name in ("seller_id", "name", "cadence")
    }
