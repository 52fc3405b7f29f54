"""Products: the list with what each costs, sells for and lacks, those that cannot be listed yet and why, an export, and
what is done to many at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from bobusang.entry.api import product_bulk
from bobusang.entry.api import products as api
from bobusang.entry.api.pages import pack, unpacked
from bobusang.entry.api.product_bulk import ExportQuery
from bobusang.entry.api.products import ProductChoice
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import lists, pictures, product_words, words
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Column, Filter, Listing
from bobusang.entry.web.pages import Entry, Pages
from bobusang.entry.web.visit import UI
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.stages.convert.model import Why
from bobusang.stages.register.model import State
from bobusang.views import conversions, product_lists, product_shelf
from bobusang.views.product_lists import Lack, Quality, Sort

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit
    from bobusang.views.conversions import HeldProduct
    from bobusang.views.product_shelf import OnShelf
    from bobusang.views.products import ProductLine

ENTRY = "/products"
pages = Pages(Entry(ENTRY, N_("Products"), "product", 50, "held_products"))

MARKET = MARKETS[0]
AT_ONCE = 500
"""How many products one action changes at most."""
SHOWN = 10
"""Examples before it is done."""
REASONS = 1000
"""Held products whose reasons are counted; beyond it nobody reads the number."""
SINCE = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
SORTED = {"changed": (Sort.CHANGED, Sort.CHANGED), "price": (Sort.PRICE, Sort.DEAREST)}
"""By column: the order of the first click, and of the second."""
COLUMNS = (
    Column("mall", N_("Mall")),
    Column("price", N_("Source price")),
    Column("selling", N_("Selling price")),
    Column("margin", N_("Margin")),
    Column("stock", N_("Stock")),
    Column("market", N_("Market state")),
    Column("seen", N_("Last seen")),
    Column("changed", N_("Changed")),
    Column("lacks", N_("Quality")),
    Column("category", N_("Category"), shown=False),
    Column("seller", N_("Seller"), shown=False),
    Column("model", N_("Model"), shown=False),
    Column("sku", N_("SKU"), shown=False),
)


def filters(visit: Visit) -> list[Filter]:
    """What the list can be narrowed by."""
    say = visit.say
    malls = [(name, name) for name in sorted(visit.site.app.collector.sources)]
    states = [("none", say(N_("never listed"))), ("active", say(N_("on sale")))]
    states += [(state.lower(), say(words.of(state).label)) for state in State if state not in (State.NEW, State.LIVE)]
    return [
        Filter("brand", N_("Brand")),
        Filter("mall", N_("Mall"), malls),
        Filter("seller", N_("Seller")),
        Filter("category", N_("Category")),
        Filter("min_price", N_("Price from"), type="number"),
        Filter("max_price", N_("Price to"), type="number"),
        Filter("in_stock", N_("Stock"), [("true", say(N_("in stock"))), ("false", say(N_("sold out")))]),
        Filter("market_state", N_("Market state"), states),
        Filter("changed", N_("Changed"), _since(visit)),
        Filter("quality", N_("Quality"), _qualities(visit)),
        Filter("sort", N_("Order"), _orders(visit)),
    ]


def _since(visit: Visit) -> list[tuple[str, str]]:
    words = (N_("in the last hour"), N_("in the last day"), N_("in the last week"), N_("in the last 30 days"))
    return list(zip(SINCE, map(visit.say, words), strict=True))


def _qualities(visit: Visit) -> list[tuple[str, str]]:
    words = [(Quality.COMPLETE.value, N_("nothing lacks")), (Quality.INCOMPLETE.value, N_("something lacks"))]
    words += [(lack.value, product_words.LACKING[lack]) for lack in Lack]
    return [(value, visit.say(word)) for value, word in words]


def _orders(visit: Visit) -> list[tuple[str, str]]:
    words = [
        (Sort.NEWEST, N_("newest first")),
        (Sort.CHANGED, N_("last changed first")),
        (Sort.PRICE, N_("cheapest first")),
        (Sort.DEAREST, N_("dearest first")),
    ]
    return [(value.value, visit.say(word)) for value, word in words]


def choice(given: dict[str, str], kind: type[ProductChoice] = ProductChoice) -> ProductChoice:
    """What a filter bar asks for, as the API takes it."""
    asked: dict[str, Any] = {name: value for name, value in given.items() if name in ProductChoice.model_fields}
    if (since := SINCE.get(given.get("changed", ""))) is not None:
        asked["changed_since"] = (datetime.now(UTC) - since).isoformat()
    if asked.get("quality") in set(Lack):
        asked["lacks"] = asked.pop("quality")
    return kind.model_validate(asked)


@pages.get("/products")
async def products(visit: Visit) -> Response:
    """The list, or what of it is held."""
    visit.entry = ENTRY
    if visit.query.get("held"):
        return await _held(visit)
    found = await lists.asked(visit, ENTRY, filters(visit), COLUMNS)
    if not isinstance(found, Listing):
        return found
    given = dict(found.kept)
    sort = _sort(given)
    kind = f"products/{sort}"
    after = unpacked(kind, found.cursor or None, int, int)
    async with visit.desk.read() as tx:
        part = await product_lists.listed(
            tx, choice(given).wanted(), sort, None if after is None else (after[0], after[1]), PAGE
        )
        rows = await product_shelf.shelf(tx, part.lines, MARKET)
    found.fill_page(rows, None if part.resume is None else pack(kind, *part.resume))
    return visit.page(
        "products.html",
        list=found,
        on={column.name: column.shown for column in found.columns},
        sheet=pictures.sheet_of(row.picture for row in rows),
        ordered=lambda column: _ordered(found, sort, column),
        export=f"{UI}/products/export?{urlencode(found.kept)}",
        words=product_words,
    )


def _sort(given: dict[str, str]) -> Sort:
    try:
        return Sort(given.get("sort", Sort.NEWEST))
    except ValueError:
        raise Invalid(f"there is no order '{given['sort'][:50]}'", field="sort") from None


def _ordered(found: Listing[OnShelf], sort: Sort, column: str) -> tuple[str, str]:
    """Where a heading leads to, and how the list is sorted by it now."""
    first, second = SORTED[column]
    wished = second if sort is first else first
    query = [pair for pair in found.kept if pair[0] != "sort"] + [("sort", wished.value)]
    if found.chosen:
        query.append(("columns", found.chosen))
    is_falling = sort in (Sort.DEAREST, Sort.CHANGED)
    now = ("descending" if is_falling else "ascending") if sort in (first, second) else "none"
    return f"{UI}{ENTRY}?{urlencode(query)}", now


async def _held(visit: Visit) -> Response:
    """Products that cannot be listed yet, each with its reasons; nothing of this is remembered, for it is a place to go
    to and not a way to look at all products."""
    why = _why(visit.query.get("why"))
    chosen = [Filter("held", "", value="1"), Filter("why", "", value=why or "")]
    found: Listing[HeldProduct] = Listing(ENTRY, chosen, [], visit.query.get("cursor"), kind="products/held")
    async with visit.desk.read() as tx:
        counts = await conversions.reasons(tx, MARKET, REASONS)
        rows = await conversions.held(tx, MARKET, why, after=found.before(), limit=PAGE + 1)
        looks = await product_shelf.pictures(tx, [row.product_id for row in rows[:PAGE]], MARKET)
    found.fill(rows, lambda row: row.product_id)
    sheet = pictures.sheet_of(looks.values())
    return visit.page(
        "products_held.html", list=found, why=why, counts=counts, looks=looks, sheet=sheet, words=product_words
    )


def _why(value: str) -> Why | None:
    try:
        return Why(value) if value else None
    except ValueError:
        raise Invalid(f"nothing is held for '{value[:50]}'", field="why") from None


@pages.get("/products/export")
async def export(visit: Visit) -> Response:
    """All that the filters let through, as a file for a spreadsheet."""
    query = visit.query
    given = query.some(*(one.name for one in filters(visit)))
    wanted = choice(given, ExportQuery)
    assert isinstance(wanted, ExportQuery)
    return await product_bulk.export_products(visit.desk, wanted)


@pages.post("/products/delete")
async def delete(visit: Visit) -> Response:
    """Delete those that no market has."""
    return await _bulk(
        visit,
        question=N_("Delete these products?"),
        may=lambda row: row.listing is None or not row.listing.is_there,
        act=lambda id: api.delete_product(visit.desk, id),
        done=N_("%(count)s products were deleted."),
    )


@pages.post("/products/unlock")
async def unlock(visit: Visit) -> Response:
    """Let all that people have edited follow the source again."""
    return await _bulk(
        visit,
        question=N_("Unlock these products, so that all their fields follow the source again?"),
        may=lambda row: bool(row.product.locked),
        act=lambda id: api.unlock_product(visit.desk, id),
        done=N_("%(count)s products were unlocked."),
    )


async def _bulk(
    visit: Visit,
    *,
    question: str,
    may: Callable[[OnShelf], bool],
    act: Callable[[int], Awaitable[object]],
    done: str,
) -> Response:
    """First how many it would be, then what came of each."""
    visit.entry = ENTRY
    form = await visit.form()
    if form.get("sure"):
        return await _acted(visit, form.numbers("ids")[:AT_ONCE], act, done)
    lines = await _chosen(visit, form)
    if not lines:
        raise Invalid(visit.say(N_("Nothing is ticked.")), hint=visit.say(N_("tick products first")))
    async with visit.desk.read() as tx:
        rows = await product_shelf.shelf(tx, lines, MARKET)
    able = [row.product for row in rows if may(row)]
    return visit.page(
        "confirm.html",
        title=visit.say(N_("Products")),
        question=visit.say(question),
        count=len(able),
        total=len(lines),
        examples=[f"{one.brand or '–'} · {one.name or one.sku}" for one in able[:SHOWN]],
        action=visit.request.url.path.removeprefix(UI),
        fields=[("ids", str(one.id)) for one in able],
        back=ENTRY,
    )


async def _chosen(visit: Visit, form: Fields) -> Sequence[ProductLine]:
    """The ticked ones, or the first of all that match, as many as one action may change."""
    if not form.ticked("all"):
        ids = form.numbers("ids")[:AT_ONCE]
        async with visit.desk.read() as tx:
            return await product_lists.some(tx, ids)
    wanted = choice(form.some(*(one.name for one in filters(visit)))).wanted()
    found: list[ProductLine] = []
    async for part in product_lists.exported(visit.desk.read, wanted):
        found += part
        if len(found) >= AT_ONCE:
            break
    return found[:AT_ONCE]


async def _acted(visit: Visit, ids: Sequence[int], act: Callable[[int], Awaitable[object]], done: str) -> Response:
    """Each by itself: one that is refused spoils no other."""
    count, refused = 0, []
    for id in ids:
        try:
            await act(id)
            count += 1
        except BobusangError as error:
            refused.append(error.message)
    if not refused:
        return visit.done(done, ENTRY, count=count)
    said = visit.say(done, count=count)
    more = visit.say(N_("%(count)s were refused: %(why)s"), count=len(refused), why=refused[0])
    return visit.refused(f"{said} {more}", to=ENTRY)
