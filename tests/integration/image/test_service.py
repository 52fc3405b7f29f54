"""Pictures from their addresses to their places: fetched once, made once, on all three databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bobusang.catalog import images
from bobusang.catalog.images import PLACED, TAKEN_OUT, ProductImage
from bobusang.catalog.tables.images import ImageState, Rights
from bobusang.kit.errors import Invalid, Missing, Throttled, Unavailable
from bobusang.kit.http import Oversized
from bobusang.kit.sql import Statement
from bobusang.platform import blobs as stores
from bobusang.platform.blob import address_of
from bobusang.stages.image import store
from bobusang.stages.image.decoding import Prepared, prepare
from bobusang.stages.image.model import Limits, Picture, Pictured, Wanted
from bobusang.stages.image.recipe import Recipe
from bobusang.stages.image.rules import url_hash
from bobusang.stages.image.service import Picturing
from tests.integration.image.mall import Mall, stock
from tests.unit.image.pictures import encoded, jpeg, opened, photo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.platform.blob import Blobs
    from bobusang.stages.image.model import Saved

RECIPE = Recipe(side=400)
SIZE = (400, 400)


@pytest.fixture
def mall() -> Mall:
    return Mall()


@pytest.fixture
def kept(db: Database, tmp_path: Path) -> Blobs:
    return stores.opened("", folder=tmp_path / "blobs", clock=db.clock)


@pytest.fixture
async def stage(db: Database, kept: Blobs, mall: Mall) -> AsyncIterator[Picturing]:
    found = Picturing(db, kept, mall)
    yield found
    found.close()


def wanted(id: int, *urls: str, published: bool = False, refresh: bool = False) -> Wanted:
    return Wanted(
        id,
        "okmall",
        urls,
        published=published,
        referer="https://okmall.example",
        rights=Rights.SUPPLIER,
        refresh=refresh,
    )


async def run(db: Database, stage: Picturing, *many: Wanted, recipe: Recipe = RECIPE) -> Saved:
    async with db.read() as tx:
        plan = await stage.plan(tx, many, recipe)
    worked = await stage.work(plan)
    return await db.transact(lambda tx: stage.save(tx, worked))


def image(
    url: str, data: bytes | None, state: ImageState = ImageState.READY, reason: str | None = None
) -> ProductImage:
    sha256 = None if data is None else address_of(data)
    return ProductImage(url, url_hash(url), state, sha256, reason, Rights.SUPPLIER, "okmall")


async def rows(db: Database, table: str) -> int:
    async with db.read() as tx:
        found: int = await tx.value(Statement(f"select count(*) as value from {table}"))
    return found


async def test_pictures_get_their_places_and_a_second_run_fetches_nothing(
    db: Database, stage: Picturing, mall: Mall, kept: Blobs
) -> None:
    await stock(db, 1, 2)
    first, second = jpeg(1, SIZE), jpeg(2, SIZE)
    a, b, c = mall.put("a", first), mall.put("b", second), mall.put("c", first)
    away, page = mall.put("away", 404), mall.put("page", b"<html>login</html>")

    saved = await run(db, stage, wanted(1, a, away, b, c, page), wanted(2, b))

    one = (
        image(a, first),
        image(b, second),
        image(away, None, ImageState.FAILED, f"{away} is gone (404)"),
        image(page, None, ImageState.REFUSED, "a page, not a picture"),
    )
    assert saved.pictured == (Pictured(1, one, True), Pictured(2, (image(b, second),), True))
    assert saved.alarms == ()
    async with db.read() as tx:
        assert await images.of(tx, [1, 2]) == {1: one, 2: (image(b, second),)}
        shown = await stage.pictures(tx, [1, 2], RECIPE)
    made = prepare(first, Limits(), RECIPE)
    assert isinstance(made, Prepared)
    assert made.derivative is not None
    assert [picture.position for picture in shown[1]] == [1, 2]
    cover = shown[1][0]
    assert cover == Picture(1, made.derivative.sha256, "image/jpeg", 400, 400, Rights.SUPPLIER)
    assert opened(await kept.get(cover.sha256)).size == SIZE
    assert await kept.get(address_of(first)) == first
    assert sorted(mall.asked) == sorted(("okmall", url) for url in (a, b, c, away, page))

    mall.asked.clear()
    again = await run(db, stage, wanted(1, a, away, b, c, page), wanted(2, b))

    assert [one.changed for one in again.pictured] == [False, False]
    assert mall.asked == [("okmall", away), ("okmall", page)]  # what was no picture may be one tomorrow
    assert await rows(db, "image_files") == 4


async def test_what_is_useless_by_its_content_is_not_fetched_again(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    small = mall.put("small", jpeg(1, (120, 120)))

    for _ in range(2):
        saved = await run(db, stage, wanted(1, small))
        assert [one.state for one in saved.pictured[0].images] == [ImageState.REFUSED]

    assert len(mall.asked) == 1


async def test_a_refresh_asks_by_validators_and_a_304_costs_nothing(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    a, b = mall.put("a", jpeg(1, SIZE)), mall.put("b", jpeg(2, SIZE))
    await run(db, stage, wanted(1, a, b))
    mall.put("b", jpeg(3, SIZE))

    saved = await run(db, stage, wanted(1, a, b, published=True, refresh=True))

    assert saved.pictured[0].images == (image(a, jpeg(1, SIZE)), image(b, jpeg(3, SIZE)))
    assert mall.conditional == 1
    mall.asked.clear()
    assert (await run(db, stage, wanted(1, a, b, published=True))).pictured[0].changed is False
    assert mall.asked == []


async def test_another_market_gets_its_derivative_of_the_same_original(
    db: Database, stage: Picturing, mall: Mall, kept: Blobs
) -> None:
    await stock(db, 1)
    url = mall.put("a", jpeg(1, SIZE))
    await run(db, stage, wanted(1, url))
    other = Recipe(side=200)
    async with db.read() as tx:
        assert await stage.pictures(tx, [1], other) == {}  # not yet, and so none instead of some

    await run(db, stage, wanted(1, url), recipe=other)

    async with db.read() as tx:
        (small,) = (await stage.pictures(tx, [1], other))[1]
    assert opened(await kept.get(small.sha256)).size == (200, 200)
    assert len(mall.asked) == 1

    await kept.delete([address_of(jpeg(1, SIZE))])  # the original is lost: it is fetched again
    await run(db, stage, wanted(1, url), recipe=Recipe(side=300))
    assert len(mall.asked) == 2


async def test_a_mall_in_trouble_takes_nothing_away_and_says_when_to_come_again(
    db: Database, stage: Picturing, mall: Mall
) -> None:
    await stock(db, 1)
    data = jpeg(1, SIZE)
    a = mall.put("a", data)
    b = mall.put("b", Throttled("too many", until=db.clock.now()))
    saved = await run(db, stage, wanted(1, a, b))
    (pictured,) = saved.pictured
    assert pictured.images == (image(a, data), image(b, None, ImageState.PENDING, "too many"))
    assert pictured.trouble is mall.shown[b]
    assert (pictured.lacks_cover, (await run(db, stage, wanted(1, b, a))).pictured[0].lacks_cover) == ("", "too many")

    mall.put("a", Unavailable("503"))
    mall.put("b", 500)
    saved = await run(db, stage, wanted(1, a, b, published=True, refresh=True))

    assert saved.pictured[0].images == (image(a, data), image(b, None, ImageState.PENDING, f"{b} answers 500"))
    assert str(saved.pictured[0].trouble) == f"{b} answers 500"


async def test_a_hot_link_banner_is_kept_out_by_its_look(db: Database, stage: Picturing, mall: Mall) -> None:
    """Without the right Referer a mall sent its banner instead of the photo; the peer listed it as the cover."""
    await stock(db, 1, 2)
    banner = photo(99, (500, 500))
    mall.banner = encoded(banner, quality=90)
    a, b, c = (mall.put(name, jpeg(number, SIZE)) for number, name in enumerate("abc"))
    await run(db, stage, replace(wanted(1, a), referer=""))
    look = await db.transact(lambda tx: store.block(tx, address_of(mall.banner or b""), "hot-link banner", by="kim"))
    mall.banner = encoded(banner.resize((600, 600)), quality=70)

    saved = await run(db, stage, replace(wanted(1, a, b), referer=""), wanted(2, c))

    first, second = saved.pictured
    assert [(one.state, one.reason) for one in first.images] == [(ImageState.REFUSED, "hot-link banner")] * 2
    assert second.images == (image(c, jpeg(2, SIZE)),)
    with pytest.raises(Missing):
        await db.transact(lambda tx: store.block(tx, "00" * 32, "x", by="kim"))
    with pytest.raises(Invalid, match="reason"):
        await db.transact(lambda tx: store.block(tx, address_of(mall.banner or b""), " ", by="kim"))

    await db.transact(lambda tx: store.unblock(tx, look))
    saved = await run(db, stage, replace(wanted(1, a), referer=""))
    assert [one.state for one in saved.pictured[0].images] == [ImageState.READY]


async def test_the_same_picture_on_many_unrelated_products_is_a_placeholder(
    db: Database, stage: Picturing, mall: Mall
) -> None:
    await stock(db, *range(1, 12), models=dict.fromkeys(range(7, 12), "M-1"))
    nothing = jpeg(5, SIZE)
    urls = {id: mall.put(f"p{id}", nothing) for id in range(1, 12)}

    early = await run(db, stage, *(wanted(id, urls[id]) for id in range(7, 12)))  # colours of one model
    assert {one.images for one in early.pictured} == {(image(urls[id], nothing),) for id in range(7, 12)}
    late = await run(db, stage, *(wanted(id, urls[id]) for id in range(1, 7)))

    reason = "the very same picture stands on 7 unrelated products: a banner or a placeholder"
    refused = [(image(urls[id], nothing, ImageState.REFUSED, reason),) for id in range(1, 7)]
    assert [one.images for one in late.pictured] == refused
    assert [(one.sha256, one.reason, one.product_ids) for one in late.alarms] == [
        (address_of(nothing), reason, (1, 2, 3, 4, 5, 6))
    ]
    alone = await run(db, stage, wanted(3, urls[3]))
    assert [one.images for one in alone.pictured] == [refused[2]]  # one by one they are refused, too
    shown = await run(db, stage, wanted(7, urls[7], published=True))
    assert shown.pictured[0].changed is False  # what is shown already waits for a person


async def test_pictures_that_look_the_same_on_unrelated_products_raise_an_alarm(
    db: Database, stage: Picturing, mall: Mall
) -> None:
    await stock(db, 1, 2, 3)
    urls = {id: mall.put(f"p{id}", jpeg(5, SIZE, quality=88 + id)) for id in (1, 2, 3)}

    saved = [await run(db, stage, wanted(id, urls[id])) for id in (1, 2, 3)]

    assert [one.alarms for one in saved[:2]] == [(), ()]
    (alarm,) = saved[2].alarms
    assert alarm.product_ids == (3,)
    assert alarm.reason == "it looks like a picture of 2 unrelated products"
    assert saved[2].pictured[0].images == (image(urls[3], jpeg(5, SIZE, quality=91)),)


async def test_a_person_orders_takes_out_and_declares(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    data = [jpeg(number, SIZE) for number in range(3)]
    urls = [mall.put(f"p{number}", one) for number, one in enumerate(data)]
    await run(db, stage, wanted(1, *urls))

    await db.transact(lambda tx: images.order(tx, 1, [3, 1]))
    await db.transact(lambda tx: images.declare(tx, 1, Rights.OWN, by="kim"))
    saved = await run(db, stage, wanted(1, *urls))  # also while no market shows it

    mine = {"rights": Rights.OWN, "rights_source": "kim"}
    assert saved.pictured[0].images == (
        replace(image(urls[2], data[2], reason=PLACED), **mine),  # type: ignore[arg-type]
        replace(image(urls[0], data[0], reason=PLACED), **mine),  # type: ignore[arg-type]
        replace(image(urls[1], data[1], ImageState.REFUSED, TAKEN_OUT), **mine),  # type: ignore[arg-type]
    )
    for wrong in ([1, 1], [4], [3]):
        with pytest.raises(Invalid, match="cannot be ordered"):
            await db.transact(lambda tx, given=wrong: images.order(tx, 1, given))  # type: ignore[misc]
    with pytest.raises(Missing):
        await db.transact(lambda tx: images.order(tx, 9, []))


async def test_what_a_person_did_while_pictures_were_fetched_stays(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    urls = [mall.put(f"p{number}", jpeg(number, SIZE)) for number in range(2)]
    await run(db, stage, wanted(1, *urls))
    async with db.read() as tx:
        plan = await stage.plan(tx, [wanted(1, *urls, published=True)], RECIPE)
    worked = await stage.work(plan)
    await db.transact(lambda tx: images.order(tx, 1, [2, 1]))

    saved = await db.transact(lambda tx: stage.save(tx, worked))

    assert [one.source_url for one in saved.pictured[0].images] == [urls[1], urls[0]]


async def test_saving_twice_and_for_lost_or_unknown_products(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1, 2)
    a, b = mall.put("a", jpeg(1, SIZE)), mall.put("b", jpeg(2, SIZE))
    async with db.read() as tx:
        plan = await stage.plan(tx, [wanted(1, a), wanted(2, b), wanted(3, b)], RECIPE)
    worked = await stage.work(plan)

    first = await db.transact(lambda tx: stage.save(tx, worked, only={1, 3}))
    again = await db.transact(lambda tx: stage.save(tx, worked))

    assert [one.product_id for one in first.pictured] == [1]
    assert [(one.product_id, one.changed) for one in again.pictured] == [(1, False), (2, True)]
    assert await rows(db, "product_images") == 2


async def test_a_batch_is_fetched_in_parts_and_saved_as_one(db: Database, stage: Picturing, mall: Mall) -> None:
    ids = range(1, 41)
    await stock(db, *ids)
    data = {id: jpeg(id, (300, 300)) for id in ids}
    many = [wanted(id, mall.put(f"p{id}", data[id])) for id in ids]

    saved = await run(db, stage, *many)

    assert [one.images for one in saved.pictured] == [(image(one.urls[0], data[one.product_id]),) for one in many]
    assert (len(mall.asked), mall.largest) == (40, 16)


async def test_two_workers_that_do_the_same_product_at_once_leave_one_set(
    db: Database, stage: Picturing, mall: Mall
) -> None:
    await stock(db, *range(1, 9))
    data = {id: jpeg(id, (300, 300)) for id in range(1, 9)}
    many = [wanted(id, mall.put(f"p{id}", data[id])) for id in data]

    await asyncio.gather(run(db, stage, *many), run(db, stage, *reversed(many)))

    async with db.read() as tx:
        found = await images.of(tx, list(data))
    assert found == {one.product_id: (image(one.urls[0], data[one.product_id]),) for one in many}
    assert await rows(db, "image_files") == 16


async def test_two_originals_may_become_the_same_derivative(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    plain = jpeg(1, SIZE)
    noted = plain + b"a camera's note after the end"
    a, b = mall.put("a", plain), mall.put("b", noted)

    await run(db, stage, wanted(1, a, b))

    async with db.read() as tx:
        one, other = (await stage.pictures(tx, [1], RECIPE))[1]
        assert [await store.media(tx, sha256) for sha256 in (one.sha256, address_of(noted))] == ["image/jpeg"] * 2
        assert await store.media(tx, address_of(b"nothing")) is None
    assert replace(other, position=1) == one


async def test_what_is_too_large_to_be_fetched_has_failed_for_good(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    url = mall.put("a", Oversized(f"an answer of 104857600 bytes\0; {'🧥' * 600}"))

    (first,) = (await run(db, stage, wanted(1, url))).pictured
    (again,) = (await run(db, stage, wanted(1, url))).pictured

    reason = f"an answer of 104857600 bytes; {'🧥' * 470}"
    assert first == Pictured(1, (image(url, None, ImageState.FAILED, reason),), True)
    assert again == replace(first, changed=False)


async def test_a_store_that_cannot_be_written_stops_the_batch(db: Database, mall: Mall, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    stage = Picturing(db, stores.opened("", folder=tmp_path / "file" / "blobs", clock=db.clock), mall)
    await stock(db, 1)

    with pytest.raises(Unavailable, match="BOBUSANG_BLOB_URL"):
        await run(db, stage, wanted(1, mall.put("a", jpeg(1, SIZE))))

    stage.close()
    assert [await rows(db, table) for table in ("image_files", "image_fetches", "product_images")] == [0, 0, 0]
