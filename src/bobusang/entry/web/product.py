"""One product in tabs: as it is now from source to market, its price step by step, its history, and the pages behind
it; edited, unlocked, deleted, restored and listed anew."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bobusang.catalog.history import LAST
from bobusang.entry.api import products as api
from bobusang.entry.api import raw, records, renewals
from bobusang.entry.api.product_forms import ProductEdit, UnlockForm
from bobusang.entry.api.renewals import WhyForm
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import pictures, price_words, product_words, products
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.product_words import FIELDS
from bobusang.kit import json
from bobusang.kit.errors import Invalid, Missing
from bobusang.views import audit, prices, product_page, product_past
from bobusang.views import products as view
from bobusang.views.audit import AuditFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit
    from bobusang.views.prices import PriceLine
    from bobusang.views.product_page import ProductPage
    from bobusang.views.product_past import Point
    from bobusang.views.products import ProductDetail

pages = Pages()

MARKET = MARKETS[0]
TABS = (("", N_("Now")), ("/price", N_("Price")), ("/history", N_("History")), ("/raw", N_("Evidence")))
VERSIONS = 20
"""Versions on one page of a history."""
DECISIONS = 30
ACTS = 50
PAGES = 20
LONGEST = 2_000
"""Characters of which single words are compared; what is longer is shown as a whole."""
FLAGS = {"yes": True, "no": False}
WORDS = re.compile(r"\s+|\d[\d,.]*|\w+|[^\w\s]")
OURS = re.compile(r"/([0-9a-f]{64})(?:\.\w+)?$", re.ASCII)
"""The end of a picture's address, at our own door or in a bucket."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of source, converted and listed; `is_moved`: what is on the market is not what would be sent."""

    field: str
    label: str
    source: Any
    made: Any = None
    listed: Any = None
    is_long: bool = False

    @property
    def is_moved(self) -> bool:
        return self.made not in (None, "") and self.listed not in (None, "") and self.made != self.listed


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed into a field that it cannot be."""

    field: str = ""
    text: str = ""
    error: str = ""


NOTHING = Typed()


def _version(visit: Visit, name: str) -> int | None:
    """A version that the address names; none is larger than what every database counts to."""
    return next((min(one, LAST) for one in visit.query.numbers(name)), None)


@pages.get("/products/{product_id:int}")
async def now(visit: Visit) -> Response:
    """Source, converted and listed side by side."""
    return await _now(visit)


async def _now(visit: Visit, typed: Typed = NOTHING, status: int = 200) -> Response:
    visit.entry = products.ENTRY
    try:
        async with visit.desk.read() as tx:
            page = await product_page.page(tx, visit.number("product_id"), MARKET)
    except Missing as error:
        return _missing(visit, error)
    listing = page.listing
    confirmed = (listing.confirmed if listing else None) or {}
    after = [found[1] for url in confirmed.get("images", ()) if (found := OURS.search(str(url)))]
    before, told = [one.sha256 for one in page.pictures if one.sha256], page.said.get("images")
    return visit.page(
        "product.html",
        status=status,
        **_head(page.product, ""),
        page=page,
        answer=product_words.answer(page, MARKET, visit.say),
        rows=rows_of(page, confirmed),
        confirmed=confirmed,
        after=after,
        told=len(told) if isinstance(told, list) else 0,
        sheet=pictures.sheet_of([*before, *after], "large"),
        typed=typed,
        fields=FIELDS,
        market=MARKET.upper(),
    )


def _missing(visit: Visit, error: Missing) -> Response:
    """One that was deleted can be brought back."""
    if "was deleted" not in error.message:
        raise error
    return visit.page("product_deleted.html", status=404, id=visit.number("product_id"))


def rows_of(page: ProductPage, confirmed: dict[str, Any]) -> list[Row]:
    """What is compared, line by line."""
    product, price = page.product, page.price
    made = page.conversion.made if page.conversion else None
    worth = product_words.worth
    brand = (made.brand_name or f"#{made.brand_id}") if made else None
    there = confirmed.get("brand_name") or (f"#{confirmed['brand_id']}" if "brand_id" in confirmed else None)
    sold = worth(price.price, price.currency) if price and price.price is not None else None
    asked = worth(confirmed["price"], price.currency if price else "JPY") if "price" in confirmed else None
    description = page.said.get("description")
    return [
        Row("name", FIELDS["name"], product.name, made and made.name, confirmed.get("name")),
        Row("brand", FIELDS["brand"], product.brand, brand, there),
        Row("brand_ko", FIELDS["brand_ko"], product.brand_ko),
        Row("model", FIELDS["model"], product.model, made and made.style_number, _first(confirmed, "style_numbers")),
        Row("category", FIELDS["category"], product.category, made and f"#{made.category_id}", _number(confirmed)),
        Row("price", FIELDS["price"], worth(product.price, product.currency), sold, asked),
        Row("list_price", FIELDS["list_price"], worth(product.list_price, product.currency)),
        Row("currency", FIELDS["currency"], product.currency),
        Row("in_stock", FIELDS["in_stock"], product.in_stock, *_stocks(page, confirmed)),
        Row("listed", FIELDS["listed"], product.listed),
        Row("gender", FIELDS["gender"], product.gender),
        Row("seller_id", FIELDS["seller_id"], product.seller_id),
        Row("url", FIELDS["url"], product.url),
        Row(
            "",
            N_("Description"),
            _shown(description),
            made and made.comments,
            confirmed.get("comments"),
            is_long=True,
        ),
    ]


def _number(confirmed: dict[str, Any]) -> str | None:
    return f"#{confirmed['category_id']}" if "category_id" in confirmed else None


def _first(confirmed: dict[str, Any], name: str) -> str | None:
    found = confirmed.get(name)
    return str(found[0]) if found else None


def _stocks(page: ProductPage, confirmed: dict[str, Any]) -> tuple[str | None, str | None]:
    """How many of how many options can be bought, as we know it and as the market has it."""
    made = page.conversion.made if page.conversion else None
    there = [one for one in confirmed.get("variants", ()) if isinstance(one, dict)]
    ours, whole = page.matrix.available, len(page.matrix.cells)
    theirs = sum(one.get("stock") not in ("out", "unknown") for one in there)
    return (f"{ours} / {whole}" if made else None), (f"{theirs} / {len(there)}" if there else None)


@pages.get("/products/{product_id:int}/price")
async def price(visit: Visit) -> Response:
    """Each step of the last decision, and the decisions before it."""
    visit.entry = products.ENTRY
    async with visit.desk.read() as tx:
        page = await product_page.page(tx, visit.number("product_id"), MARKET)
        past = await prices.history(tx, page.product.sku, market=MARKET, limit=DECISIONS) if page.price else []
    return visit.page(
        "product_price.html",
        **_head(page.product, "/price"),
        page=page,
        answer=product_words.answer(page, MARKET, visit.say),
        past=past,
        basis=lambda text: price_words.basis(text, visit.say),
        market=MARKET.upper(),
    )


@pages.get("/products/{product_id:int}/history")
async def history(visit: Visit) -> Response:
    """Every version with what changed in it and who said so, from the newest."""
    visit.entry = products.ENTRY
    before = _version(visit, "before")
    name = f"seen:product:{visit.number('product_id')}"
    async with visit.desk.read() as tx:
        product = await view.one(tx, visit.number("product_id"))
        found = await product_past.versions(tx, product, before, VERSIONS + 1)
        points = await product_past.series(tx, product)
        quotes = await prices.history(tx, product.sku, market=MARKET, limit=DECISIONS)
        acts = await audit.acts(tx, AuditFilter(subject_type="product", subject_id=str(product.id)), None, ACTS)
        seen = await visit.remembered(tx, name)
    newest = found[0].version if found and before is None else None
    if newest is not None and newest != seen:
        await visit.remember(name, newest)
    return visit.page(
        "product_history.html",
        **_head(product, "/history"),
        versions=found[:VERSIONS],
        older=found[VERSIONS - 1].version if len(found) > VERSIONS else None,
        before=before,
        acts=acts.lines,
        seen=seen if isinstance(seen, int) and newest is not None and seen < newest else None,
        charts=charts(product, points, quotes, visit),
        pieces=pieces,
    )


def charts(
    product: ProductDetail, points: Sequence[Point], quotes: Sequence[PriceLine], visit: Visit
) -> list[tuple[str, str, dict[str, Any]]]:
    """What it cost, what it sold for and how much of it there was, until now: an id, a title and the data of each."""
    say, found = visit.say, []
    now = datetime.now(UTC)
    if points:
        points = [*points, replace(points[-1], at=now)]
        x = [_seconds(one.at) for one in points]
        cost = [
            {"label": say(N_("Source price")), "values": [one.price for one in points]},
            {"label": say(N_("List price")), "values": [one.list_price for one in points]},
        ]
        title = say(N_("Source price in %(currency)s"), currency=product.currency or "–")
        found.append(("cost-chart", title, {"x": x, "series": cost}))
        stock = [{"label": say(N_("Options in stock")), "values": [one.available for one in points]}]
        found.append(("stock-chart", say(N_("Options in stock")), {"x": x, "series": stock}))
    if quotes:
        old_first = [*reversed(quotes), replace(quotes[0], decided_at=now)]
        lines = [
            {"label": say(N_("Selling price")), "values": [one.price for one in old_first]},
            {"label": say(N_("floor")), "values": [one.floor for one in old_first]},
        ]
        title = say(N_("Selling price in %(currency)s"), currency=quotes[0].currency or "–")
        found.insert(1, ("price-chart", title, {"x": [_seconds(one.decided_at) for one in old_first], "series": lines}))
    return found


def _seconds(at: datetime) -> int:
    return int(at.timestamp())


@pages.get("/products/{product_id:int}/diff")
async def diff(visit: Visit) -> Response:
    """Two versions side by side: what differs, or all."""
    visit.entry = products.ENTRY
    async with visit.desk.read() as tx:
        product = await view.one(tx, visit.number("product_id"))
        new = _version(visit, "to") or product.version
        old = _version(visit, "from") or max(1, new - 1)
        groups = records.groups_of(visit.desk, product.mall)
        found = await product_past.compared(tx, product.id, old, new, groups)
    return visit.page(
        "product_diff.html",
        **_head(product, "/history"),
        old=old,
        new=new,
        whole=bool(visit.query.get("all")),
        rows=found,
        pieces=pieces,
    )


def pieces(old: Any, new: Any) -> list[tuple[str, str]]:
    """What was taken out, put in and left between two values, word by word: pairs of del, ins or same and a text."""
    before, after = _shown(old), _shown(new)
    if before == after:
        return [("same", after)]
    if not before or not after or len(before) + len(after) > LONGEST:
        return [(kind, text) for kind, text in (("del", before), ("ins", after)) if text]
    one, two = (WORDS.findall(text) for text in (before, after))
    found: list[tuple[str, str]] = []
    for tag, first, last, start, end in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(("same", "".join(two[start:end])))
            continue
        gone, come = "".join(one[first:last]), "".join(two[start:end])
        found += [(kind, text) for kind, text in (("del", gone), ("ins", come)) if text]
    return found


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else json.dumps(value)


@pages.get("/products/{product_id:int}/raw")
async def evidence(visit: Visit) -> Response:
    """Which archived page and which reader made each version."""
    visit.entry = products.ENTRY
    async with visit.desk.read() as tx:
        product = await view.one(tx, visit.number("product_id"))
        found = await product_past.evidence(tx, product, PAGES)
        said = await product_page.said(tx, product.id)
    return visit.page("product_raw.html", **_head(product, "/raw"), evidence=found, said=said)


@pages.get("/raw/{raw_id:int}")
async def download(visit: Visit) -> Response:
    """An archived page as a text to be saved: what a mall sent is never shown as a page."""
    return await raw.download_raw(visit.desk, visit.number("raw_id"))


@pages.post("/products/{product_id:int}/edit")
async def edit(visit: Visit) -> Response:
    """Set a field and lock it against the crawler; what cannot be is shown again as it was typed."""
    form = await visit.form()
    name, text = form.get("field"), form.get("value")
    if name not in FIELDS:
        raise Invalid(f"a product has no field '{name[:50]}' to edit", field="field")
    value: Any = FLAGS.get(text) if name in ("in_stock", "listed") else text or None
    try:
        await api.edit_product(visit.desk, visit.number("product_id"), ProductEdit.model_validate({name: value}))
    except ValidationError as error:
        said = error.errors(include_url=False, include_input=False)[0]["msg"]
        return await _now(visit, Typed(name, text, said), 422)
    except Invalid as error:
        return await _now(visit, Typed(name, text, error.message), 422)
    path = f"/products/{visit.number('product_id')}"
    return visit.done(N_("%(field)s is set and locked against the crawler."), path, field=visit.say(FIELDS[name]))


@pages.post("/products/{product_id:int}/unlock")
async def unlock(visit: Visit) -> Response:
    """Let a field, or all, follow the source again."""
    name = (await visit.form()).get("field")
    form = UnlockForm(fields=[name]) if name else None
    await api.unlock_product(visit.desk, visit.number("product_id"), form)
    return visit.done(N_("It follows the source again."), f"/products/{visit.number('product_id')}")


@pages.post("/products/{product_id:int}/delete")
async def delete(visit: Visit) -> Response:
    """Delete it, unless a market has it."""
    await api.delete_product(visit.desk, visit.number("product_id"))
    return visit.done(
        N_("The product was deleted; no crawl brings it back."), f"/products/{visit.number('product_id')}"
    )


@pages.post("/products/{product_id:int}/restore")
async def restore(visit: Visit) -> Response:
    """Bring it back as its source describes it."""
    await api.restore_product(visit.desk, visit.number("product_id"))
    return visit.done(N_("The product is back."), f"/products/{visit.number('product_id')}")


@pages.post("/products/{product_id:int}/renew")
async def renew(visit: Visit) -> Response:
    """Have it listed anew."""
    why = (await visit.form()).get("why").strip()
    path = f"/products/{visit.number('product_id')}"
    if not why:
        return visit.refused(visit.say(N_("Say why.")), to=path)
    await renewals.renew_product(visit.desk, visit.number("product_id"), WhyForm(why=why[:500]))
    return visit.done(N_("It begins anew: what the market has is closed, and the next full run lists it."), path)


@pages.post("/products/{product_id:int}/relabel")
async def relabel(visit: Visit) -> Response:
    """Its options are what they are called now."""
    why = (await visit.form()).get("why").strip()
    path = f"/products/{visit.number('product_id')}"
    if not why:
        return visit.refused(visit.say(N_("Say why.")), to=path)
    await renewals.relabel_product(visit.desk, visit.number("product_id"), WhyForm(why=why[:500]))
    return visit.done(N_("Its options are what its mall calls them now."), path)


def _head(product: ProductDetail, tab: str) -> dict[str, Any]:
    """What every tab shows above."""
    return {"product": product, "tab": tab, "tabs": TABS, "words": product_words}
