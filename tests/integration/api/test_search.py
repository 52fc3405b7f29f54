"""Searching through the API, on all three databases: found as it stands, kept under readable keys, and looked after."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import httpx
import pytest

from bobusang.engine.leader import Leader
from bobusang.entry.api import create_app
from bobusang.wiring.searching import FOLDER
from tests.integration.api.door import opened, until
from tests.integration.api.goods import told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.api.door import Door


SERVED = {"hit": 2.0, "stale": 0.0, "miss": 1.0, "joined": 0.0, "away": 0.0}


async def indexed(door: Door) -> None:
    """An index that is there, and knows what SQL knows."""
    await door.app.consumers.install(door.app.engine.db)
    await door.app.finder.rebuilding.heal()
    while await door.app.relays[0].step():
        pass


async def search(door: Door, **query: Any) -> dict[str, Any]:
    answer = await door.viewer.get("/search", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found | {"x-cache": answer.headers["x-cache"]}


async def test_an_answer_is_whole(door: Door) -> None:
    await door.app.consumers.install(door.app.engine.db)
    padding = await told(door)
    boots = await told(
        door, product_id="4712", name="첼시 부츠", brand="DIOR", brand_ko="디올", price=990_000, url=None
    )
    await indexed(door)

    found = await search(door, keyword="나이키패딩")

    assert found == {
        "items": [
            {
                "id": padding["id"],
                "mall": "okmall",
                "product_id": "4711",
                "name": "나이키 롱패딩",
                "brand": "NIKE",
                "brand_ko": "나이키",
                "model": "DD1234-010",
                "category": "의류 > 패딩",
                "seller": "",
                "price": 129_000,
                "currency": "KRW",
                "in_stock": True,
                "image": "https://mall.example/4711.jpg",
                "url": "https://mall.example/4711",
                "score": found["items"][0]["score"],
                "marked": found["items"][0]["marked"],
            }
        ],
        "total": 1,
        "more": False,
        "facets": {
            "brand": [{"value": "NIKE", "count": 1}],
            "mall": [{"value": "okmall", "count": 1}],
            "category": [{"value": "의류 > 패딩", "count": 1}],
            "in_stock": [{"value": "true", "count": 1}],
        },
        "prices": {"min": 129_000, "max": 129_000},
        "next": None,
        "x-cache": "miss",
    }
    dearest = await search(door, sort="-price", limit=1, facets=False)
    then = await search(door, sort="-price", limit=1, facets=False, cursor=dearest["next"])
    assert [one["items"][0]["id"] for one in (dearest, then)] == [boots["id"], padding["id"]]
    assert (dearest["facets"], then["next"]) == ({}, None)


async def test_filters_and_the_alias_of_the_keyword(small: Door) -> None:
    await told(small)
    await told(small, product_id="2", price=50_000, in_stock=False)
    await told(small, product_id="3", mall="mustit", brand="DIOR", brand_ko="디올", name="디올 롱패딩")
    await indexed(small)

    async def found(**query: Any) -> list[str]:
        return [item["product_id"] for item in (await search(small, **query))["items"]]

    assert [
        await found(q="롱패딩"),
        await found(keyword="롱패딩", min_price=100_000),
        await found(keyword="롱패딩", max_price=100_000),
        await found(keyword="롱패딩", brand=["디올", "없는 것"]),
        await found(mall="mustit"),
        await found(in_stock=False),
    ] == [["4711", "2", "3"], ["4711", "3"], ["2"], ["3"], ["3"], ["2"]]


async def test_answers_are_kept_under_readable_keys_and_forgotten_by_hand(small: Door) -> None:
    await told(small)
    await indexed(small)
    for query in ({"keyword": " 패딩 "}, {"q": "패딩", "brand": ["나이키"]}, {"keyword": "a:b%"}, {"keyword": "all"}):
        await search(small, **query)

    assert [await search(small, keyword="패딩") is not None, (await search(small, q="패딩"))["x-cache"]] == [
        True,
        "hit",
    ]
    stats = (await small.viewer.get("/cache/stats")).json()
    told_of = ("keys", "away", "hits", "misses", "hit_rate")
    assert [stats[name] for name in told_of] == [4, None, 2, 4, 2 / 6]

    gone = [(await small.operator.delete(f"/cache/{quote(word)}")).json() for word in ("패딩", "a:b%", "없음", "all")]
    assert gone == [{"forgotten": 2}, {"forgotten": 1}, {"forgotten": 0}, {"forgotten": 1}]
    audit = (await small.admin.get("/audit", params={"limit": 4})).json()["items"]
    assert [(one["action"], one["subject_id"]) for one in audit] == [
        ("cache.forget", word) for word in ("all", "없음", "a:b%", "패딩")
    ]


@pytest.mark.parametrize("path", ["t%2Fshirt%2F", "t/shirt/", "a%2Fall", "all%2F", "%2F"])
async def test_a_keyword_with_a_slash_is_forgotten_like_any(small: Door, path: str) -> None:
    await told(small)
    await indexed(small)
    for keyword in (unquote(path), "패딩", "all"):
        await search(small, keyword=keyword)

    gone = await small.operator.delete(f"/cache/{path}")

    assert (gone.status_code, gone.json()) == (200, {"forgotten": 1})
    kept = [(await search(small, keyword=word))["x-cache"] for word in (unquote(path), "패딩", "all")]
    assert kept == ["miss", "hit", "hit"]


async def test_a_cache_that_is_away_is_told_of_and_no_error(empty_sqlite: str, tmp_path: Path) -> None:
    async with opened(empty_sqlite, tmp_path, cache_url="redis://127.0.0.1:1") as door:
        padding = await told(door)
        await indexed(door)
        found = await search(door, keyword="패딩")
        assert ([one["id"] for one in found["items"]], found["x-cache"]) == ([padding["id"]], "away")
        await door.app.finder.index.delete([padding["id"]])
        verdict = await door.operator.post("/search/verify")
        assert (verdict.status_code, verdict.json()["repaired"]) == (200, 1)
        stats = await door.get("/cache/stats")

    away = stats.pop("away")
    assert away.startswith("the cache at redis://127.0.0.1:1 is away")
    assert stats == {
        "keys": None,
        "bytes": None,
        "hits": 0,
        "misses": 1,
        "hit_rate": 0.0,
        "served": {"hit": 0, "stale": 0, "miss": 0, "joined": 0, "away": 1},
    }


async def test_a_change_shows_at_once_in_answers_that_were_kept(door: Door) -> None:
    padding = await told(door)
    await indexed(door)
    before = await search(door, keyword="패딩")

    await door.operator.patch(f"/products/{padding['id']}", json={"price": 99_000})
    await indexed(door)
    after = await search(door, keyword="패딩")
    assert (await door.operator.delete(f"/products/{padding['id']}")).status_code == 204
    await indexed(door)

    assert [one["items"][0]["price"] for one in (before, after)] == [129_000, 99_000]
    assert [one["x-cache"] for one in (before, after)] == ["miss", "miss"]
    assert (await search(door, keyword="패딩"))["items"] == []


@pytest.mark.parametrize(
    ("query", "field", "detail"),
    [
        ({"keyword": "a", "q": "b"}, "q", "keyword and q differ"),
        ({"min_price": 2, "max_price": 1}, "max_price", "max_price is below min_price"),
        ({"cursor": "nonsense"}, "cursor", "the cursor is none of this search"),
        ({"cursor": "WyJhIl0"}, "cursor", "the cursor is none of this search"),
        ({"sort": "cheap"}, "sort", None),
        ({"keyword": "가" * 201}, "keyword", None),
        ({"limit": 101}, "limit", None),
        ({"color": "red"}, "color", None),
    ],
)
async def test_what_cannot_be_asked_is_named(
    small: Door, query: dict[str, Any], field: str, detail: str | None
) -> None:
    await indexed(small)
    answer = await small.viewer.get("/search", params=query)

    problem = answer.json()
    assert (answer.status_code, problem["field"]) == (422, field)
    assert detail is None or problem["detail"].startswith(detail)


async def test_nothing_that_is_typed_is_taken_for_a_command(small: Door) -> None:
    """Signs that query languages know are letters here, or nothing."""
    await told(small)
    await indexed(small)
    for typed in (
        "name:*",
        '" OR "1"="1',
        "패딩) OR (*:*",
        "+-!(){}[]^~*?:\\/",
        '{"match_all":{}}',
        "'; drop table products",
    ):
        assert (await search(small, keyword=typed))["total"] <= 1
    assert (await search(small, keyword="*"))["items"] == []


async def test_metrics_tell_of_lag_and_answers(small: Door) -> None:
    await indexed(small)
    await told(small)
    for _ in range(3):
        await search(small, keyword="패딩")

    found = (await small.viewer.get("/metrics")).text.splitlines()

    assert [
        line for line in found if line.startswith(("bobusang_search_waiting", "bobusang_search_answers_total"))
    ] == [
        "bobusang_search_waiting 0.0",
        *(f'bobusang_search_answers_total{{served="{how}"}} {count}' for how, count in SERVED.items()),
    ]
    lag = next(float(line.split()[1]) for line in found if line.startswith("bobusang_search_lag_seconds"))
    assert 0 < lag < 60


async def test_a_command_leaves_the_index_to_a_program_that_runs_and_watches_it(small: Door) -> None:
    await told(small)
    waiting = {"number": 1, "under_way": True, "phase": "waiting", "done": 0, "total": 0, "error": None}
    done = waiting | {"under_way": False, "phase": "done", "done": 1, "total": 1}
    transport = httpx.ASGITransport(create_app(small.app, local=True))
    leader = Leader(small.app.engine.db, "upkeep")
    assert await leader.campaign()

    async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:

        async def watched() -> dict[str, Any]:
            found = await until(
                lambda: client.get("/search/status", params={"wait": 0.1}),
                lambda answer: not answer.json()["rebuild"]["under_way"],
            )
            return dict(found.json()["rebuild"])

        there = [(await who.post("/search/rebuild")).json() for who in (client, small.operator)]
        seen = (await client.get("/search/status", params={"wait": 0.1})).json()["rebuild"]
        await small.app.finder.rebuilding.heal()
        led = await watched()

        again = await client.post("/search/rebuild")
        await leader.resign()
        alone = await watched()

    assert (there, seen, led) == ([waiting, waiting], waiting, done)
    assert (again.status_code, again.json()) == (202, waiting | {"number": 2})
    assert alone == done | {"number": 2}


async def test_completions(small: Door) -> None:
    await told(small)
    await indexed(small)

    answer = (await small.viewer.get("/search/suggest", params={"q": "ㄴㅇ"})).json()

    assert {"text": "나이키", "kind": "brand", "count": 1} in answer["items"]
    assert (await small.viewer.get("/search/suggest", params={"q": ""})).status_code == 422


async def test_a_lost_index_is_said_and_made_anew(small: Door, tmp_path: Path) -> None:
    await told(small)
    await indexed(small)
    shutil.rmtree(tmp_path / FOLDER)
    lost = await small.viewer.get("/search", params={"keyword": "패딩"})
    status = (await small.viewer.get("/search/status")).json()

    begun = await small.operator.post("/search/rebuild")
    await small.app.finder.rebuilding.look()
    done = await until(
        lambda: small.viewer.get("/search/status", params={"wait": 1}),
        lambda answer: not answer.json()["rebuild"]["under_way"],
    )

    assert (lost.status_code, lost.json()["code"]) == (503, "unavailable")
    assert (status["products"], "there is no search index" in status["trouble"]) == (None, True)
    assert (begun.status_code, begun.json()["under_way"]) == (202, True)
    assert done.json() == {
        "products": 1,
        "trouble": None,
        "lag_seconds": 0.0,
        "waiting": 0,
        "paused": False,
        "last_error": "",
        "rebuild": {"number": 2, "under_way": False, "phase": "done", "done": 1, "total": 1, "error": None},
    }
    assert (await small.operator.post("/search/verify")).json() == {
        "compared": 1,
        "missing": 0,
        "extra": 0,
        "different": 0,
        "repaired": 0,
        "clean": True,
        "first": [],
    }
