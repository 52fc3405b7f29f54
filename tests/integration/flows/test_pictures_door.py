"""Pictures at the door: of a mall that shows a dot to whoever comes from elsewhere, and of a place without a shop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.flows.conveyor.door import Door
from bobusang.kit.errors import Throttled, Unavailable
from bobusang.kit.http import Answer, Call
from bobusang.stages.collect.policy import Pictures
from bobusang.stages.image.model import Request

if TYPE_CHECKING:
    from bobusang.testing.yard import Yard

HOME = "https://www.musinsa.com/"


async def fetched(yard: Yard, pictures: Pictures | None = None, referer: str = "") -> Answer | Exception:
    """A picture of the mall, as its shop says, or as `pictures` says instead."""
    collector = yard.app.collector
    source = collector.sources["musinsa"]
    if pictures is not None:
        source.policy = replace(source.policy, headers={"Referer": "https://elsewhere.example/"}, pictures=pictures)
    sent = {"Accept": "image/jpeg", **({"Referer": referer} if referer else {})}
    (found,) = await Door(collector)([Request("musinsa", Call(f"{source.hosts['image']}/goods/1.jpg", headers=sent))])
    return found


async def test_a_picture_is_asked_for_as_if_from_a_page_of_the_mall(yard: Yard) -> None:
    """By what the shop names, by the product's own page, and never by both at once."""
    shipped = await fetched(yard)
    by_shop = await fetched(yard, Pictures({"Referer": HOME}))
    by_page = await fetched(yard, Pictures(), referer=f"{HOME}products/1")
    bare = await fetched(yard, Pictures())
    guarded = await fetched(yard, Pictures(least=1024))

    media = [
        one.headers["content-type"] if isinstance(one, Answer) else one for one in (shipped, by_shop, by_page, bare)
    ]
    assert media == ["image/jpeg", "image/jpeg", "image/jpeg", "image/gif"]
    assert isinstance(guarded, Unavailable)
    assert "43 bytes are a placeholder, not a picture" in guarded.message


async def test_whoever_waits_for_a_place_that_no_shop_describes_waits_at_its_pace(yard: Yard) -> None:
    """A supplier's pictures: nobody plans pages there, which is when pools get their limits otherwise."""
    collector = yard.app.collector

    (found,) = await Door(collector)([Request("gomusin", Call("https://gomusin.example/1.jpg"))])

    assert isinstance(found, Throttled)
    pools = "select pool, rate, max_in_flight from budgets where pool like 'source:gomusin%'"
    limits = collector.plain.limits
    paced = {"pool": "source:gomusin", "rate": limits.rate, "max_in_flight": limits.concurrency}
    assert await yard.rows(pools) == [paced]
