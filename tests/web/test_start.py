"""The first steps, without a browser: a shop that somebody has begun never becomes the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web.screen import Screen


async def test_a_shop_that_has_begun_does_not_become_the_demo(screen: Screen) -> None:
    page = await screen.admin.get("/start")
    refused = await screen.admin.post("/start/demo", on="/start", size="40")

    assert page.texts("h2") == ["Load demo data", "Start with your own malls"]
    assert page.texts(".steps .pill") == ["done", "done", "done", "done", "done"]
    assert refused.text(".said.refused") == (
        "this shop cannot become the demo (`bobusang demo` runs it in a folder of its own)"
    )


FORM = {
    "name": "main",
    "buying_area": "2002003000",
    "shipping_area": "2002003000",
    "shipping_methods": "888, 889",
    "shipping_charge": "0",
    "token_ref": "env:BUYMA_TOKEN",
    "secret_ref": "file:/run/secrets/buyma",
}


async def test_an_account_is_added_and_its_secrets_are_only_named(screen: Screen) -> None:
    typed = await screen.admin.post("/start/account", on="/start/account", **FORM | {"token_ref": "a-real-token"})
    wrong = await screen.admin.post("/start/account", on="/start/account", **FORM | {"shipping_methods": "by ship"})
    free = await screen.admin.post("/start/account", on="/start/account", **FORM | {"shipping_charge": "free"})
    done = await screen.admin.post("/start/account", on="/start/account", **FORM)

    assert (typed.status, "a-real-token" in typed.html) == (422, False)
    assert "should name where the secret is" in typed.text(".said")
    assert (wrong.status, wrong.text(".said")) == (422, "shipping methods are the market's numbers, by commas")
    assert (free.status, free.text(".said")) == (422, "what buyers pay for shipping is a whole number")
    assert done.text(".said") == "The account main was added."


async def test_the_lists_of_the_market_are_fetched_from_where_the_settings_say(screen: Screen) -> None:
    refused = await screen.operator.post("/start/lists", on="/start")

    assert "nobody has said where the lists of buyma are" in refused.text(".said.refused")
