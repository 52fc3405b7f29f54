"""What a person decides on pictures, and what becomes of it: at once, with the next look, and among the alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.catalog import images
from bobusang.catalog.images import PLACED
from bobusang.catalog.tables.images import ImageState
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Statement
from bobusang.platform import blobs as stores
from bobusang.platform.alerting import open_alerts
from bobusang.platform.blob import address_of
from bobusang.stages.image import deciding, revisits, store
from bobusang.stages.image.rules import ANOTHER_COVER
from bobusang.stages.image.service import Picturing
from bobusang.stages.image.tables import Doubt
from tests.integration.image.mall import Mall, stock
from tests.integration.image.test_service import RECIPE, SIZE, image, run, wanted
from tests.unit.image.pictures import encoded, jpeg, photo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.stages.image.look import Look

DOUBTS = Statement("select kind, sha256, product_id, allowed_by from image_doubts order by id")
WAITING = Statement("select product_id, refresh from image_revisits order by id")
BANNER = encoded(photo(99, (500, 500)), quality=90)
SAME = encoded(photo(99, (600, 600)), quality=70)


@pytest.fixture
def mall() -> Mall:
    return Mall()


@pytest.fixture
async def stage(db: Database, tmp_path: Path, mall: Mall) -> AsyncIterator[Picturing]:
    found = Picturing(db, stores.opened("", folder=tmp_path / "blobs", clock=db.clock), mall)
    yield found
    found.close()


async def told(db: Database) -> list[str]:
    async with db.read() as tx:
        return sorted(one.key for one in await open_alerts(tx))


async def doubted(db: Database) -> list[tuple[object, ...]]:
    async with db.read() as tx:
        return [tuple(row[name] for name in ("kind", "sha256", "product_id")) for row in await tx.fetch(DOUBTS)]


async def waiting(db: Database) -> list[tuple[int, bool]]:
    async with db.read() as tx:
        return [(row["product_id"], bool(row["refresh"])) for row in await tx.fetch(WAITING)]


async def block(db: Database, data: bytes, reason: str = "a banner") -> Look:
    return await db.transact(lambda tx: deciding.block(tx, address_of(data), reason, by="kim"))


async def test_what_is_blocked_is_taken_off_all_that_show_its_like(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1, 2, 3)
    urls = {name: mall.put(name, data) for name, data in (("a", BANNER), ("b", SAME), ("c", jpeg(1, SIZE)))}
    many = [wanted(1, urls["a"], urls["c"], published=True), wanted(2, urls["b"], published=True), wanted(3, urls["c"])]
    await run(db, stage, *many)

    look = await block(db, BANNER)
    assert await revisits.like(db, look) == 2
    assert await waiting(db) == [(1, False), (2, False)]
    saved = await run(db, stage, *many)

    refused = image(urls["a"], BANNER, ImageState.REFUSED, "a banner")
    assert [one.images for one in saved.pictured] == [
        (image(urls["c"], jpeg(1, SIZE)), refused),
        (image(urls["b"], SAME, ImageState.REFUSED, "a banner"),),
        (image(urls["c"], jpeg(1, SIZE)),),
    ]
    assert await waiting(db) == []

    gone = await db.transact(lambda tx: deciding.unblock(tx, address_of(SAME)))
    assert (gone, await revisits.like(db, gone[0][0]), await waiting(db)) == (
        ((look, "a banner"),),
        2,
        [(1, False), (2, False)],
    )
    again = await run(db, stage, *many)
    assert [image.is_ready for one in again.pictured for image in one.images] == [True] * 4
    with pytest.raises(Missing, match="blocked"):
        await db.transact(lambda tx: deciding.unblock(tx, address_of(SAME)))


async def test_what_is_blocked_while_it_is_fetched_is_not_shown(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1, 2)
    await run(db, stage, wanted(1, mall.put("a", BANNER)))
    url = mall.put("b", SAME)
    async with db.read() as tx:
        plan = await stage.plan(tx, [wanted(2, url)], RECIPE)
    worked = await stage.work(plan)
    await block(db, BANNER)

    saved = await db.transact(lambda tx: stage.save(tx, worked))

    assert [one.images for one in saved.pictured] == [(image(url, SAME, ImageState.REFUSED, "a banner"),)]


@pytest.mark.parametrize("left", [("c",), ()])
async def test_what_is_blocked_goes_though_its_source_names_it_no_more(
    db: Database, stage: Picturing, mall: Mall, left: tuple[str, ...]
) -> None:
    await stock(db, 1)
    urls = {name: mall.put(name, data) for name, data in (("a", BANNER), ("c", jpeg(1, SIZE)))}
    await run(db, stage, wanted(1, *urls.values(), published=True))
    await block(db, BANNER)

    saved = await run(db, stage, wanted(1, *(urls[name] for name in left), published=True))

    assert [one for one in saved.pictured[0].images if one.is_ready] == [image(urls["c"], jpeg(1, SIZE))]


async def test_what_is_asked_while_a_product_is_looked_at_stays_asked(
    db: Database, stage: Picturing, mall: Mall
) -> None:
    await stock(db, 1)
    one = wanted(1, mall.put("a", jpeg(1, SIZE)))
    await db.transact(lambda tx: revisits.ask(tx, [1]))
    async with db.read() as tx:
        plan = await stage.plan(tx, [one], RECIPE)
    await db.transact(lambda tx: revisits.ask(tx, [1], refresh=True))

    worked = await stage.work(plan)
    await db.transact(lambda tx: stage.save(tx, worked))

    assert await waiting(db) == [(1, True)]
    mall.put("a", 503)
    await run(db, stage, one)
    assert await waiting(db) == [(1, True)]  # nobody has said what the address gives now
    mall.put("a", jpeg(1, SIZE))
    await run(db, stage, one)
    assert (await waiting(db), mall.conditional) == ([], 1)


async def test_a_picture_of_many_products_is_an_alert_until_somebody_decides(
    db: Database, stage: Picturing, mall: Mall
) -> None:
    await stock(db, *range(1, 8))
    nothing = jpeg(5, SIZE)
    many = [wanted(id, mall.put(f"p{id}", nothing)) for id in range(1, 8)]

    await run(db, stage, *many)
    await run(db, stage, *many)

    assert await doubted(db) == [(Doubt.SHARED, address_of(nothing), 0)]
    assert await told(db) == ["shared_pictures"]
    assert await db.transact(lambda tx: deciding.allow(tx, address_of(nothing), by="kim")) == 7
    assert (await told(db), len(await waiting(db))) == ([], 7)
    saved = await run(db, stage, *many)
    assert [one.is_ready for its in saved.pictured for one in its.images] == [True] * 7
    assert (saved.alarms, await told(db)) == ((), [])
    with pytest.raises(Missing, match="nobody is asked"):
        await db.transact(lambda tx: deciding.allow(tx, address_of(nothing), by="kim"))


async def test_likenesses_are_an_alert_until_their_look_is_blocked(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1, 2, 3, 4)
    data = {id: jpeg(5, SIZE, quality=88 + id) for id in (1, 2, 3)}
    for id, one in data.items():
        await run(db, stage, wanted(id, mall.put(f"p{id}", one)))
    assert await doubted(db) == [(Doubt.LIKE, address_of(data[3]), 0)]
    assert await told(db) == ["like_pictures"]

    await block(db, data[1])

    assert (await doubted(db), await told(db)) == ([], [])


async def test_another_cover_is_an_alert_until_somebody_takes_it(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    a, b = mall.put("a", jpeg(1, SIZE)), mall.put("b", jpeg(2, SIZE))
    one = wanted(1, a, b, published=True)
    await run(db, stage, one)
    with pytest.raises(Invalid, match="waits for nobody"):
        await db.transact(lambda tx: deciding.accept(tx, 1))
    mall.put("a", jpeg(3, SIZE))
    await db.transact(lambda tx: revisits.ask(tx, [1], refresh=True))

    saved = await run(db, stage, one)
    assert saved.pictured[0].images[0] == image(a, jpeg(1, SIZE), reason=ANOTHER_COVER)
    assert (await doubted(db), await told(db)) == ([(Doubt.COVER, address_of(jpeg(1, SIZE)), 1)], ["other_covers"])
    assert (await run(db, stage, one)).pictured[0].changed is False

    _, after = await db.transact(lambda tx: deciding.accept(tx, 1))
    assert after == (image(a, jpeg(3, SIZE), reason=PLACED), image(b, jpeg(2, SIZE)))
    assert (await doubted(db), await told(db)) == ([], [])
    assert (await run(db, stage, one)).pictured[0].changed is False
    async with db.read() as tx:
        assert len((await stage.pictures(tx, [1], RECIPE))[1]) == 2


async def test_who_keeps_the_cover_is_not_asked_again(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    url = mall.put("a", jpeg(1, SIZE))
    await run(db, stage, wanted(1, url, published=True))
    mall.put("a", jpeg(3, SIZE))
    await run(db, stage, wanted(1, url, published=True, refresh=True))

    await db.transact(lambda tx: deciding.order(tx, 1, [1]))
    saved = await run(db, stage, wanted(1, url, published=True, refresh=True))

    assert saved.pictured[0].images == (image(url, jpeg(1, SIZE), reason=PLACED),)
    assert (await doubted(db), await told(db)) == ([], [])


async def test_who_orders_the_pictures_has_decided_on_the_cover(db: Database, stage: Picturing, mall: Mall) -> None:
    await stock(db, 1)
    a, b = mall.put("a", jpeg(1, SIZE)), mall.put("b", jpeg(2, SIZE))
    await run(db, stage, wanted(1, a, b, published=True))
    mall.put("a", jpeg(3, SIZE))
    await run(db, stage, wanted(1, a, b, published=True, refresh=True))
    assert await told(db) == ["other_covers"]

    _, after = await db.transact(lambda tx: deciding.order(tx, 1, [2, 1]))

    assert [one.reason for one in after] == [PLACED, PLACED]
    assert (await doubted(db), await told(db)) == ([], [])
    async with db.read() as tx:
        assert [one.source_url for one in (await images.of(tx, [1]))[1]] == [b, a]
        assert await store.original(tx, (await stage.pictures(tx, [1], RECIPE))[1][0].sha256) == address_of(
            jpeg(2, SIZE)
        )
        with pytest.raises(Missing, match="no picture"):
            await store.original(tx, "00" * 32)
