"""Collecting a target for real: what is stored is what the mall shows, once, and what it stops showing is doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bobusang.testing.yard import Yard

BRAND = "나이키(NIKE)"


def told(truth: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What the mall shows of its listed products."""
    return {
        item["key"]: (item["price"], item["list_price"], item["sold_out"], _stocks(item["options"]))
        for item in truth["items"]
        if item["listed"]
    }


def stored(records: dict[str, dict[str, Any]], keys: Any) -> dict[str, tuple[Any, ...]]:
    """The same of what was stored."""
    return {
        key: (fields["price"], fields["list_price"], fields["sold_out"], _stocks(fields.get("options", [])))
        for key, fields in records.items()
        if key in keys
    }


def _stocks(options: list[dict[str, Any]]) -> dict[str, bool]:
    """Options with their availability; a product without a choice has none on OKmall."""
    return {option["code"]: option["available"] for option in options} if len(options) > 1 else {}


async def test_a_brand_is_stored_as_the_mall_shows_it(any_yard: Yard) -> None:
    run = await any_yard.collect("okmall", "brand", BRAND)

    shown = told(await any_yard.door.truth("okmall", brand=BRAND))
    assert stored(await any_yard.records("okmall"), shown) == shown
    assert {name: run[name] for name in ("state", "listed", "new", "held", "total")} == {
        "state": "PROVED",
        "listed": len(shown),
        "new": len(shown),
        "held": 0,
        "total": len(shown),
    }


async def test_a_second_run_asks_for_lists_only_and_changes_nothing(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    versions = await yard.rows("select source_id, version from source_records order by source_id")
    before = (await yard.door.counts())["asked"]

    run = await yard.collect("okmall", "brand", BRAND)

    assert await yard.rows("select source_id, version from source_records order by source_id") == versions
    assert (run["new"], run["changed"], run["state"]) == (0, 0, "PROVED")
    assert (await yard.door.counts())["asked"] - before == run["pages_read"]


async def test_what_ages_in_the_mall_ages_here(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    known = set(await yard.records("okmall"))
    await yard.door.advance(72)

    run = await yard.collect("okmall", "brand", BRAND)

    shown = told(await yard.door.truth("okmall", brand=BRAND))
    prices = {key: fields[0] for key, fields in stored(await yard.records("okmall"), shown).items()}
    assert prices == {key: fields[0] for key, fields in shown.items()}
    assert run["changed"] > 0
    assert run["new"] == len(set(shown) - known)
    assert await yard.rows("select count(*) as n from field_changes where field = 'price'") != [{"n": 0}]


async def test_a_partial_run_takes_no_new_product(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    known = set(await yard.records("okmall"))
    await yard.door.advance(24 * 14)

    run = await yard.collect("okmall", "brand", BRAND, partial=True)

    assert set(await yard.records("okmall")) == known
    assert (run["mode"], run["new"]) == ("PARTIAL", 0)


async def test_a_seller_is_collected_with_identities_and_options(yard: Yard) -> None:
    run = await yard.collect("mustit", "seller", "dmont")

    truth = await yard.door.truth("mustit", seller="dmont")
    shown = {item["key"]: {one["code"]: one["stock"] for one in item["options"]} for item in truth["items"]}
    records = await yard.records("mustit")
    assert {key: {one["code"]: one["stock"] for one in records[key]["options"]} for key in records} == shown
    assert run["state"] == "PROVED"
    states = await yard.rows("select state, count(*) as n from crawl_agents where source = 'mustit' group by state")
    assert states == [{"state": "IDLE", "n": 20}]


async def test_what_two_proved_runs_do_not_show_is_no_longer_listed(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    gone = min(await yard.records("okmall"))
    await yard.door.override("okmall", gone, gone=True)

    await yard.collect("okmall", "brand", BRAND)
    once = (await yard.records("okmall"))[gone]
    await yard.collect("okmall", "brand", BRAND)
    twice = (await yard.records("okmall"))[gone]

    assert (once.get("listed", True), twice["listed"]) == (True, False)


async def test_a_brand_of_musti_is_followed_by_its_next_links(yard: Yard) -> None:
    run = await yard.collect("mustit", "brand", BRAND)

    truth = await yard.door.truth("mustit", brand=BRAND)
    assert set(await yard.records("mustit")) == {item["key"] for item in truth["items"]}
    assert run["state"] == "PROVED"


async def test_other_things_than_products_are_collected_the_same_way(yard: Yard) -> None:
    news = await yard.collect("news", "list", "all")
    feed = await yard.collect("feed", "list", "all")

    assert (news["state"], feed["state"]) == ("PROVED", "PROVED")
    kinds = await yard.rows("select distinct source_type, source_system from source_records order by source_system")
    assert [row["source_type"] for row in kinds] == ["analytics", "analytics"]
    assert await yard.rows("select count(*) as n from products") == [{"n": 0}]
