"""What is asked most goes a shorter way, and nobody can tell: status, headers and body are those of the usual one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.entry.api.express import Express
from bobusang.entry.tables import Role
from tests.integration.api.goods import told
from tests.integration.api.test_search import indexed

if TYPE_CHECKING:
    import httpx

    from tests.integration.api.door import Door

OWN = {"x-request-id": "r"}


def seen(answer: httpx.Response) -> tuple[int, dict[str, str], Any]:
    return answer.status_code, dict(answer.headers), answer.content


async def both(door: Door, path: str, **headers: str) -> list[tuple[int, dict[str, str], Any]]:
    """The same request by the short way and by the usual one: only `Bearer` as we write it is plain."""
    key = door.keys[Role.VIEWER]
    answers = [
        await door.stranger.get(path, headers={"authorization": f"{scheme} {key}", **OWN, **headers})
        for scheme in ("Bearer", "bearer")
    ]
    return [seen(answer) for answer in answers]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The statuses that the short way has answered with."""
    found: list[int] = []
    usual = Express._served

    async def noted(self: Express, scope: Any) -> Any:
        answer = await usual(self, scope)
        if answer is not None:
            found.append(answer.status_code)
        return answer

    monkeypatch.setattr(Express, "_served", noted)
    return found


async def test_a_product_is_the_same_either_way(small: Door, served: list[int]) -> None:
    product = await told(small)
    path = f"/products/{product['id']}"

    short, usual = await both(small, path)
    again, as_usual = await both(small, path, **{"if-none-match": short[1]["etag"]})
    none, at_all = await both(small, "/products/999999")

    assert (short, again, none) == (usual, as_usual, at_all)
    assert served == [200, 304, 404]


async def test_a_search_is_the_same_either_way_once_its_words_were_read(small: Door, served: list[int]) -> None:
    await told(small)
    await indexed(small)
    path = "/search?keyword=express&min_price=0"
    await small.viewer.get(path)

    short, usual = await both(small, path)

    assert short == usual
    assert short[1]["x-cache"] == "hit"
    assert served == [200]


async def test_what_is_not_plain_is_refused_as_ever(small: Door, served: list[int]) -> None:
    product = await told(small)
    path = f"/products/{product['id']}"

    refused = [
        await small.stranger.get(path),
        await small.stranger.get(path, headers={"authorization": "Bearer bobu_nobody"}),
        await small.viewer.get("/products/0"),
        await small.viewer.get("/products/07x"),
        await small.viewer.get("/search?keyword=x&colour=red"),
        await small.viewer.delete(path),
    ]

    assert [answer.status_code for answer in refused] == [401, 401, 422, 422, 422, 403]
    assert served == []


async def test_metrics_know_the_route_either_way(small: Door) -> None:
    product = await told(small)
    await both(small, f"/products/{product['id']}")

    text = (await small.viewer.get("/metrics")).text

    assert 'bobusang_http_seconds_count{method="GET",route="/products/{product_id}",status="200"} 2.0' in text
