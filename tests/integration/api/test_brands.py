"""Brands of malls: proposed by collecting, reviewed by a person one by one or by filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import brands
from bobusang.catalog.brands import Proposal
from tests.integration.api.test_pages import turned

if TYPE_CHECKING:
    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront

OKMALL = [
    Proposal("나이키(NIKE)", "나이키", "NIKE"),
    Proposal("구찌(GUCCI)", "구찌", "GUCCI"),
    Proposal("100%(PERCENT)", "백퍼센트", "PERCENT"),
]


async def propose(door: Door) -> dict[str, int]:
    """Brands of two malls; their numbers by mall and name."""

    async def work(tx: Any) -> None:
        await brands.propose(tx, "okmall", OKMALL)
        await brands.propose(tx, "mustit", [Proposal("NIKE", "나이키", "NIKE", "https://mustit.example/nike")])

    await door.app.engine.db.transact(work)
    return {f"{one['mall']}/{one['name_en']}": one["id"] for one in (await door.get("/brands"))["items"]}


async def names(door: Door, **query: Any) -> list[str]:
    return sorted(f"{one['mall']}/{one['name_en']}" for one in (await door.get("/brands", **query))["items"])


async def test_brands_are_found_by_mall_review_and_text(door: Door) -> None:
    ids = await propose(door)
    (one,) = (await door.get("/brands", mall="mustit"))["items"]
    assert {name: value for name, value in one.items() if not name.endswith("_at")} == {
        "id": ids["mustit/NIKE"],
        "mall": "mustit",
        "key": "NIKE",
        "name_ko": "나이키",
        "name_en": "NIKE",
        "url": "https://mustit.example/nike",
        "review": "proposed",
        "buyma_brand_id": None,
        "buyma_brand_name": None,
    }
    assert await names(door, q="niKE") == ["mustit/NIKE", "okmall/NIKE"]
    assert await names(door, q="이키", mall="okmall") == ["okmall/NIKE"]
    assert await names(door, q="%") == ["okmall/PERCENT"]
    assert await names(door, review="accepted") == []
    pages = await turned(door, "/brands", limit=3)
    assert [len(page) for page in pages] == [3, 1]
    assert [brand["id"] for page in pages for brand in page] == sorted(ids.values())


async def test_a_review_is_written_down_and_stays_when_the_brand_is_seen_again(door: Door) -> None:
    ids = await propose(door)

    accepted = await door.operator.post(f"/brands/{ids['okmall/NIKE']}/accept")
    await door.operator.post(f"/brands/{ids['okmall/GUCCI']}/block")
    await propose(door)

    assert accepted.json()["review"] == "accepted"
    assert await names(door, review="accepted") == ["okmall/NIKE"]
    assert await names(door, review="blocked") == ["okmall/GUCCI"]
    back = await door.operator.post(f"/brands/{ids['okmall/NIKE']}/propose")
    assert back.json()["review"] == "proposed"
    acts = (await door.get("/audit", subject_type="brand", subject_id=str(ids["okmall/NIKE"])))["items"]
    assert [(act["action"], act["before"], act["after"]) for act in acts] == [
        ("brand.propose", {"review": "accepted"}, {"review": "proposed"}),
        ("brand.accept", {"review": "proposed"}, {"review": "accepted"}),
    ]
    missing = await door.operator.post("/brands/999999/accept")
    assert (missing.status_code, missing.json()["detail"]) == (404, "there is no brand 999999")


async def test_many_are_reviewed_by_filter_and_a_dry_run_only_counts(door: Door) -> None:
    ids = await propose(door)
    await door.operator.post(f"/brands/{ids['okmall/NIKE']}/accept")
    body = {"action": "accept", "filter": {"mall": "okmall"}}

    tried = (await door.operator.post("/brands/bulk", json=body | {"dry_run": True})).json()
    assert await names(door, review="accepted") == ["okmall/NIKE"]
    done = (await door.operator.post("/brands/bulk", json=body)).json()

    others = sorted((ids["okmall/GUCCI"], ids["okmall/PERCENT"]))
    assert tried == {"matched": 2, "changed": 0, "dry_run": True, "ids": others}
    assert done == {"matched": 2, "changed": 2, "dry_run": False, "ids": others}
    assert await names(door, review="accepted") == ["okmall/GUCCI", "okmall/NIKE", "okmall/PERCENT"]
    by_id = await door.operator.post("/brands/bulk", json={"action": "block", "ids": [*others, 999_999]})
    assert (by_id.json()["matched"], by_id.json()["changed"]) == (2, 2)
    again = await door.operator.post("/brands/bulk", json={"action": "propose", "filter": {"review": "blocked"}})
    assert again.json()["changed"] == 2
    assert len((await door.get("/audit", subject_type="brand"))["items"]) == 1 + 2 + 2 + 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"action": "accept"}, "needs either ids or filter"),
        ({"action": "accept", "ids": [1], "filter": {"mall": "okmall"}}, "needs either ids or filter"),
        ({"action": "accept", "filter": {}}, "needs a filter that says something"),
        ({"action": "accept", "filter": {"shop": "okmall"}}, "is not known here"),
        ({"action": "love", "ids": [1]}, "should be 'accept', 'block' or 'propose'"),
    ],
)
async def test_what_would_touch_all_brands_or_none_is_refused(small: Door, body: dict[str, Any], message: str) -> None:
    answer = await small.operator.post("/brands/bulk", json=body)

    assert (answer.status_code, message in answer.json()["detail"]) == (422, True), answer.text


async def test_a_malls_index_lands_in_its_brands_and_its_accepted_ones_are_collected(front: Shopfront) -> None:
    door = front.door
    async with door.working():
        started = await door.operator.post("/brands/collect", json={"mall": "okmall", "key": "monday"})
        again = await door.operator.post("/brands/collect", json={"mall": "okmall", "key": "monday"})
        assert (started.status_code, again.status_code) == (201, 200)
        job = started.json()["job_id"]
        assert again.json() == {"job_id": job, "target": "index:all", "created": False}
        assert (await door.ended(job))["status"] == "SUCCESS"
        truth = (await front.sandbox.world())["malls"]["okmall"]
        found = (await door.get("/brands", mall="okmall", limit=100))["items"]
        assert sorted(one["key"] for one in found) == sorted(truth)

        chosen = sorted(truth)[:2]
        for one in found:
            if one["key"] in chosen:
                await door.operator.post(f"/brands/{one['id']}/accept")
        answer = await door.operator.post("/collect", json={"source": "okmall", "accepted": True})
        runs = answer.json()["items"]
        assert sorted(one["target"] for one in runs) == [f"brand:{key}" for key in chosen]
        for one in runs:
            assert (await door.ended(one["job_id"]))["status"] == "SUCCESS"
    listed = {run["target"]: run["listed"] for run in (await door.get("/collect/runs", state="proved"))["items"]}
    assert listed == {"index:all": len(truth), **{f"brand:{key}": truth[key] for key in chosen}}
    target = (await door.get("/targets", source="okmall", q=chosen[0]))["items"][0]
    assert target["name"] == next(one["name_ko"] for one in found if one["key"] == chosen[0])


async def test_a_mall_without_an_index_says_so(front: Shopfront) -> None:
    answer = await front.door.operator.post("/brands/collect", json={"mall": "news"})

    assert (answer.status_code, answer.json()["detail"]) == (422, "news is not collected by index")
