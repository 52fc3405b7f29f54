"""The OpenAPI document and what the API does: Schemathesis holds one to the other over HTTP, with every check on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

from tests.integration.api.holding import held_to_it, stocked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--phases", "examples,fuzzing", "--max-examples", "2"), id="everything a little"),
        pytest.param(("--phases", "coverage", "--include-path-regex", "^/(search|cache)"), id="search and cache whole"),
    ],
)
async def test_the_api_does_what_its_document_says(front: Shopfront, options: tuple[str, ...]) -> None:
    """`make soak` goes through all of it."""
    said = await held_to_it(await stocked(front), *options)

    assert said == "", said


def schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Every part of a document that has examples."""
    if isinstance(part, dict):
        if isinstance(part.get("examples"), list):
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from schemas(inner)


async def test_the_document_is_made_beside_the_loop_and_once_for_all_who_ask(small: Door) -> None:
    first, second = await asyncio.gather(*(small.stranger.get("/openapi.json") for _ in range(2)))

    assert first.json() == small.api.openapi()
    assert first.content == second.content


async def test_every_example_is_valid(small: Door) -> None:
    document = small.api.openapi()
    components = document["components"]

    wrong = [
        (schema, value)
        for schema in schemas(document)
        for value in schema["examples"]
        if not jsonschema_rs.is_valid(
            schema | ({"components": components} if "$ref" in str(schema) else {}), value, validate_formats=True
        )
    ]

    assert wrong == []


async def test_examples_of_whole_answers_and_bodies_are_valid(small: Door) -> None:
    document = small.api.openapi()
    found = [
        content
        for path in document["paths"].values()
        for operation in path.values()
        for part in (operation.get("requestBody", {}), *operation["responses"].values())
        for kind, content in part.get("content", {}).items()
        if "example" in content and kind == "application/json"
    ]

    wrong = [
        content["example"]
        for content in found
        if not jsonschema_rs.is_valid(content["schema"] | {"components": document["components"]}, content["example"])
    ]

    assert found
    assert wrong == []


async def test_every_value_but_a_cursor_has_an_example(small: Door) -> None:
    document = small.api.openapi()
    values = [
        (f"{model}.{name}", value)
        for model, schema in document["components"]["schemas"].items()
        for name, value in schema.get("properties", {}).items()
    ]
    values += [
        (f"{operation['operationId']}.{parameter['name']}", parameter["schema"] | parameter)
        for path in document["paths"].values()
        for operation in path.values()
        for parameter in operation.get("parameters", ())
        if parameter["name"] != "cursor"
    ]
    words = {"example", "examples", "default", "enum", "const", "$ref"}

    lacking = [
        name
        for name, value in values
        if not any(words & part.keys() for part in (value, value.get("items", {}), *value.get("anyOf", ())))
    ]

    assert lacking == []


async def test_each_operation_says_what_it_refuses_and_whom(small: Door) -> None:
    document = small.api.openapi()
    edit = document["paths"]["/products/{product_id}"]["patch"]
    found = document["paths"]["/search"]["get"]

    assert edit["description"].endswith("Role: `operator`")
    assert list(edit["responses"]) == [
        *("200", "400", "401", "403", "404", "409", "412", "413", "415", "422", "429", "503")
    ]
    assert list(edit["responses"]["200"]["headers"]) == ["ETag", "X-Request-ID"]
    assert list(found["responses"]) == ["200", "401", "404", "422", "429", "503"]
    assert list(document["components"]["responses"]["429"]["headers"]) == ["Retry-After", "X-Request-ID"]
    assert {kind for one in document["components"]["responses"].values() for kind in one["content"]} == {
        "application/problem+json"
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/products/1", "DELETE, GET, PATCH, PUT"),
        ("GET", "/held/approve", "POST"),
        ("PUT", "/products/export", "GET"),
        ("DELETE", "/products", "GET, POST"),
        ("TRACE", "/search", "GET"),
        ("POST", "/docs", "GET, HEAD"),
    ],
)
async def test_another_method_is_told_which_there_are(small: Door, method: str, path: str, allow: str) -> None:
    answer = await small.admin.request(method, path)

    assert (answer.status_code, answer.headers["allow"], answer.json()["code"]) == (405, allow, "not_allowed")
