"""Held: each kind is seen with its numbers, decided one by one and together, and what is refused is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.brands import Proposal
from bobusang.kit.sql import Statement
from bobusang.sandbox.words import BRANDS
from tests.web import holding

if TYPE_CHECKING:
    from tests.web.screen import Screen

STATES = Statement("select state from held_writes order by id")
BRAND = Statement("select is_active, buyma_brand_id, buyma_brand_name from mall_brands where id = :id")
ACTS = Statement("select action from audit_log where actor = 'the operator' order by id")
KNOWN = BRANDS[-1]
"""A brand that the demo does not accept, and that the market has."""


async def states(screen: Screen) -> list[str]:
    async with screen.app.engine.db.read() as tx:
        return [row["state"] for row in await tx.fetch(STATES)]


async def acts(screen: Screen) -> list[str]:
    async with screen.app.engine.db.read() as tx:
        return [row["action"] for row in await tx.fetch(ACTS)]


async def test_held_changes_are_listed_with_their_numbers(screen: Screen) -> None:
    (first, second) = await holding.prices(screen.app.engine.db, 2)

    page = await screen.viewer.get("/held")
    other = await screen.viewer.get("/held", guard="option_fall")

    assert page.texts(".tabs a")[0] == "Changes of malls 2"
    assert page.texts("tbody th a") == [second["name"], first["name"]]
    old, new = f"{first['price']:,}", f"{first['price'] // 10:,}"
    assert page.texts("tbody tr td:nth-child(3)")[1] == f"price ₩{old} → ₩{new}"
    assert page.texts("tbody tr td:nth-child(4) div")[1] == (
        f"The price goes from {old} to {new} (-90%); more than 40% is held."
    )
    assert other.text(".empty") == "Nothing is held that is like this.Clear"


async def test_one_is_shown_with_its_evidence(screen: Screen) -> None:
    (product,) = await holding.prices(screen.app.engine.db, 1)

    page = await screen.viewer.get("/held/1")
    file = await screen.viewer.get("/held/1/page")
    missing = await screen.viewer.get("/held/999999")

    assert page.text("h1") == f"Held: {product['name']}"
    assert page.texts("tbody del") == [f"₩{product['price']:,}"]
    assert page.texts("tbody ins") == [f"₩{product['price'] // 10:,}"]
    assert (file.status, file.headers["content-disposition"].partition(";")[0]) == (200, "attachment")
    assert missing.status == 404


async def test_an_approved_change_is_written_and_the_next_is_at_hand(screen: Screen) -> None:
    db = screen.app.engine.db
    (first, second) = await holding.prices(db, 2)

    following = await screen.operator.post("/held/2/approve", on="/held/2", next="1", source="okmall")
    listed = await screen.operator.post("/held/1/reject", on="/held")

    assert following.url.endswith("/ui/held/1?source=okmall")
    assert following.text(".said") == f"{second['product_id']}: the change was approved and written."
    assert listed.url.endswith("/ui/held")
    assert listed.text(".empty").startswith("No change of a mall waits for you.")
    assert await holding.price(db, second["id"]) == second["price"] // 10
    assert await holding.price(db, first["id"]) == first["price"]
    assert (await states(screen), await acts(screen)) == (["REJECTED", "APPROVED"], ["held.approve", "held.reject"])


async def test_many_are_shown_before_they_are_decided(screen: Screen) -> None:
    (first, *_) = await holding.prices(screen.app.engine.db, 3)

    none = await screen.operator.post("/held/approve", on="/held")
    asked = await screen.operator.post("/held/approve", on="/held", ids=["1", "2", "77"])
    before = await states(screen)
    done = await screen.operator.post("/held/approve", on="/held", ids=["1", "2", "77"], sure="1")
    every = await screen.operator.post("/held/reject", on="/held", all="1", guard="price_jump")
    rejected = await screen.operator.post("/held/reject", on="/held", all="1", guard="price_jump", sure="1")

    assert none.text(".said") == "Nothing is ticked. Tick lines, or “all that match the filters”."
    assert asked.text("main p") == "2 of 3 lines would be changed."
    assert asked.texts("main li")[1].startswith(f"okmall {first['product_id']} · The price goes from")
    assert before == ["HELD", "HELD", "HELD"]
    assert done.text(".said") == "2 were decided, 1 were refused: there is no held write 77"
    assert every.text("main p") == "1 of 1 lines would be changed."
    assert rejected.text(".said") == "1 were decided."
    assert await states(screen) == ["APPROVED", "APPROVED", "REJECTED"]


async def test_a_send_is_let_out_but_never_a_loss(screen: Screen) -> None:
    (step, loss) = await holding.sends(screen.app.engine.db)

    page = await screen.operator.get("/held", kind="market")
    both = await screen.operator.post("/held/sends/approve", on="/held/sends", all="1")
    approved = await screen.operator.post("/held/sends/1/approve", on="/held/sends")
    refused = await screen.operator.post("/held/sends/2/approve", on="/held/sends")
    rejected = await screen.operator.post("/held/sends/reject", on="/held/sends", all="1", sure="1")

    assert page.texts("tbody th a") == [loss, step]
    assert page.texts("tbody strong") == [
        "The price 19,999 is below the floor 20,000.",
        "From 22,500 to 38,000 is +69 % in one step; at most 30 % is allowed.",
    ]
    assert page.texts("tbody button") == ["Reject", "Approve", "Reject"]
    assert both.text("main p") == "1 of 2 lines would be changed."
    assert approved.text(".said").startswith(f"{step}: exactly this may be sent for a day")
    assert refused.text(".said").startswith("a hold by below_floor cannot be approved")
    assert rejected.text(".said") == "1 were decided."


async def test_what_moved_since_it_was_shown_is_not_let_out_with_the_others(screen: Screen) -> None:
    """Between the question and its answer a run comes by with another price."""
    db = screen.app.engine.db
    (step, _) = await holding.sends(db)
    asked = await screen.operator.post("/held/sends/approve", on="/held/sends", all="1")
    newest = [one.attributes["value"] for one in asked.tree.css("input[name=newest]")]
    await holding.moved(db)

    every = await screen.operator.post("/held/sends/approve", on="/held/sends", all="1", sure="1", newest=newest[0])
    ticked = await screen.operator.post("/held/sends/approve", on="/held/sends", ids="1", sure="1")
    page = await screen.operator.get("/held/sends")

    assert newest == ["2"]
    assert every.text(".said").startswith("0 were decided, 1 were refused: a hold by below_floor cannot be approved")
    assert ticked.text(".said") == "0 were decided, 1 were refused: hold 1 is SUPERSEDED already"
    assert page.texts("tbody strong")[0] == "From 22,500 to 39,000 is +73 % in one step; at most 30 % is allowed."
    assert step in page.texts("tbody th a")


async def test_a_brand_is_reviewed_as_one_of_the_market(screen: Screen) -> None:
    db = screen.app.engine.db
    ids = await holding.proposed(
        db, Proposal("A", KNOWN.ko, KNOWN.en), Proposal("Nobody Knows It"), Proposal("Unwanted Brand")
    )

    page = await screen.operator.get("/held/brands")
    one = await screen.operator.get(f"/held/brands/{ids['Nobody Knows It']}", seek=KNOWN.en)
    unchosen = await screen.operator.post(f"/held/brands/{ids['Nobody Knows It']}/accept", on="/held/brands")
    same = await screen.operator.post(f"/held/brands/{ids['A']}/accept", on="/held/brands", market_id=page_id(page))
    lacks = await screen.operator.post(
        f"/held/brands/{ids['Nobody Knows It']}/accept", on="/held/brands", next="1", market_id="0"
    )
    blocked = await screen.operator.post(f"/held/brands/{ids['Unwanted Brand']}/block", on="/held/brands")

    assert page.texts("tbody th a") == [KNOWN.en, "Nobody Knows It", "Unwanted Brand"]
    assert page.texts("tbody tr td:nth-child(3)") == [KNOWN.en, "nothing found", "nothing found"]
    assert page.texts("tbody tr td:nth-child(4)")[0] == "100% the same name"
    assert one.texts("fieldset label")[0].startswith(KNOWN.en)
    assert unchosen.text(".said") == "Choose what it is at the market. (search the market's list for it)"
    assert same.text(".said") == f"{KNOWN.en} was accepted: its products may go to the market."
    assert lacks.url.endswith(f"/held/brands/{ids['Unwanted Brand']}")
    assert blocked.text(".empty").startswith("Everything is reviewed.")
    async with db.read() as tx:
        rows = [await tx.first(BRAND, id=ids[key]) for key in ("A", "Nobody Knows It", "Unwanted Brand")]
    assert [(row["is_active"], row["buyma_brand_id"]) for row in rows if row] == [
        (1, int(page_id(page))),
        (1, 0),
        (0, None),
    ]


def page_id(page: object) -> str:
    """The market's number that the first line would be accepted as."""
    from tests.web.screen import Page

    assert isinstance(page, Page)
    return page.tree.css('tbody button[name="market_id"]')[0].attributes["value"] or ""


async def test_brands_are_accepted_together_as_what_stands_beside_them(screen: Screen) -> None:
    await holding.proposed(screen.app.engine.db, Proposal("same", KNOWN.ko, KNOWN.en), Proposal("Nobody Knows It"))

    found = await screen.operator.post("/held/propose", on="/held/brands")
    asked = await screen.operator.post("/held/brands/accept", on="/held/brands", all="1", mall="okmall")
    done = await screen.operator.post("/held/brands/accept", on="/held/brands", all="1", mall="okmall", sure="1")
    blocked = await screen.operator.post("/held/brands/block", on="/held/brands", all="1", mall="okmall", sure="1")

    assert found.text(".said").startswith("1 brands and ")
    assert asked.text("main p") == "1 of 2 lines would be changed."
    assert asked.texts("main li") == [f"okmall {KNOWN.en} → {KNOWN.en}"]
    assert (done.text(".said"), blocked.text(".said")) == ("1 were decided.", "1 were decided.")


async def test_a_category_is_found_in_the_markets_own_words(screen: Screen) -> None:
    page = await screen.operator.get("/held/categories")
    first = page.links("tbody th a")[0].removeprefix("/ui")

    one = await screen.operator.get(first, seek="キャップ")
    id = one.tree.css('input[name="market_id"]')[0].attributes["value"]
    done = await screen.operator.post(f"{first}/accept", on=first, market_id=id, next="1")

    assert "キャップ" in one.texts("fieldset label")[0]
    assert done.text(".said").endswith("was accepted: its products may go to the market.")
    left = await screen.operator.get("/held/categories")
    assert first not in [link.removeprefix("/ui") for link in left.links("tbody th a")]


async def test_a_rate_that_jumped_is_believed_or_not(screen: Screen) -> None:
    await holding.rate(screen.app.engine.db)

    overview = await screen.operator.get("/")
    page = await screen.operator.get("/held/rates")
    id = page.tree.css_first("tbody button").attributes["formaction"].split("/")[-2]  # type: ignore[union-attr]
    done = await screen.operator.post(f"/held/rates/{id}/accept", on="/held/rates")
    twice = await screen.operator.post(f"/held/rates/{id}/reject", on="/held/rates")

    assert "1 exchange rates that jumped" in overview.text("#needs")
    assert page.texts("tbody th, tbody td")[:3] == [
        "USD/KRW",
        "14000",
        "USD/KRW from 1400 to 14000 is a jump of 900.0%; more than 5.0% is held.",
    ]
    assert done.text(".said") == "Prices are made with 14000 KRW for one USD from now on."
    assert twice.text(".said").startswith(f"rate {id} is TRUSTED, not held")


async def test_the_mapping_goes_out_and_comes_in_again(screen: Screen) -> None:
    page = await screen.operator.get("/held/mapping")
    file = await screen.operator.get("/held/mapping.csv", mall="okmall")
    wrong = await screen.operator.post("/held/mapping", on="/held/mapping", mapping="no mapping\nat all")
    right = await screen.operator.post("/held/mapping", on="/held/mapping", mapping=file.html)

    lines = file.html.splitlines()
    assert page.texts("main .two section:first-child .button") == ["mustit", "okmall"]
    assert lines[0] == "kind,mall,key,name_ko,name_en,market_id,market_name,review"
    assert (wrong.status, wrong.text("textarea")) == (422, "no mapping at all")
    assert wrong.text(".said").startswith("this is no mapping")
    assert right.text(".said") == f"{len(lines) - 1} lines of okmall were taken."


async def test_a_viewer_sees_what_is_held_and_decides_nothing(screen: Screen) -> None:
    await holding.prices(screen.app.engine.db, 1)

    refused = await screen.viewer.post("/held/1/approve", on="/held/1")

    assert refused.status == 403
    assert await states(screen) == ["HELD"]
