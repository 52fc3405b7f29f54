"""Listings: the list, a product's receipts step by step, refusals and drift in plain words, what would be sent now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from bobusang.entry.web import listing_words
from bobusang.entry.web.lists import PAGE
from bobusang.kit.sql import Statement
from bobusang.stages.register.market import Cause
from bobusang.stages.register.model import State
from bobusang.views import audit, listing_lists
from bobusang.views.audit import AuditFilter
from bobusang.views.listing_lists import Narrowed

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from bobusang.views.listings import ListingLine
    from tests.web.screen import Screen

HEAD = ["Choose", "Product", "State", "Confirmed price", "Market number", "Refusal or drift", "Confirmed"]
STEPS = [
    *("seen at the mall", "change noticed", "price decided", "intent written"),
    *("sent", "accepted by the market", "confirmed by the market", "read back"),
]
REFUSE = Statement("""
    update listings set refusal_cause = 'mapping', refusal_digest = 'x',
      refusal_words = 'brand_id: the brand is not in BUYMA''s list' where id = :id""")
PROBLEM = Statement("update market_calls set cause = 'mapping', problems = :problems where listing_id = :id")
DRIFT = Statement("update listings set drift = :drift where id = :id")
REWORD = Statement("update listings set confirmed = replace(confirmed, :old, :new) where id = :id")
NAME = Statement("update products set name = :name where id = :id")
RISING = Statement("""
    select sku from price_quotes q where reason in ('no_raise', 'step', 'day_limit')
      and id = (select max(id) from price_quotes o where o.sku = q.sku and o.account = q.account)""")
MARKS = Statement("select count(*) as value from conveyor_marks where product_id = :id")
EVIL = "<img src=x onerror=alert(1)>「«x»」{{ 7*7 }}%(name)s"


async def lines(screen: Screen, **wanted: Any) -> list[ListingLine]:
    async with screen.app.engine.db.read() as tx:
        return list((await listing_lists.part(tx, Narrowed(**wanted), None, 200)).lines)


async def changed(screen: Screen, statement: Statement, **values: Any) -> None:
    async def work(tx: Tx) -> None:
        assert await tx.execute(statement, **values)

    await screen.app.engine.db.transact(work)


def at(line: ListingLine) -> str:
    return f"/listings/{quote(line.sku, safe='')}"


async def test_listings_are_listed_newest_first_and_narrowed(screen: Screen) -> None:
    every, live = await lines(screen), await lines(screen, state=State.LIVE)
    first = live[0]

    page = await screen.viewer.get("/listings")
    narrowed = await screen.viewer.get("/listings", account=first.account, state="LIVE")
    again = await screen.viewer.get("/listings")
    by_sku = await screen.viewer.get("/listings", text=first.sku)
    by_number = await screen.viewer.get("/listings", text=first.market_id)
    nothing = await screen.viewer.get("/listings", refused="1")

    assert page.texts("thead th")[:7] == HEAD
    assert page.texts("tbody th small a") == [line.sku for line in every[:PAGE]]
    assert narrowed.texts("tbody th small a") == again.texts("tbody th small a") == [line.sku for line in live[:PAGE]]
    assert set(narrowed.texts("tbody td:nth-child(4)")) == {"on sale"}
    assert by_sku.texts("tbody th small a") == by_number.texts("tbody th small a") == [first.sku]
    assert by_sku.links("tbody td:nth-child(6) a") == [f"https://www.buyma.com/item/{first.market_id}/"]
    assert nothing.text(".empty p") == "No listing is like this."


async def test_a_list_goes_on_where_it_ended(screen: Screen) -> None:
    every = await lines(screen)
    assert len(every) > PAGE

    first = await screen.viewer.get("/listings")
    second = await screen.viewer.get(first.links("a[rel=next]")[0].removeprefix("/ui"))

    shown = first.texts("tbody th small a") + second.texts("tbody th small a")
    assert shown == [line.sku for line in every]
    assert second.links(".pager a") == ["/ui/listings?clear=1"]


async def test_each_way_to_narrow_finds_the_same_listings(screen: Screen) -> None:
    every = await lines(screen)
    await changed(screen, REFUSE, id=every[0].id)
    await changed(screen, DRIFT, id=every[1].id, drift='[{"field": "price", "sent": 1, "stands": 2}]')

    by_state = {state: await lines(screen, state=state) for state in State}

    assert sorted(line.id for found in by_state.values() for line in found) == sorted(line.id for line in every)
    assert [line.id for line in await lines(screen, account=every[0].account)] == [line.id for line in every]
    assert await lines(screen, account="nobody") == []
    assert [line.id for line in await lines(screen, refused=True)] == [every[0].id]
    assert [line.id for line in await lines(screen, drifted=True)] == [every[1].id]


async def test_a_receipt_is_shown_step_by_step_with_payload_and_answer(screen: Screen) -> None:
    line = (await lines(screen, state=State.LIVE))[-1]

    page = await screen.viewer.get(at(line))

    assert page.text("h1") == f"Listing {line.sku}"
    assert page.texts(".receipt:last-of-type .journey strong") == STEPS
    assert len(page.texts(".receipt:last-of-type .journey li.done")) == len(STEPS)
    assert page.texts(".receipt:last-of-type h3 .pill") == ["new listing", "confirmed", "read back the same"]
    assert page.texts(".receipt:last-of-type summary") == [
        "What was sent to /api/v1/products.json",
        "What the market answered",
    ]
    assert '"control": "publish"' in page.text(".receipt:last-of-type pre")
    assert page.texts(".facts dd")[1] == line.market_id


async def test_a_refusal_is_told_in_plain_words(screen: Screen) -> None:
    line = (await lines(screen, state=State.LIVE))[0]
    await changed(screen, REFUSE, id=line.id)
    said = (
        '[{"field": "brand_id", "said": "不正な値です", "cause": "mapping", "words": "the brand is not in the list"}]'
    )
    await changed(screen, PROBLEM, id=line.id, problems=said)

    listed = await screen.viewer.get("/listings", refused="mapping")
    page = await screen.viewer.get(at(line))

    told = listing_words.CAUSES[Cause.MAPPING]
    assert listed.texts("tbody th small a") == [line.sku]
    assert page.texts(".said.refused p") == [
        told.means,
        f"What to do {told.do}",
    ]
    assert page.texts(".said.refused li") == ["Brand number: the brand is not in BUYMA's list"]
    assert page.links(".said.refused a") == ["/ui/held/brands"]
    assert page.texts(".receipt:first-of-type table tbody tr") == [
        "Brand number不正な値ですthe brand is not in the listwrong mapping"
    ]


async def test_drift_stands_beside_what_we_sent(screen: Screen) -> None:
    line = (await lines(screen, state=State.LIVE))[0]
    drift = (
        '[{"field": "price", "sent": 1200, "stands": 1500}, {"field": "x", "sent": ["a", "b"], "stands": ["b", "c"]}]'
    )
    await changed(screen, DRIFT, id=line.id, drift=drift)

    page = await screen.viewer.get(at(line))

    assert page.texts("section:nth-of-type(2) tbody tr") == ["Price1200 1500", "xa c"]


async def test_what_would_be_sent_now_is_shown_and_nothing_is_sent(screen: Screen) -> None:
    async with screen.app.engine.db.read() as tx:
        rising = {row["sku"] for row in await tx.fetch(RISING)}  # by the next FULL, not by the PARTIAL that was last
    live = [line for line in await lines(screen, state=State.LIVE) if line.sku not in rising]
    pages = [await screen.viewer.get(f"{at(line)}/preview") for line in live[:10]]
    missing = await screen.viewer.get("/listings/okmall-nothing/preview")

    assert pages
    assert {tuple(page.texts(".tabs a[aria-current]")) for page in pages} == {("What would be sent now",)}
    assert {tuple(page.texts("h2 .pill")) for page in pages} == {("nothing would be sent",)}
    assert {page.texts("main section p")[-1] for page in pages} == {"The market has it exactly as it should be."}
    assert missing.status == 404


async def test_the_difference_to_what_is_confirmed_is_shown(screen: Screen) -> None:
    line = (await lines(screen, state=State.LIVE))[0]
    await changed(screen, REWORD, id=line.id, old='"comments":"', new='"comments":"昔の')

    page = await screen.viewer.get(f"{at(line)}/preview")

    (before,), (after,) = (page.texts(f"tbody tr:first-child {one}") for one in ("del", "ins"))
    assert page.texts("h2 .pill") == ["change"]
    assert page.texts("tbody th")[0] == "Description"
    assert before == f"昔の{after}"
    assert '"control": "publish"' in page.text("pre")


async def test_ticked_listings_are_looked_at_again_after_asking(screen: Screen) -> None:
    live = await lines(screen, state=State.LIVE)
    chosen = [str(line.id) for line in live[:2]]
    async with screen.app.engine.db.read() as tx:
        assert await tx.value(MARKS, id=live[0].product_id) == 1

    nothing = await screen.operator.post("/listings/recheck", on="/listings")
    asked = await screen.operator.post("/listings/recheck", on="/listings", ids=chosen)
    done = await screen.operator.post("/listings/recheck", on="/listings", ids=chosen, sure="1")

    assert nothing.text(".said.refused") == "No line is ticked."
    assert asked.text("main p") == "2 of 2 lines would be changed."
    assert asked.texts("main li")[0].startswith(f"{live[0].sku} · {live[0].account} · on sale · ¥")
    assert done.text(".said") == "2 listings are looked at again with the next run."
    async with screen.app.engine.db.read() as tx:
        assert await tx.value(MARKS, id=live[0].product_id) == 0
        (line,) = (await audit.acts(tx, AuditFilter(action="listing.recheck"), None, 5)).lines
    assert (line.actor, line.after) == ("the operator", {"skus": sorted(one.sku for one in live[:2])})


async def test_one_listing_is_looked_at_again(screen: Screen) -> None:
    line = (await lines(screen, state=State.LIVE))[0]

    page = await screen.operator.post(f"{at(line)}/recheck", on=at(line))

    assert page.text(".said") == f"{line.sku} is looked at again with the next run."


async def test_a_listing_is_closed_with_a_reason_and_opened_again(screen: Screen) -> None:
    line = (await lines(screen, state=State.LIVE))[0]
    chosen = {"account": line.account}

    silent = await screen.operator.post(f"{at(line)}/close", on=at(line), **chosen)
    closed = await screen.operator.post(f"{at(line)}/close", on=at(line), **chosen, why="a letter")
    page = await screen.viewer.get(at(line))
    opened = await screen.operator.post(f"{at(line)}/open", on=at(line), **chosen)

    assert silent.text(".said.refused") == "Say why."
    assert closed.text(".said") == f"{line.sku} is closed: the market is told within seconds."
    assert page.text("div.said.refused h3").startswith("Closed by the operator")
    assert page.texts("div.said.refused p")[0] == "a letter"
    assert opened.text(".said") == f"{line.sku} is open: the next run brings it back."
    assert "Close it" in (await screen.viewer.get(at(line))).texts("details summary")


async def test_an_account_is_stopped_and_started_beside_its_figures(screen: Screen) -> None:
    account = (await lines(screen))[0].account
    chosen = {"market": "buyma", "account": account}
    path = "/listings/freshness"

    page = await screen.viewer.get(path)
    stopped = await screen.operator.post("/listings/stop", on=path, **chosen, why="a wrong price")
    started = await screen.operator.post("/listings/start", on=path, **chosen)

    assert page.texts(".figure .label") == [
        *("Seen → sent", "Sent → confirmed", "Changes confirmed in a day", "Held sends")
    ]
    assert page.texts("h2 .pill") == ["active"]
    assert stopped.text(".said") == f"{account} sends nothing until it is started again."
    assert stopped.texts("main section .said") == ["Nothing is sent for this account: a wrong price"]
    assert started.text(".said") == f"{account} sends again with the next run."
    assert started.texts("h2 .pill") == ["active"]


@pytest.mark.parametrize("path", ["/listings", "{at}", "{at}/preview"])
async def test_what_a_mall_writes_is_never_run(screen: Screen, path: str) -> None:
    line = (await lines(screen))[0]
    await changed(screen, NAME, id=line.product_id, name=EVIL)
    await changed(screen, DRIFT, id=line.id, drift='[{"field": "<b>%(x)s", "sent": "<i>", "stands": "<script>"}]')

    page = await screen.viewer.get(path.format(at=at(line)))

    assert page.status == 200
    assert page.tree.css("main img, main i, main b, main section script") == []
    assert EVIL in page.text()
