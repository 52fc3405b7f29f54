"""Mappings: the market's lists, what may stand for what, a person's word, and the file that carries it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any

from bobusang.catalog import brands, categories
from tests.integration.api.test_pages import turned

if TYPE_CHECKING:
    from tests.integration.api.door import Door

CSV = {"content-type": "text/csv"}
BRANDS = "id,brand_name\n203,NIKE\n252,GUCCI\n253,GUCCI KIDS\n"
CATEGORIES = "id,name\n3312,スニーカー\n3320,キャップ\n"
FIRST = ("Maison", "Studio", "Atelier", "Nova", "Orlando")
LAST = ("Morello", "Kowalski", "Fontaine", "Lombardo", "Sorrento")
HEADER = "kind,mall,key,name_ko,name_en,market_id,market_name,review\n"


async def stocked(door: Door) -> None:
    """Lists of the market, and a mall's brands and categories that nobody has reviewed."""

    async def work(tx: Any) -> None:
        await brands.propose(
            tx, "okmall", [brands.Proposal("nike", "나이키", "NIKE"), brands.Proposal("gucci", "구찌", "")]
        )
        await categories.propose(tx, "okmall", [categories.Proposal(("SHOES", "스니커즈"))])

    await door.app.engine.db.transact(work)
    for kind, text in (("brands", BRANDS), ("categories", CATEGORIES)):
        answer = await door.operator.post(f"/masters/{kind}", content=text, headers=CSV)
        assert answer.status_code == 200, answer.text


async def ids(door: Door) -> dict[str, int]:
    items = (await door.get("/mappings/unreviewed", mall="okmall"))["items"]
    return {one["key"]: one["id"] for one in items}


async def test_lists_are_versioned_and_half_a_list_is_refused(door: Door) -> None:
    await stocked(door)
    half = BRANDS.rpartition("252")[0]

    same = await door.operator.post("/masters/brands", content=BRANDS, headers=CSV)
    refused = await door.operator.post("/masters/brands", content=half, headers=CSV)
    taken = await door.operator.post("/masters/brands", params={"shrink": True}, content=half, headers=CSV)

    assert (same.json()["version"], same.json()["changed"], refused.status_code) == (1, False, 409)
    assert taken.json() == {
        "kind": "brands",
        "version": 2,
        "rows": 1,
        "changed": True,
        "added_count": 0,
        "changed_count": 0,
        "vanished_count": 2,
        "added": [],
        "altered": [],
        "vanished": ["252", "253"],
    }
    lines = (await door.get("/masters"))["items"]
    assert [(one["kind"], one["version"], one["rows"]) for one in lines] == [("brands", 2, 1), ("categories", 1, 2)]
    acts = (await door.get("/audit", subject_type="master"))["items"]
    assert [act["subject_id"] for act in acts] == ["buyma/brands", "buyma/categories", "buyma/brands"]


async def test_what_waits_comes_with_what_it_may_be(door: Door) -> None:
    await stocked(door)

    (gucci, nike, sneakers) = (await door.get("/mappings/unreviewed", mall="okmall"))["items"]
    pages = await turned(door, "/mappings/unreviewed", limit=1, mall="okmall")

    assert nike == {
        "id": nike["id"],
        "kind": "brand",
        "mall": "okmall",
        "key": "nike",
        "name_ko": "나이키",
        "name_en": "NIKE",
        "market_id": None,
        "proposals": [{"market_id": 203, "name": "NIKE", "how": "exact", "confidence": 1.0}],
    }
    assert [one["market_id"] for one in gucci["proposals"]] == [252]
    assert (sneakers["kind"], sneakers["key"]) == ("category", "SHOES > 스니커즈")
    assert sneakers["proposals"] == [{"market_id": 3312, "name": "スニーカー", "how": "alias", "confidence": 0.95}]
    assert pages == [[gucci], [nike], [sneakers]]
    assert (await door.get("/mappings/unreviewed", mall="okmall", kind="category"))["items"] == [sneakers]


async def test_proposals_are_written_and_only_a_person_accepts(door: Door) -> None:
    await stocked(door)

    done = await door.operator.post("/mappings/propose")

    assert done.json() == {"brands": 2, "categories": 1}
    found = (await door.get("/brands", mall="okmall"))["items"]
    told = [(one["key"], one["buyma_brand_id"], one["review"]) for one in found]
    assert told == [("gucci", 252, "proposed"), ("nike", 203, "proposed")]
    (sneakers,) = (await door.get("/categories", mall="okmall"))["items"]
    assert (sneakers["buyma_category_id"], sneakers["review"]) == (3312, "proposed")


async def test_others_write_while_names_are_compared(door: Door) -> None:
    """Thousands of brands take minutes, and SQLite has one writer: every worker would have waited."""
    names = [f"{first} {last} {n}" for n in range(40) for first in FIRST for last in LAST]
    lines = "".join(f"{id},{name}\n" for id, name in enumerate(names, start=1))
    assert (await door.operator.post("/masters/brands", content=f"id,brand_name\n{lines}", headers=CSV)).is_success
    db = door.app.engine.db
    new = [brands.Proposal(str(n), name_en=name.replace("o", "oo")) for n, name in enumerate(names[:400])]
    await db.transact(lambda tx: brands.propose(tx, "okmall", new))

    asked = asyncio.create_task(door.operator.post("/mappings/propose"))
    moments = [monotonic()]
    while not asked.done():
        await db.transact(lambda tx: brands.propose(tx, "mustit", [brands.Proposal("A")]))
        moments.append(monotonic())

    assert (await asked).is_success
    assert max(after - before for before, after in pairwise(moments)) < (moments[-1] - moments[0]) / 2


async def test_a_mapping_goes_out_and_comes_back_reviewed(door: Door) -> None:
    await stocked(door)
    await door.operator.post("/mappings/propose")

    exported = await door.viewer.get("/mappings", params={"mall": "okmall"})
    assert exported.headers["content-type"].startswith("text/csv")
    assert exported.text == (
        f"{HEADER}brand,okmall,gucci,구찌,,252,GUCCI,proposed\nbrand,okmall,nike,나이키,NIKE,203,NIKE,proposed\n"
        "category,okmall,SHOES > 스니커즈,,,3312,,proposed\n"
    )
    reviewed = exported.text.replace("203,NIKE,proposed", "203,NIKE,accepted").replace(
        "3312,,proposed", "3312,,accepted"
    )
    taken = await door.operator.post("/mappings", content=reviewed, headers=CSV)

    assert taken.json() == {"lines": 3, "malls": ["okmall"]}
    assert (await door.viewer.get("/mappings", params={"mall": "okmall"})).text == reviewed
    (sneakers,) = (await door.get("/categories", mall="okmall", review="accepted"))["items"]
    assert (sneakers["path"], sneakers["buyma_category_id"]) == ("SHOES > 스니커즈", 3312)


async def test_one_wrong_line_takes_nothing(door: Door) -> None:
    await stocked(door)
    wrong = f"{HEADER}brand,okmall,nike,나이키,NIKE,203,NIKE,accepted\nbrand,okmall,gucci,구찌,,999,GUCCI,accepted\n"

    refused = await door.operator.post("/mappings", content=wrong, headers=CSV)

    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "line 3 of the mapping: the market has no brand 999",
    )
    assert len((await door.get("/mappings/unreviewed", mall="okmall"))["items"]) == 3


async def test_files_that_cannot_be_read_are_refused(small: Door) -> None:
    await stocked(small)
    latin = await small.operator.post("/mappings", content=HEADER.encode() + b"\xff", headers=CSV)
    nul = await small.operator.post("/mappings", content=HEADER.encode() + b"\0", headers=CSV)
    other = await small.operator.post("/mappings", json={})
    unknown = await small.operator.post("/masters/brnads", content=BRANDS, headers=CSV)
    empty = await small.viewer.get("/mappings", params={"mall": "nobody"})

    assert [one.status_code for one in (latin, nul, other, unknown, empty)] == [400, 400, 415, 422, 404]


async def test_a_person_says_what_a_row_is_and_its_review_stays(door: Door) -> None:
    await stocked(door)
    found = await ids(door)
    brand = {"kind": "brand", "id": found["nike"]}
    category = {"kind": "category", "id": found["SHOES > 스니커즈"]}

    nike = await door.operator.post("/mappings/assign", json=brand | {"market_id": 203})
    lacks = await door.operator.post("/mappings/assign", json=brand | {"market_id": 0})
    none = await door.operator.post("/mappings/assign", json=brand | {"market_id": None})
    sneakers = await door.operator.post("/mappings/assign", json=category | {"market_id": 3312})
    unknown = await door.operator.post("/mappings/assign", json=brand | {"market_id": 4})
    zero = await door.operator.post("/mappings/assign", json=category | {"market_id": 0})
    nobody = await door.operator.post("/mappings/assign", json={"kind": "brand", "id": 9**9, "market_id": 203})

    assert nike.json() == brand | {"market_id": 203, "market_name": "NIKE"}
    assert [one.json()["market_id"] for one in (lacks, none, sneakers)] == [0, None, 3312]
    assert [one.status_code for one in (unknown, zero, nobody)] == [404, 422, 404]
    acts = (await door.get("/audit", subject_type="brand"))["items"]
    assert [(act["before"], act["after"]) for act in acts] == [
        ({"market_id": 0}, {"market_id": None}),
        ({"market_id": 203}, {"market_id": 0}),
        ({"market_id": None}, {"market_id": 203}),
    ]
    (line,) = (await door.get("/categories"))["items"]
    assert (line["buyma_category_id"], line["review"]) == (3312, "proposed")


async def test_categories_are_reviewed_one_by_one_or_by_filter(door: Door) -> None:
    paths = [("SHOES", "스니커즈"), ("SHOES", "로퍼"), ("BAG", "100%")]

    async def work(tx: Any) -> None:
        await categories.propose(tx, "okmall", [categories.Proposal(path) for path in paths])

    await door.app.engine.db.transact(work)
    by_path = {one["path"]: one["id"] for one in (await door.get("/categories"))["items"]}
    shoes = {"action": "accept", "filter": {"mall": "okmall", "q": "shoes"}}

    blocked = await door.operator.post(f"/categories/{by_path['BAG > 100%']}/block")
    counted = await door.operator.post("/categories/bulk", json=shoes | {"dry_run": True})
    done = await door.operator.post("/categories/bulk", json=shoes)
    nothing = await door.operator.post("/categories/bulk", json={"action": "accept", "filter": {}})
    missing = await door.operator.post("/categories/999999/accept")

    assert blocked.json()["review"] == "blocked"
    assert [(one.json()["matched"], one.json()["changed"]) for one in (counted, done)] == [(2, 0), (2, 2)]
    assert (nothing.status_code, missing.status_code) == (422, 404)
    assert [one["path"] for one in (await door.get("/categories", q="%"))["items"]] == ["BAG > 100%"]
    accepted = (await door.get("/categories", review="accepted"))["items"]
    assert sorted(one["path"] for one in accepted) == ["SHOES > 로퍼", "SHOES > 스니커즈"]
    acts = (await door.get("/audit", subject_type="category"))["items"]
    assert sorted(act["action"] for act in acts) == ["category.accept", "category.accept", "category.block"]
