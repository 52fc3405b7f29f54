"""Pictures by the API: a product's are listed, ordered and declared; looks are blocked; what waits is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.flows.conveyor import marks
from bobusang.flows.conveyor.marks import Mark
from bobusang.kit.sql import Statement
from bobusang.platform import blobs as stores
from bobusang.platform.blob import address_of
from bobusang.stages.image import revisits
from bobusang.stages.image.service import Picturing
from tests.integration.image.mall import Mall, stock
from tests.integration.image.test_service import RECIPE, SIZE, run, wanted
from tests.unit.image.pictures import jpeg

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.stages.image.model import Wanted
    from tests.integration.api.door import Door

FIRST, SECOND, OTHER = (jpeg(number, SIZE) for number in (1, 2, 3))
A, B, C = (address_of(data) for data in (FIRST, SECOND, OTHER))
MARKED = Statement("select product_id from conveyor_marks")


async def pictured(door: Door, folder: Path, mall: Mall, *many: Wanted) -> None:
    """What a FULL finds at a mall."""
    db = door.app.engine.db
    stage = Picturing(db, stores.opened("", folder=folder / "pictures", clock=db.clock), mall)
    try:
        await run(db, stage, *many, recipe=RECIPE)
    finally:
        stage.close()


async def shown(door: Door, mall: Mall, folder: Path, *, published: bool = False) -> Wanted:
    """Product 1 with two pictures, on the market as it should be."""
    db = door.app.engine.db
    await stock(db, 1)
    one = wanted(1, mall.put("a", FIRST), mall.put("b", SECOND), published=published)
    await pictured(door, folder, mall, one)
    await db.transact(lambda tx: marks.put(tx, "buyma", [Mark(1, 1, "s", "", tx.now)]))
    return one


async def does(door: Door, path: str, body: Any = None, code: int = 200) -> Any:
    answer = await door.operator.post(path, json=body)
    assert answer.status_code == code, answer.text
    return answer.json()


async def acts(door: Door) -> list[tuple[Any, ...]]:
    found = (await door.get("/audit"))["items"]
    return [
        (one["actor"], one["action"], one["subject_id"], one["before"], one["after"])
        for one in found
        if "picture" in one["action"]
    ]


async def test_a_products_pictures_are_listed_ordered_and_declared(door: Door, tmp_path: Path) -> None:
    mall = Mall()
    await shown(door, mall, tmp_path)

    before = (await door.get("/products/1/pictures"))["items"]
    ordered = await does(door, "/products/1/pictures/order", {"positions": [2]})
    declared = await does(door, "/products/1/pictures/rights", {"rights": "own"})

    assert before[0] == {
        "position": 1,
        "state": "READY",
        "reason": None,
        "rights": "supplier",
        "rights_source": "okmall",
        "sha256": A,
        "width": 400,
        "height": 400,
        "bytes": len(FIRST),
        "address": "https://img.example.com/a.jpg",
    }
    assert [(one["position"], one["sha256"], one["state"]) for one in ordered["items"]] == [
        (1, B, "READY"),
        (2, A, "REFUSED"),
    ]
    assert {(one["rights"], one["rights_source"]) for one in declared["items"]} == {("own", "the operator")}
    async with door.app.engine.db.read() as tx:
        assert list(await tx.fetch(MARKED)) == []  # the next run looks at it
    assert await acts(door) == [
        ("the operator", "product.pictures.rights", "1", ["supplier", "supplier"], "own"),
        ("the operator", "product.pictures.order", "1", [A, B], [B]),
    ]
    wrong = [
        await door.operator.post(f"/products/1/pictures/{verb}", json=body)
        for verb, body in (
            ("order", {"positions": []}),
            ("order", {"positions": [2]}),
            ("rights", {"rights": "mine"}),
            ("accept", None),
        )
    ]
    assert [one.status_code for one in wrong] == [422] * 4
    assert (await door.viewer.post("/products/1/pictures/order", json={"positions": [1]})).status_code == 403
    for verb in ("", "/order", "/rights", "/accept", "/refresh"):
        body = {"/order": {"positions": [1]}, "/rights": {"rights": "own"}}.get(verb)
        path = f"/products/9/pictures{verb}"
        answer = await (door.operator.post(path, json=body) if verb else door.viewer.get(path))
        assert answer.status_code == 404, verb


async def test_a_look_is_blocked_and_allowed_again(door: Door, tmp_path: Path) -> None:
    mall = Mall()
    one = await shown(door, mall, tmp_path)

    done = await does(door, "/pictures/block", {"sha256": B, "reason": " a banner "})
    (blocked,) = (await door.get("/pictures/blocks"))["items"]
    await pictured(door, tmp_path, mall, one)
    refused = (await door.get("/products/1/pictures"))["items"][1]
    again = await does(door, "/pictures/unblock", {"sha256": B})

    assert (done, again) == ({"sha256": B, "products": 1},) * 2
    assert (blocked["sha256"], blocked["reason"], blocked["created_by"]) == (B, "a banner", "the operator")
    assert (refused["sha256"], refused["state"], refused["reason"]) == (B, "REFUSED", "a banner")
    assert (await door.get("/pictures/blocks"))["items"] == []
    assert await acts(door) == [
        ("the operator", "picture.unblock", B, {"reasons": ["a banner"]}, None),
        ("the operator", "picture.block", B, None, {"reason": "a banner"}),
    ]
    await does(door, "/pictures/unblock", {"sha256": B}, 404)
    await does(door, "/pictures/block", {"sha256": "00" * 32, "reason": "x"}, 404)
    await does(door, "/pictures/block", {"sha256": B, "reason": " "}, 422)


async def test_a_picture_is_blocked_by_what_the_market_was_given_of_it(door: Door, tmp_path: Path) -> None:
    await shown(door, Mall(), tmp_path)
    made = Statement("select sha256 as value from image_files where made_from = :made_from and recipe <> 'original'")
    async with door.app.engine.db.read() as tx:
        derivative = await tx.value(made, made_from=B)

    assert (await does(door, "/pictures/block", {"sha256": derivative, "reason": "x"}))["sha256"] == B


async def test_what_waits_for_a_person_is_an_alert_until_he_decides(door: Door, tmp_path: Path) -> None:
    mall = Mall()
    one = await shown(door, mall, tmp_path, published=True)
    await stock(door.app.engine.db, *range(2, 8))
    many = [wanted(id, mall.put(f"p{id}", OTHER)) for id in range(2, 8)]
    await pictured(door, tmp_path, mall, *many)
    mall.put("a", jpeg(7, SIZE))
    await does(door, "/products/1/pictures/refresh")
    await pictured(door, tmp_path, mall, one)

    waiting = (await door.get("/pictures/doubts"))["items"]
    first = await door.get("/pictures/doubts", limit=1)
    rest = await door.get("/pictures/doubts", limit=1, cursor=first["next"])

    assert [(one["kind"], one["sha256"], one["product"], one["mall_id"]) for one in waiting] == [
        ("COVER", A, 1, "P1"),
        ("SHARED", C, 2, "P2"),
    ]
    assert (first["items"] + rest["items"], rest["next"]) == (waiting, None)
    assert await alerts(door) == ["other_covers", "shared_pictures"]

    assert await does(door, "/pictures/allow", {"sha256": C}) == {"sha256": C, "products": 6}
    accepted = (await does(door, "/products/1/pictures/accept"))["items"]
    assert [one["sha256"] for one in accepted] == [address_of(jpeg(7, SIZE)), B]
    assert ((await door.get("/pictures/doubts"))["items"], await alerts(door)) == ([], [])
    assert [action for _, action, *_ in await acts(door)] == [
        "product.pictures.accept",
        "picture.allow",
        "product.pictures.refresh",
    ]
    await does(door, "/pictures/allow", {"sha256": C}, 404)
    async with door.app.engine.db.read() as tx:
        asked, _ = await revisits.asked(tx, range(1, 8))
    assert sorted(asked) == list(range(1, 8))


async def alerts(door: Door) -> list[str]:
    return sorted(one["key"] for one in (await door.get("/alerts", open="true"))["items"])
