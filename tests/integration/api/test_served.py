"""The API over real HTTP: a whole journey, bodies that are too large, headers."""

from __future__ import annotations

import asyncio
import io
import json
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.api.guard import LARGEST_BODY
from bobusang.entry.tables import Role
from bobusang.kit import log
from tests.integration.api.door import until
from tests.integration.api.serving import served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.integration.api.door import Door

YAML = """
workflow: 장터
steps:
  - {name: list, type: FETCH, handler: echo, mode: barrier}
  - {name: item, type: PARSE, handler: echo, input: {page: $.seen.page}}
"""


async def test_a_workflow_in_yaml_runs_over_http(door: Door) -> None:
    async with served(door.api, door.keys[Role.ADMIN]) as client, door.working():
        stored = await client.post("/workflows", content=YAML, headers={"content-type": "application/yaml"})
        assert (stored.status_code, stored.json()["name"], stored.json()["version"]) == (201, "장터", 1)
        made = await client.post("/jobs", json={"workflow": "장터", "input": {"page": 7}})
        path = f"/jobs/{made.json()['id']}"

        async def shown() -> dict[str, object]:
            found: dict[str, object] = (await client.get(path)).json()
            return found

        job = await until(shown, lambda job: job["completed_at"] is not None)
        assert job["status"] == "SUCCESS"
        lines = (await client.get(f"{path}/tasks")).json()["items"]
        assert [(task["step"], task["outcome"]) for task in lines] == [("item", "DONE"), ("list", "DONE")]
        item = (await client.get(f"/tasks/{lines[0]['id']}")).json()
        assert (item["input"], item["output"]) == ({"page": 7}, {"seen": {"page": 7}})
        health = (await client.get("/health")).json()
        assert (health["status"], health["workers"], health["database"]["dialect"]) == (
            "ok",
            1,
            door.app.engine.db.dialect,
        )


async def test_a_body_that_says_it_is_too_large_is_refused_unread(small: Door) -> None:
    async with served(small.api, small.keys[Role.ADMIN]) as client:
        body = json.dumps({"workflow": "shop", "input": {"a": "x" * 10_000_000}})
        answer = await client.post("/jobs", content=body, headers={"content-type": "application/json"})

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_body_is_refused_before_it_has_arrived(small: Door) -> None:
    """By its length alone: the rest of the ten megabytes is never sent."""
    async with served(small.api, small.keys[Role.ADMIN]) as client:
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(
            b"POST /jobs HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10000000\r\n\r\n{"
        )
        await writer.drain()
        status = await asyncio.wait_for(reader.readline(), 10)
        writer.close()

    assert status.split()[1] == b"413"


async def test_a_body_that_hides_its_length_is_cut_off(small: Door) -> None:
    sent = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"workflow": "shop", "input": {"a": "'
        for _ in range(200):
            sent += 64 * 1024
            yield b"x" * (64 * 1024)

    async with served(small.api, small.keys[Role.ADMIN]) as client:
        answer = await client.post("/jobs", content=parts(), headers={"content-type": "application/json"})
        raw = await client.post("/workflows", content=parts(), headers={"content-type": "application/yaml"})

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert (raw.status_code, raw.json()["code"]) == (413, "too_large")
    assert sent > LARGEST_BODY


async def test_every_answer_is_dressed(small: Door) -> None:
    async with served(small.api, small.keys[Role.ADMIN]) as client:
        answers = [await client.get(path) for path in ("/jobs", "/nothing", "/jobs/x", "/health/live", "/metrics")]
        docs = await client.get("/docs")
        across = await client.options(
            "/jobs", headers={"origin": "https://evil", "access-control-request-method": "GET"}
        )

    for answer in answers:
        assert {name: answer.headers.get(name) for name in ("x-frame-options", "cache-control", "referrer-policy")} == {
            "x-frame-options": "DENY",
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
        }
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "server" not in answer.headers
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)
    assert "content-security-policy" not in docs.headers
    assert "swagger" in docs.text
    assert across.status_code == 405
    assert not any(name.startswith("access-control") for name in across.headers)


@pytest.fixture
def log_stream() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    log.configure(stream=stream)
    yield stream
    log.configure()


async def test_the_log_has_a_line_with_the_request_id_and_no_secret(
    small: Door, capsys: pytest.CaptureFixture[str], log_stream: io.StringIO
) -> None:
    key = small.keys[Role.VIEWER]
    await small.viewer.get("/jobs?workflow=secret-query", headers={"x-request-id": "req.7"})
    await small.viewer.get("/jobs", headers={"x-request-id": "<script>" * 20})

    first, second = (json.loads(line) for line in log_stream.getvalue().splitlines() if '"api"' in line)
    assert {name: first[name] for name in ("event", "method", "path", "status", "request_id", "actor")} == {
        "event": "request",
        "method": "GET",
        "path": "/jobs",
        "status": 404,
        "request_id": "req.7",
        "actor": "the viewer",
    }
    assert "script" not in second["request_id"]
    captured = capsys.readouterr()
    assert key not in log_stream.getvalue() + captured.out + captured.err
