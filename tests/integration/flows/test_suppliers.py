"""Ownerclan and Domeggook, collected to the end and followed in time: nothing is lost, whatever breaks."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.flows.collect import syncing
from bobusang.flows.collect.starting import Wanted
from bobusang.flows.product_sync import asking
from bobusang.kit.sql import Statement
from bobusang.sandbox.domeggook.goods import category
from bobusang.sandbox.ledger import entries
from bobusang.sandbox.ownerclan import goods
from bobusang.stages.collect import marks

if TYPE_CHECKING:
    from bobusang.flows.collect.starting import Started
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.world import World
    from bobusang.testing.yard import Yard

BACK = Statement("update sync_marks set until = :until where source = :source")
BEGAN = Statement("update collect_runs set started_at = :at where source = :source")


def items(world: World) -> dict[str, tuple[Any, ...]]:
    """What Ownerclan has, as it should be stored."""
    return {
        goods.key_of(one.no): shown(world.standing("ownerclan", one.no))
        for one in entries(world, "ownerclan")
        if not one.gone
    }


def shown(one: Standing | None) -> tuple[Any, ...]:
    assert one is not None
    product = one.product
    status = goods.status(product, one)
    options = {option["key"]: option["quantity"] for option in goods.options(product, one)}
    listed = goods.sellable(product) and not goods.prohibited(product)
    return product.title, one.price, status, status != "available", listed, options


def stored(records: dict[str, dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
    return {
        key: (
            *(fields[name] for name in ("name", "price", "status", "sold_out", "listed")),
            {option["code"]: option["stock"] for option in fields["options"] if not option.get("gone")},
        )
        for key, fields in records.items()
        if fields.get("gone") is not True
    }


async def sync(yard: Yard, source: str, *wanted: str, **said: Any) -> list[dict[str, Any]]:
    """Follow a source to the end; what the runs say of themselves."""
    started = await begun(yard, source, *wanted, **said)
    for one in started:
        await yard.ended(one.job_id)
    return [await yard.run(one.job_id) for one in started]


async def begun(yard: Yard, source: str, *wanted: str, **said: Any) -> list[Started]:
    app, some = yard.app, [Wanted(*one.split(":", 1)) for one in wanted]
    return await yard.db.transact(lambda tx: syncing.start(tx, app.engine, app.collector, source, some, **said))


def names(runs: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(run["target"], run["state"]) for run in runs]


async def until(yard: Yard, source: str) -> dict[tuple[str, str], Any]:
    async with yard.db.read() as tx:
        return await marks.of_source(tx, source)


async def test_ownerclan_is_stored_as_it_is_and_its_login_is_made_once(yard: Yard, world: World) -> None:
    run = await yard.collect("ownerclan", "list", "all")
    records = await yard.records("ownerclan")

    assert stored(records) == items(world)
    assert (run["state"], run["listed"], run["new"], run["held"]) == ("PROVED", len(records), len(records), 0)
    assert (await yard.door.suppliers())["logins"] == 1
    some = {one["vendor"] for one in records.values()}
    assert len(some) > 1
    assert all(isinstance(one, int) for one in some)
    assert {one["price_policy"] for one in records.values() if "fixed_price" in one} == {"fixed"}
    assert all(one.get("minimum_resale_price") == one.get("fixed_price") for one in records.values())
    assert {one["shipping_type"] for one in records.values()} == {"any", "prepaid", "collect", "free"}


async def test_a_token_that_is_over_is_renewed_without_an_attempt(yard: Yard, world: World) -> None:
    await yard.collect("ownerclan", "list", "all")
    await yard.door.suppliers(expire=True)
    run = await yard.collect("ownerclan", "list", "all")

    assert (run["state"], run["listed"]) == ("PROVED", len(items(world)))
    assert (await yard.door.suppliers())["logins"] == 2


async def test_half_of_the_data_beside_an_error_is_no_list(yard: Yard, world: World) -> None:
    await yard.door.fault("ownerclan", "graphql", "half_data", count=1)
    run = await yard.collect("ownerclan", "list", "all")

    assert (run["state"], run["listed"]) == ("PROVED", len(items(world)))
    assert stored(await yard.records("ownerclan")) == items(world)


async def test_what_may_not_be_sold_on_markets_is_not_listed(yard: Yard, world: World) -> None:
    await yard.collect("ownerclan", "list", "all")
    rows = await yard.rows("select product_id, listed from products where mall = 'ownerclan'")

    assert {row["product_id"] for row in rows if not row["listed"]} == {
        key for key, one in items(world).items() if not one[4]
    }


async def test_ownerclan_is_followed_from_what_was_collected_whole(any_yard: Yard, world: World) -> None:
    yard = any_yard
    first = await sync(yard, "ownerclan")
    began = await until(yard, "ownerclan")
    await yard.door.advance(24)
    behind = world.chronicle.leaps[-1][2] - yard.db.clock.now()  # a server's clock, by milliseconds
    await asyncio.sleep(max(0.0, behind.total_seconds()) + 0.002)
    runs = await sync(yard, "ownerclan")

    assert [(run["target"], run["state"]) for run in first] == [("list:all", "PROVED")]
    assert set(began) == {("changed", ""), ("history", "")}
    assert [(run["target"], run["state"]) for run in runs] == [
        ("window:changed", "PROVED"),
        ("window:history", "PROVED"),
    ]
    assert runs[0]["listed"] < len(items(world))
    assert stored(await yard.records("ownerclan")) == items(world)
    assert all(moment > began[place] for place, moment in (await until(yard, "ownerclan")).items())


async def test_a_window_that_could_not_be_read_is_read_again(yard: Yard, world: World) -> None:
    await sync(yard, "ownerclan")
    began = await until(yard, "ownerclan")
    await yard.door.advance(24)
    await yard.door.fault("ownerclan", "graphql", "http_400")
    failed = await sync(yard, "ownerclan")
    stayed = await until(yard, "ownerclan")
    await yard.door.clear()
    runs = await sync(yard, "ownerclan")

    assert [run["state"] for run in failed] == ["UNPROVED", "UNPROVED"]
    assert stayed == began
    assert [run["state"] for run in runs] == ["PROVED", "PROVED"]
    assert stored(await yard.records("ownerclan")) == items(world)


async def test_an_item_whose_page_could_not_be_read_holds_the_mark(yard: Yard, world: World) -> None:
    """The list that mentions it was read, but what happened to it is not known."""
    await sync(yard, "ownerclan")
    began = await until(yard, "ownerclan")
    await yard.door.advance(30)
    # The two lists are asked for first, one page each; then come the items.
    await yard.door.fault("ownerclan", "graphql", "http_400", after=2, count=1)
    runs = {run["target"]: run["state"] for run in await sync(yard, "ownerclan")}
    stayed = await until(yard, "ownerclan")

    assert runs == {"window:changed": "PROVED", "window:history": "UNPROVED"}
    assert stayed["history", ""] == began["history", ""]
    assert stayed["changed", ""] > began["changed", ""]


async def test_a_long_absence_is_followed_in_pieces_of_seven_days(yard: Yard, world: World) -> None:
    await sync(yard, "ownerclan")
    await yard.door.advance(24)
    now = yard.db.clock.now()
    await yard.db.transact(lambda tx: tx.execute(BACK, source="ownerclan", until=now - timedelta(days=16)))
    runs = await sync(yard, "ownerclan")

    assert [(run["target"], run["state"]) for run in runs] == [
        ("window:changed", "PROVED"),
        *[("window:history", "PROVED")] * 3,
    ]
    assert all(moment >= now for moment in (await until(yard, "ownerclan")).values())


async def test_what_is_being_followed_is_not_begun_again(tmp_path: Any, world: World) -> None:
    from bobusang.testing.yard import Yard

    async with Yard.opened(tmp_path, world=world) as yard:
        first = await begun(yard, "ownerclan")
        again = await begun(yard, "ownerclan")
        async with yard.working():
            await yard.ended(first[0].job_id)
        windows = await begun(yard, "ownerclan")
        twice = await begun(yard, "ownerclan")

    assert [(one.job_id, one.is_new) for one in again] == [(first[0].job_id, False)]
    assert [one.job_id for one in twice] == [one.job_id for one in windows]
    assert [(one.target, one.is_new) for one in windows] == [("window:changed", True), ("window:history", True)]


def categories(world: World) -> dict[str, list[str]]:
    """Domeggook's numbers by category, of what is on sale."""
    found: dict[str, list[str]] = {}
    for one in entries(world, "domeggook"):
        standing = None if one.gone else world.standing("domeggook", one.no)
        if standing is not None and not standing.sold_out:
            found.setdefault(category(standing.product), []).append(str(one.no))
    return found


@pytest.fixture
def shelf(world: World) -> str:
    """The category that has most."""
    found = categories(world)
    return max(found, key=lambda code: len(found[code]))


async def test_domeggook_is_stored_as_it_is(yard: Yard, world: World, shelf: str) -> None:
    run = await yard.collect("domeggook", "category", shelf)
    records = await yard.records("domeggook")
    wanted = categories(world)[shelf]

    assert (run["state"], run["total"], sorted(records)) == ("PROVED", len(wanted), sorted(wanted))
    for key, fields in records.items():
        one = world.standing("domeggook", int(key))
        assert one is not None
        assert (fields["name"], fields["price"], fields["stock"], fields["sold_out"], fields["listed"]) == (
            one.product.title,
            one.price,
            one.stock,
            False,
            True,
        )
        assert [option["stock"] for option in fields.get("options", [])] == (
            [] if one.product.single else list(one.stocks)
        ), "a hidden option is none"
        assert fields["price_tiers"][0] == {"from": 1, "price": one.price}
        told = f"<p>{one.product.name}</p>" if one.product.seed % 3 < 2 else ""
        assert fields.get("description", "").partition("<img")[0] == told, "a text, one of three, or none"


async def test_the_key_is_in_nothing_that_is_kept(yard: Yard, shelf: str) -> None:
    await yard.collect("domeggook", "category", shelf)
    addresses = await yard.rows("select url from raw_pages")
    sent = await yard.door.log(mall="domeggook")

    assert addresses
    assert not [row for row in addresses if "aid" in row["url"]]
    assert all("aid=sandbox" in one["path"] for one in sent)


async def test_an_error_inside_200_is_tried_again(yard: Yard, world: World, shelf: str) -> None:
    await yard.door.fault("domeggook", "api", "error_inside", count=2)
    run = await yard.collect("domeggook", "category", shelf)

    assert (run["state"], run["listed"]) == ("PROVED", len(categories(world)[shelf]))


async def test_domeggook_is_followed_by_what_is_newest(yard: Yard, world: World, shelf: str) -> None:
    await yard.collect("domeggook", "category", shelf)
    before = set(await yard.records("domeggook"))
    await yard.door.advance(400)
    runs = await sync(yard, "domeggook")
    after = set(await yard.records("domeggook"))

    assert [(run["target"], run["state"]) for run in runs] == [(f"window:recent@category:{shelf}", "PROVED")]
    assert set(categories(world)[shelf]) - after == set()
    assert after - before


AGED = Statement("update source_records set created_at = :before")


async def aged(yard: Yard) -> None:
    """What is stored was stored long before any window that is followed now."""
    before = yard.db.clock.now() - timedelta(days=60)
    await yard.db.transact(lambda tx: tx.execute(AGED, before=before))


def narrow(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of the newest show one product each."""
    source: Any = yard.app.collector.source("domeggook")
    stream = source.streams["recent"]
    monkeypatch.setitem(source.streams, "recent", replace(stream, paging=replace(stream.paging, size=1)))


async def test_what_a_broken_run_has_stored_hides_nothing_behind_it(
    yard: Yard, world: World, shelf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pages are new; the second cannot be read. The first is known the next time, yet the second is asked for."""
    await yard.collect("domeggook", "category", shelf)
    began = await until(yard, "domeggook")
    await aged(yard)
    before = set(await yard.records("domeggook"))
    await yard.door.advance(400)
    narrow(yard, monkeypatch)
    await yard.door.fault("domeggook", "api", "http_400", match="so=da", after=1)
    failed = await sync(yard, "domeggook")
    halfway = set(await yard.records("domeggook"))
    stayed = await until(yard, "domeggook")
    await yard.door.clear()
    runs = await sync(yard, "domeggook")
    wanted = set(categories(world)[shelf])

    assert len(wanted - before) > 1
    assert [run["state"] for run in failed] == ["UNPROVED"]
    assert stayed == began
    assert wanted - halfway
    assert [run["state"] for run in runs] == ["PROVED"]
    assert wanted - set(await yard.records("domeggook")) == set()


async def test_lists_are_followed_no_further_than_what_was_known(
    yard: Yard, world: World, shelf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await yard.collect("domeggook", "category", shelf)
    await aged(yard)
    narrow(yard, monkeypatch)
    runs = await sync(yard, "domeggook")

    assert len(categories(world)[shelf]) > 4
    assert [(run["state"], run["pages_read"]) for run in runs] == [("PROVED", 1)]


async def test_domeggook_has_nothing_to_follow_before_something_was_collected(yard: Yard) -> None:
    with pytest.raises(Exception, match="nothing to follow yet"):
        await begun(yard, "domeggook")


async def test_a_source_without_windows_is_collected_whole(yard: Yard) -> None:
    runs = await sync(yard, "feed")

    assert [(run["target"], run["state"]) for run in runs] == [("list:all", "PROVED")]
    assert await until(yard, "feed") == {}


async def test_what_is_followed_is_collected_whole_before_anything_of_it_is_too_old(
    any_yard: Yard, world: World, shelf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest of Domeggook say nothing of what is older: its prices come with the next whole run."""
    yard, wanted, three = any_yard, f"category:{shelf}", {"refresh": timedelta(days=3)}
    first = await sync(yard, "domeggook", wanted, **three)
    await aged(yard)
    narrow(yard, monkeypatch)
    await yard.door.advance(400)
    second = await sync(yard, "domeggook", wanted, **three)
    between = await prices(yard)
    began = yard.db.clock.now() - timedelta(days=3) + marks.PERIOD
    await yard.db.transact(lambda tx: tx.execute(BEGAN, at=began + timedelta(minutes=5), source="domeggook"))
    third = await sync(yard, "domeggook", wanted, **three)
    await yard.db.transact(lambda tx: tx.execute(BEGAN, at=began, source="domeggook"))
    fourth = await sync(yard, "domeggook", wanted, **three)

    window = [(f"window:recent@{wanted}", "PROVED")]
    assert [names(runs) for runs in (first, second, third, fourth)] == [
        [(wanted, "PROVED")],
        window,
        window,
        [(wanted, "PROVED")],
    ]
    now = {key: world.standing("domeggook", int(key)) for key in categories(world)[shelf]}
    shown = {key: one.price for key, one in now.items() if one is not None}
    assert shown.items() - between.items(), "an older price has changed"
    assert shown.items() - (await prices(yard)).items() == set()


async def prices(yard: Yard) -> dict[str, int]:
    return {key: fields["price"] for key, fields in (await yard.records("domeggook")).items()}


async def test_only_what_is_wanted_is_followed(yard: Yard, world: World, shelf: str) -> None:
    other = next(code for code in categories(world) if code != shelf)
    await yard.collect("domeggook", "category", other)
    await sync(yard, "domeggook", f"category:{shelf}")

    assert names(await sync(yard, "domeggook", f"category:{shelf}")) == [
        (f"window:recent@category:{shelf}", "PROVED"),
    ]


async def test_what_no_window_tells_of_is_collected_whole_each_time(yard: Yard, world: World) -> None:
    some = next(one for no in entries(world, "ownerclan") if (one := world.standing("ownerclan", no.no)) is not None)
    key = goods.category(some.product)["key"]
    runs = [await sync(yard, "ownerclan", f"category:{key}", "list:all") for _ in range(2)]

    assert [sorted(names(each)) for each in runs] == [
        [(f"category:{key}", "PROVED"), ("list:all", "PROVED")],
        [(f"category:{key}", "PROVED"), ("window:changed", "PROVED"), ("window:history", "PROVED")],
    ]


async def test_a_supplier_is_followed_at_the_pace_at_which_its_prices_grow_old(yard: Yard, shelf: str) -> None:
    app, target = yard.app, f"category:{shelf}"
    await yard.collect("domeggook", "category", shelf)

    async def asked(**said: Any) -> list[str]:
        supplier = Supplier("domeggook", SupplierKind.API, settings={"targets": [target], **said})
        found = await yard.db.transact(lambda tx: asking.ask(tx, app.engine, app.collector, supplier))
        for job in found.jobs:
            await yard.ended(job)
        return [(await yard.run(job))["target"] for job in found.jobs]

    assert [await asked(), await asked(refresh_hours=13), await asked(refresh_hours=6)] == [
        [f"window:recent@{target}"],
        [f"window:recent@{target}"],
        [target],
    ]
