"""How often a key may call, counted here or in Redis, and which other sites' pages may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.api.door import opened

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = {"origin": "https://shop.example"}
PREFLIGHT = ORIGIN | {"access-control-request-method": "PATCH", "access-control-request-headers": "if-match"}


@pytest.mark.parametrize("counter", ["here", "redis", "redis away"])
async def test_a_key_that_calls_too_often_is_told_when_to_come_again(
    empty_sqlite: str, tmp_path: Path, redis_url: str, counter: str
) -> None:
    limiter = {"here": "", "redis": redis_url, "redis away": "redis://127.0.0.1:1/0"}[counter]
    async with opened(empty_sqlite, tmp_path, api_rate=20, limiter_url=limiter) as door:
        statuses = [(await door.viewer.get("/products")).status_code for _ in range(2)]
        refused = await door.viewer.get("/products")
        other = await door.operator.get("/products")
        free = await door.viewer.get("/health/live")

    assert (statuses, other.status_code, free.status_code) == ([200, 200], 200, 200)
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (429, "throttled")
    assert problem["detail"] == "the key 'the viewer' has made its 20 calls a minute"
    assert 1 <= int(refused.headers["retry-after"]) <= 4


async def test_no_rate_is_no_limit(empty_sqlite: str, tmp_path: Path) -> None:
    async with opened(empty_sqlite, tmp_path, api_rate=0) as door:
        assert {(await door.viewer.get("/products")).status_code for _ in range(20)} == {200}


async def test_pages_of_other_sites_may_not_call(empty_sqlite: str, tmp_path: Path) -> None:
    async with opened(empty_sqlite, tmp_path) as door:
        answer = await door.viewer.get("/products", headers=ORIGIN)
        asked = await door.stranger.options("/products", headers=PREFLIGHT)

    assert "access-control-allow-origin" not in {*answer.headers, *asked.headers}
    assert asked.status_code == 405


async def test_pages_of_the_sites_that_are_named_may(empty_sqlite: str, tmp_path: Path) -> None:
    origins = "https://other.example, https://shop.example/"
    async with opened(empty_sqlite, tmp_path, cors_origins=origins) as door:
        answer = await door.viewer.get("/products", headers=ORIGIN)
        asked = await door.stranger.options("/products", headers=PREFLIGHT)
        stranger = await door.viewer.get("/products", headers={"origin": "https://evil.example"})

    assert answer.headers["access-control-allow-origin"] == "https://shop.example"
    assert "ETag" in answer.headers["access-control-expose-headers"]
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, "https://shop.example")
    assert "access-control-allow-origin" not in stranger.headers
