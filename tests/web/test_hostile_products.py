"""A mall that is hostile in every field: its words are shown as words, and nothing on any page is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import insert

from bobusang.catalog.model import SellerStatus
from bobusang.catalog.tables import sellers
from bobusang.flows.catalogue.upserting import Wanted, upsert
from bobusang.stages.convert import store
from bobusang.stages.convert.model import Held, Reason, Why
from bobusang.stages.convert.store import Result

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.web.screen import Page, Screen

SCRIPT = "<script>alert('owned')</script>"
BREAKS = "\"'><img src=x onerror=alert(1)><svg onload=alert(2)>"
TRICKS = "\u202eevil\u200b{{ 7*7 }}{% raw %}%(brand)s%s"
ADDRESS = "javascript:alert(document.domain)//"
MALL, KEY = "manual", "k\"'><img src=x onerror=alert(3)>"
FIELDS: dict[str, Any] = {
    "name": f"{SCRIPT} {BREAKS} {TRICKS}",
    "brand": f"{BREAKS} {TRICKS}",
    "brand_ko": BREAKS,
    "model": BREAKS,
    "category": f"{SCRIPT} > {BREAKS}",
    "gender": "<b>m</b>",
    "seller": BREAKS,
    "url": ADDRESS,
    "images": [ADDRESS, "data:text/html,<script>alert(4)</script>", "//evil/x.png"],
    "price": 1000,
    "currency": "<b>",
    "sold_out": False,
    "description": f"{SCRIPT}<iframe src=//evil></iframe><style>*{{display:none}}</style>{BREAKS}",
    "options": [{"code": BREAKS, "color": BREAKS, "size": SCRIPT, "available": True, "price": 5}],
    SCRIPT: BREAKS,
}
LINKS = ("href", "src", "action", "formaction", "xlink:href", "poster", "data", "srcset", "hx-get", "hx-post")
STRANGE = ("img", "iframe", "object", "embed", "base", "style", "math", "template", "meta[http-equiv]", "form form")


async def made(screen: Screen) -> int:
    """The product, told twice so that it has a history, and held for a reason in hostile words."""

    async def work(tx: Tx) -> int:
        (first,) = await upsert(tx, [Wanted({"name": BREAKS, "price": 1}, MALL, KEY)], "a test")
        (outcome,) = await upsert(tx, [Wanted(FIELDS, MALL, KEY)], BREAKS)
        assert (first.error, outcome.error) == (None, None)
        why = Held((Reason(Why.BRAND_UNKNOWN, f"the brand {BREAKS} is not known", SCRIPT),))
        await store.save(tx, "buyma", [Result(outcome.id, 2, why)])
        values = {
            "mall": MALL,
            "seller_id": BREAKS,
            "name": SCRIPT,
            "status": SellerStatus.ACTIVE.value,
            "cadence_minutes": 60,
        }
        await tx.execute(insert(sellers).values(**values, created_at=tx.now, updated_at=tx.now))
        return outcome.id

    return await screen.app.engine.db.transact(work)


async def test_nothing_on_a_page_is_made_of_what_a_mall_says(screen: Screen) -> None:
    id = await made(screen)
    paths = [
        "/",
        "/products",
        f"/products?brand={quote(FIELDS['brand'])}",
        f"/products?category={quote(BREAKS)}",
        "/products?held=1",
        f"/products?mall={MALL}&columns=mall,category,seller,model,sku,price,market,lacks",
        f"/products/{id}",
        f"/products/{id}/price",
        f"/products/{id}/history",
        f"/products/{id}/diff?from=1&to=2&all=1",
        f"/products/{id}/raw",
        f"/search?q={quote(SCRIPT)}",
        "/search?q=owned",
    ]
    for path in paths:
        page = await screen.operator.get(path)
        assert page.status in (200, 404 if path.startswith("/search") else 200), path
        checked(page)

    shown = await screen.operator.get(f"/products/{id}")
    assert SCRIPT in shown.text("h1")
    assert BREAKS in shown.text(".beside")
    assert shown.texts("a.outward") == []


async def test_what_is_typed_by_a_stranger_is_shown_as_it_was_typed(screen: Screen) -> None:
    id = await made(screen)

    page = await screen.operator.post(f"/products/{id}/edit", on=f"/products/{id}", field="price", value=BREAKS)

    assert page.status == 422
    checked(page)


async def test_a_file_for_a_spreadsheet_runs_nothing(screen: Screen) -> None:
    fields = {"name": "=HYPERLINK(1)", "brand": "@SUM(1)"}
    await screen.app.engine.db.transact(lambda tx: upsert(tx, [Wanted(fields, MALL, "formula")], "a test"))

    answer = await screen.viewer.client.get("/ui/products/export", params={"mall": MALL})

    assert "'=HYPERLINK(1)" in answer.text
    assert "'@SUM(1)" in answer.text


def checked(page: Page) -> None:
    """Only our own scripts, no handler, no style, no frame, and no way out but to pages of the web."""
    scripts = [(one.attributes.get("src") or "", one.text()) for one in page.tree.css("script")]
    assert all(src.startswith("/ui/static/") and not text for src, text in scripts), (page.url, scripts)
    for selector in STRANGE:
        assert page.tree.css(selector) == [], (page.url, selector)
    for element in page.tree.css("*"):
        for name, value in element.attributes.items():
            assert not name.startswith("on"), (page.url, name, value)
            assert name != "style", (page.url, value)
            if name in LINKS and value is not None and not value.startswith(("/ui/", "#")):
                assert value.startswith(("http://", "https://")), (page.url, name, value)
                assert "noreferrer" in (element.attributes.get("rel") or ""), (page.url, value)
