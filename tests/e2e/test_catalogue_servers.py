"""The catalogue on servers: PostgreSQL or MariaDB for the truth, OpenSearch for searching, Redis for answers, and what
each of them being away does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bobusang import migrations
from tests.e2e.program import LIVELY, until, up
from tests.servers import opensearch
from tests.servers.redis import Redis
from tests.servers.server import wait_for
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.opensearch import OpenSearch

pytestmark = pytest.mark.xdist_group("e2e-catalogue")

PADDING = {"product_id": "4711", "name": "나이키 롱패딩", "brand": "NIKE", "price": 129_000, "currency": "KRW"}


@pytest.fixture(scope="module")
def cache() -> Iterator[Redis]:
    with started(Redis()) as server:
        yield server


@pytest.fixture
def address(own_opensearch: OpenSearch) -> Iterator[str]:
    with opensearch.fresh(own_opensearch.url) as url:
        yield url


@pytest.fixture(params=["postgres", "mariadb"])
def client(request: pytest.FixtureRequest, cache: Redis, address: str, tmp_path: Path) -> Iterator[httpx.Client]:
    """Of a program with an index that is there."""
    url: str = request.getfixturevalue(f"fresh_{request.param}")
    wait_for(migrations.upgrade(url))
    chosen = {
        "BOBUSANG_DATABASE_URL": url,
        "BOBUSANG_CACHE_URL": cache.url,
        "BOBUSANG_SEARCH_URL": address,
        "BOBUSANG_LOG_LEVEL": "WARNING",
    }
    with up(tmp_path, **LIVELY, **chosen) as program:
        headers = {"authorization": f"Bearer {program.token}"}
        with httpx.Client(base_url=program.url, headers=headers, timeout=60) as client:
            until(lambda: client.get("/search/status").json()["trouble"] is None, "an index")
            client.delete("/cache/all").raise_for_status()
            yield client


def ask(client: httpx.Client, keyword: str, **query: Any) -> tuple[dict[str, int], str]:
    """What is found, by number at the mall with its price, and how the answer came about."""
    answer = client.get("/search", params={"keyword": keyword, **query})
    assert answer.status_code == 200, answer.text
    return {one["product_id"]: one["price"] for one in answer.json()["items"]}, answer.headers["x-cache"]


def find(client: httpx.Client, keyword: str) -> dict[str, int]:
    return ask(client, keyword)[0]


def count(client: httpx.Client, served: str) -> float:
    line = f'bobusang_search_answers_total{{served="{served}"}} '
    return next(
        float(one.removeprefix(line)) for one in client.get("/metrics").text.splitlines() if one.startswith(line)
    )


def test_a_product_is_told_found_changed_and_deleted(client: httpx.Client) -> None:
    told = client.post("/products", json=PADDING).json()
    until(lambda: ask(client, "나이키패딩") == ({"4711": 129_000}, "hit"), "an answer with what was told that is kept")

    client.patch(f"/products/{told['id']}", json={"price": 99_000, "name": "나이키 울 코트"}).raise_for_status()
    until(lambda: find(client, "나이키코트") == {"4711": 99_000}, "finding what was changed")
    assert find(client, "나이키패딩") == {}

    client.post("/search/rebuild").raise_for_status()
    searched = 0
    while client.get("/search/status", params={"wait": 0.01}).json()["rebuild"]["under_way"]:
        assert ask(client, "코트", min_price=searched)[0] == {"4711": 99_000}
        searched += 1
    assert searched
    assert client.get("/search/status").json()["rebuild"]["phase"] == "done"

    client.delete(f"/products/{told['id']}").raise_for_status()
    until(lambda: find(client, "나이키코트") == {}, "finding no more what was deleted")
    verified = client.post("/search/verify", json={"repair": False}).json()
    assert (verified["compared"], verified["clean"]) == (0, True)


@pytest.mark.parametrize("client", ["postgres"], indirect=True)
def test_without_redis_answers_are_made_and_changes_show(client: httpx.Client, cache: Redis) -> None:
    told = client.post("/products", json=PADDING).json()
    until(lambda: ask(client, "롱패딩") == ({"4711": 129_000}, "hit"), "an answer that is kept")

    cache.stop(immediate=True)
    try:
        assert ask(client, "롱패딩") == ({"4711": 129_000}, "away")
        assert count(client, "away") == 1
        client.patch(f"/products/{told['id']}", json={"name": "나이키 울 코트"}).raise_for_status()
        until(lambda: find(client, "롱패딩") == {}, "a change that shows without the cache")
    finally:
        cache.start()

    until(lambda: ask(client, "나이키 코트") == ({"4711": 129_000}, "hit"), "answers that are kept again")
    until(lambda: find(client, "롱패딩") == {}, "the end of what the cache had kept")
    until(lambda: client.get("/search/status").json()["waiting"] == 0, "the end of all deliveries")
    assert ask(client, "롱패딩")[0] == {}


@pytest.mark.parametrize("client", ["postgres"], indirect=True)
def test_without_opensearch_changes_wait_and_are_found_when_it_is_back(
    client: httpx.Client, own_opensearch: OpenSearch
) -> None:
    told = client.post("/products", json=PADDING).json()
    until(lambda: find(client, "롱패딩") == {"4711": 129_000}, "finding what was told")

    own_opensearch.stop(immediate=True)
    try:
        refused = client.get("/search", params={"keyword": "나이키"})
        client.patch(f"/products/{told['id']}", json={"price": 99_000}).raise_for_status()
        until(lambda: client.get("/search/status").json()["waiting"] == 1, "a change that waits")
        status = client.get("/search/status").json()
    finally:
        own_opensearch.start()

    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.json()["detail"].startswith("BOBUSANG_SEARCH_URL")
    assert (status["products"], status["trouble"].startswith("BOBUSANG_SEARCH_URL")) == (None, True)
    until(lambda: find(client, "롱패딩") == {"4711": 99_000}, "finding what was changed")
