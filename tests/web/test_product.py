"""One product: why it is on sale or not, its three columns, its price by steps, its history, and what a person does."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.web import languages
from bobusang.entry.web.price_words import basis
from bobusang.entry.web.product import pieces
from bobusang.entry.web.product_words import WHY, worth
from bobusang.flows.catalogue.upserting import Wanted, upsert
from bobusang.stages.convert import store
from bobusang.stages.convert.model import Held, Reason, Why
from bobusang.stages.convert.store import Result
from bobusang.stages.convert.tables import State as Readiness
from bobusang.views import pictures, prices, product_lists, product_page, product_shelf
from bobusang.views.product_lists import ProductFilter, Sort
from bobusang.views.product_standing import Where, standing

if TYPE_CHECKING:
    from typing import Any

    from bobusang.kit.db import Tx
    from bobusang.views.product_page import ProductPage
    from bobusang.views.product_shelf import OnShelf
    from tests.web.screen import Screen


async def shelf(screen: Screen) -> list[OnShelf]:
    async with screen.app.engine.db.read() as tx:
        found = await product_lists.listed(tx, ProductFilter(), Sort.ID, None, 200)
        return await product_shelf.shelf(tx, found.lines, "buyma")


async def live(screen: Screen) -> ProductPage:
    """A product that is on sale."""
    row = next(row for row in await shelf(screen) if row.listing and row.listing.state == "LIVE")
    return await shown(screen, row.product.id)


async def held(screen: Screen) -> ProductPage:
    row = next(row for row in await shelf(screen) if row.readiness is Readiness.HELD)
    return await shown(screen, row.product.id)


async def shown(screen: Screen, id: int) -> ProductPage:
    async with screen.app.engine.db.read() as tx:
        return await product_page.page(tx, id, "buyma")


async def test_source_converted_and_listed_stand_side_by_side(screen: Screen) -> None:
    found = await live(screen)
    assert found.conversion is not None
    assert found.conversion.made is not None
    assert found.listing is not None
    assert found.listing.confirmed is not None
    assert found.price is not None
    product, made, there = found.product, found.conversion.made, found.listing.confirmed

    page = await screen.viewer.get(f"/products/{product.id}")

    assert page.text("h1") == product.name
    assert page.text("#why p").startswith(f"It is on sale on BUYMA as {found.listing.market_id}.")
    assert page.texts(".tabs a") == ["Now", "Price", "History", "Evidence", "Listings"]
    name = page.texts(".beside tbody tr:nth-child(1) td")
    assert name[0].startswith(product.name or "")
    assert name[1:] == [made.name, there["name"]]
    price = page.texts(".beside tbody tr:nth-child(6) td")
    assert price[0].startswith(worth(product.price, "KRW"))
    assert price[1:] == [worth(found.price.price, "JPY"), worth(there["price"], "JPY")]
    assert page.links("section .outward") == [product.url, product.url]
    matrix = found.matrix
    assert page.texts(".matrix tbody th") == [one.text or "one colour" for one in matrix.colors]
    assert len(page.texts(".matrix tbody td")) == len(matrix.colors) * len(matrix.sizes)
    assert len(page.tree.css(".looks svg")) == len(found.pictures) + len(there["images"])


async def test_a_held_product_says_why_in_one_sentence_and_leads_to_what_mends_it(screen: Screen) -> None:
    found = await held(screen)
    why = standing(found).why
    assert why is not None

    page = await screen.viewer.get(f"/products/{found.product.id}")

    said = WHY[why].text % {"brand": found.product.brand, "category": found.product.category}
    assert page.text("#why strong") == f"Not registered: {said}"
    assert page.links("#why a") == [f"/ui{WHY[why].href}"]


async def test_a_product_that_became_another_is_listed_anew_by_a_button(screen: Screen) -> None:
    found = await live(screen)
    path = f"/products/{found.product.id}"
    reason = Reason(Why.AXES_CHANGED, "its options were a choice of color", "options")

    async def hold(tx: Tx) -> None:
        await store.save(tx, "buyma", [Result(found.product.id, found.version, Held((reason,)))])

    await screen.app.engine.db.transact(hold)
    page = await screen.operator.get(path)
    unsaid = await screen.operator.post(f"{path}/renew", on=path, why=" ")
    done = await screen.operator.post(f"{path}/renew", on=path, why="by size now")
    again = await screen.operator.get(path)
    listing = await screen.operator.get(f"/listings/{found.product.sku}")

    assert page.texts("details.for-operator form button.bad") == ["List it anew"]
    assert unsaid.text(".said.refused") == "Say why."
    assert done.text(".said.done") == "It begins anew: what the market has is closed, and the next full run lists it."
    assert again.text("#why strong") == (
        "Not registered: Somebody has decided on its options; the next full run makes it."
    )
    assert again.texts("details.for-operator form button.bad") == []
    assert listing.texts("h2 .pill.warn") == ["retired"]
    assert [form for form in listing.links("form") if form.endswith("/open")] == []


async def test_every_way_to_stand_is_told_from_what_is_known(screen: Screen) -> None:
    found = await live(screen)
    never = replace(found, listings=[])
    gone = replace(never, product=replace(found.product, listed=False))
    out = replace(never, product=replace(found.product, in_stock=False))

    assert standing(found).where is Where.ON_SALE
    assert standing(never).where is Where.NEXT_RUN
    assert standing(gone).where is Where.GONE
    assert standing(out).where is Where.SOURCE_SOLD_OUT
    assert standing(replace(never, conversion=None)).where is Where.NOT_CONVERTED
    assert standing(replace(never, pictures=())).where is Where.NO_PICTURE
    assert standing(replace(never, price=None)).where is Where.NOT_PRICED


async def test_an_edit_is_locked_and_can_be_unlocked(screen: Screen) -> None:
    product = (await live(screen)).product
    path = f"/products/{product.id}"

    edited = await screen.operator.post(f"{path}/edit", on=path, field="name", value="A better name")
    assert edited.text(".said.done") == "Product name is set and locked against the crawler."
    assert edited.text("h1") == "A better name"
    assert edited.text(".beside tbody tr:nth-child(1) del") == product.name

    freed = await screen.operator.post(f"{path}/unlock", on=path, field="name")
    assert freed.text(".said.done") == "It follows the source again."
    assert freed.text("h1") == product.name


@pytest.mark.parametrize(("field", "text"), [("price", "cheap"), ("url", "javascript:alert(1)"), ("currency", "won")])
async def test_what_a_field_cannot_be_is_shown_again_as_it_was_typed(screen: Screen, field: str, text: str) -> None:
    product = (await live(screen)).product
    path = f"/products/{product.id}"

    page = await screen.operator.post(f"{path}/edit", on=path, field=field, value=text)

    assert page.status == 422
    (typed,) = [one.attributes["value"] for one in page.tree.css("details.edit[open] input[name=value]")]
    assert typed == text
    assert page.text(".edit [role=alert]")
    assert (await shown(screen, product.id)).product == product


async def test_a_product_is_deleted_and_brought_back(screen: Screen) -> None:
    product = (await held(screen)).product
    path = f"/products/{product.id}"

    gone = await screen.operator.post(f"{path}/delete", on=path)
    assert gone.status == 404
    assert gone.text("section h2") == "This product was deleted"

    back = await screen.operator.post(f"{path}/restore", on=path)
    assert back.text(".said.done") == "The product is back."
    assert back.text("h1") == product.name


async def test_one_on_a_market_is_not_deleted(screen: Screen) -> None:
    product = (await live(screen)).product
    path = f"/products/{product.id}"

    page = await screen.operator.post(f"{path}/delete", on=path)

    assert page.text(".said.refused").startswith(f"product {product.id} is on a market: listing ")


async def test_a_price_is_told_step_by_step(screen: Screen) -> None:
    found = await live(screen)
    assert found.price is not None

    page = await screen.viewer.get(f"/products/{found.product.id}/price")

    steps = found.price.steps
    assert page.texts(".steps tbody tr td:nth-child(4)") == [basis(step.basis, english) for step in steps]
    assert page.texts(".steps tbody tr td:nth-child(3)") == [step.local for step in steps]
    assert page.texts(".steps tbody th")[:2] == ["exchange rate JPY/KRW", "purchase"]
    assert page.texts(".figure strong")[:2] == [
        worth(found.product.price, "KRW"),
        worth(found.price.price, found.price.currency),
    ]


def english(text: str, **values: str) -> str:
    return text % values


async def test_no_step_of_any_price_is_left_untranslated(screen: Screen) -> None:
    korean = languages.load()["ko"]
    async with screen.app.engine.db.read() as tx:
        found = [await prices.explained(tx, row.product.sku) for row in await shelf(screen) if row.selling]

    def say(text: str, **values: str) -> str:
        return korean.gettext(text) % values

    said = {basis(step.basis, say) for one in found for step in one.steps}

    assert len(found) > 60
    assert [text for text in said if re.search("[a-z]{3}", re.sub(r"\(.*\)", "", text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "unclear, 0 of 1,040 offers comparable",
        "not_comparable: a search showed 40 offers, and none could be compared",
        "floor_too_far: the floor is more than 100.00% above the price",
    ],
)
def test_rare_steps_are_translated_too(text: str) -> None:
    korean = languages.load()["ko"]

    assert not re.search("[a-z]{3}", basis(text, lambda words, **values: korean.gettext(words) % values))


async def test_the_history_says_what_changed_since_one_last_looked(screen: Screen) -> None:
    product = (await live(screen)).product
    path = f"/products/{product.id}"
    first = await screen.viewer.get(f"{path}/history")
    await told(screen, product.mall, product.product_id, {"price": 1234, "name": f"{product.name} new"})
    version = product.version + 1

    again = await screen.viewer.get(f"{path}/history")
    calm = await screen.viewer.get(f"{path}/history")

    assert first.texts(".said.note") == calm.texts(".said.note") == []
    assert again.text(".said.note") == "1 new version since you last looked. Show what changed since then"
    assert again.links(".said.note a") == [f"/ui{path}/diff?from={product.version}&to={version}"]
    assert again.texts(".past h3")[0].startswith(f"Version {version} ")
    assert again.texts(".past li:first-child tbody th") == ["name", "price"]
    assert again.texts(".past li:first-child del") == [f"{product.price:,}"]
    assert again.texts(".past li:first-child ins") == ["new", "1,234"]


async def test_any_two_versions_are_compared(screen: Screen) -> None:
    product = (await live(screen)).product
    path = f"/products/{product.id}/diff"
    await told(screen, product.mall, product.product_id, {"price": 1234})
    new = product.version + 1

    page = await screen.viewer.get(path)
    whole = await screen.viewer.get(path, **{"from": product.version, "to": new, "all": 1})
    same = await screen.viewer.get(path, **{"from": new, "to": new})
    none = await screen.viewer.get(path, **{"from": 1, "to": 99})

    assert page.text("section h2.named") == product.name
    assert page.texts("tbody th") == ["price"]
    assert (page.texts("del"), page.texts("ins")) == ([f"{product.price:,}"], ["1,234"])
    assert "name" in whole.texts("tbody th")
    assert same.text(".empty") == "Nothing differs between these two."
    assert none.status == 404


async def told(screen: Screen, mall: str, key: str, fields: dict[str, Any]) -> None:
    """The source says something new."""
    wanted = [Wanted(fields, mall, key)]
    (outcome,) = await screen.app.engine.db.transact(lambda tx: upsert(tx, wanted, "a test"))
    assert outcome.error is None


async def test_the_pages_behind_a_product_are_named_and_saved_as_text(screen: Screen) -> None:
    product = (await live(screen)).product

    page = await screen.viewer.get(f"/products/{product.id}/raw")
    link = page.links("tbody a[download]")[0]
    answer = await screen.viewer.client.get(link)

    assert page.texts("tbody tr td:first-child")[0] == str(product.version)
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize("path", ["/products/0", "/products/999999", "/products/x", "/products/99999999999999999999"])
async def test_what_is_not_there_is_said(screen: Screen, path: str) -> None:
    for tab in ("", "/price", "/history", "/raw", "/diff"):
        assert (await screen.viewer.get(path + tab)).status == 404


def test_words_that_stay_are_not_marked() -> None:
    assert pieces("a red coat", "a blue coat") == [
        ("same", "a "),
        ("del", "red"),
        ("ins", "blue"),
        ("same", " coat"),
    ]
    assert pieces(None, 1200) == [("ins", "1,200")]
    assert pieces(True, None) == [("del", "true")]
    assert pieces(["a"], ["a"]) == [("same", '["a"]')]


async def test_a_person_makes_a_picture_the_cover_and_blocks_one(screen: Screen) -> None:
    rows = [await shown(screen, row.product.id) for row in await shelf(screen)]
    found = next(one for one in rows if sum(image.is_ready for image in one.pictures) > 1)
    id, (first, second, *_) = found.product.id, [image.sha256 for image in found.pictures]
    path = f"/products/{id}"

    done = await screen.operator.post(f"{path}/pictures/cover", on=path, sha256=second)
    assert done.text(".said.done") == "It is the cover; the next run tells the market."
    assert [image.sha256 for image in (await shown(screen, id)).pictures][:2] == [second, first]

    blocked = await screen.operator.post(f"{path}/pictures/block", on=path, sha256=second)
    assert blocked.text(".said.done").startswith("What looks like it is refused from now on; the next FULL takes it")
    async with screen.app.engine.db.read() as tx:
        assert [one.sha256 for one in await pictures.blocks(tx)] == [second]
    wrong = [
        await screen.operator.post(f"{path}/pictures/{verb}", on=path, sha256=sha256)
        for verb, sha256 in (("cover", "00" * 32), ("block", "00" * 32), ("block", "x"))
    ]
    assert [bool(one.text(".said.refused")) for one in wrong] == [True] * 3
