"""The OpenAPI document as it goes out: each operation with the role it needs, all it may refuse, and its headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from bobusang.entry.api import desk, problems
from bobusang.entry.api.fields import LARGEST_ID
from bobusang.entry.api.resource import ANY
from bobusang.entry.tables import Role

MEANING = {
    "Allow": "the methods that this path knows",
    "Content-Disposition": "the name of the file",
    "ETag": "stands for what can be changed of this; If-Match takes it, and If-None-Match where there is one",
    "Location": "where it is found",
    "Retry-After": "come again after so many seconds",
    "WWW-Authenticate": "how to say who calls",
    "X-Cache": "whether the answer was kept (hit, stale, joined) or made (miss, away)",
    "X-Request-ID": "names the request in our log",
}
REFUSED = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
ANSWERED = {
    "show_product": ["ETag"],
    "put_product": ["ETag", "Location"],
    "edit_product": ["ETag"],
    "replace_product": ["ETag"],
    "unlock_product": ["ETag"],
    "restore_product": ["ETag"],
    "add_seller": ["ETag", "Location"],
    **{f"{verb}_seller": ["ETag"] for verb in ("show", "change", "replace", "pause", "resume", "disable")},
    "search_products": ["X-Cache"],
    "export_products": ["Content-Disposition"],
    "export_glossary": ["Content-Disposition"],
    "export_mapping": ["Content-Disposition"],
    "export_sheet": ["Content-Disposition"],
    "download_raw": ["Content-Disposition"],
    "fetch_media": ["ETag"],
}
FILES = {
    "export_glossary": "text/csv",
    "export_mapping": "text/csv",
    "export_sheet": "text/csv",
    "download_raw": "text/plain",
    "fetch_media": "image/*",
    "metrics": "text/plain",
}
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
MORE = {
    "fetch_masters": {502},  # asks a market
    "receive_webhook": {401},  # signed, without a key
    "verify_index": {502},  # an index may be lost
    "rebuild_index": {502},
}
ALWAYS = (422, 503)
WITH_KEY = (401, 429)
WITH_BODY = (400, 413, 415)

Operation = dict[str, Any]


def roles(routes: Iterable[BaseRoute]) -> dict[str, Role]:
    """The role that each operation needs, by its name; those that are not here need none."""
    found = ((route.name, _role(route)) for route in routes if isinstance(route, APIRoute))
    return {name: role for name, role in found if role is not None}


def _role(route: APIRoute) -> Role | None:
    needed = (desk.ROLES.get(part.call) for part in route.dependant.dependencies if part.call is not None)
    return next((role for role in needed if role is not None), None)


def describe(document: dict[str, Any], needed: Mapping[str, Role]) -> None:
    """Say of each operation what routes do not say themselves."""
    used: set[int] = set()
    for operation in operations(document):
        name = operation["operationId"]
        role = needed.get(name)
        if role is not None:
            operation["description"] = f"{operation.get('description', '')}\n\nRole: `{role}`".strip()
        answers = operation["responses"]
        answers.pop(ANY, None)
        for answer in answers.values():
            answer["headers"] = _headers(*ANSWERED.get(name, ()))
            for content in answer.get("content", {}).values():
                if "$ref" in content.get("schema", {}):
                    content["schema"].pop("type", None)  # FastAPI takes whatever is not JSON for a text
        if name in FILES:
            answers["200"]["content"] = {FILES[name]: {"schema": {"type": "string"}}}
        for status in sorted(refusals(operation, role)):
            answers.setdefault(str(status), {"$ref": f"#/components/responses/{status}"})
            used.add(status)
    _exact(document["components"])
    _exact(document["paths"])
    document["components"]["responses"] = {str(status): _refusal(status) for status in sorted(used)}


def _exact(part: Any) -> None:
    """Bounds of whole numbers as whole numbers: as fractions the largest id is one too large."""
    match part:
        case {"type": "integer"}:
            for name in BOUNDS & part.keys():
                part[name] = min(int(part[name]), LARGEST_ID)
        case dict():
            for inner in part.values():
                _exact(inner)
        case list():
            for inner in part:
                _exact(inner)


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Each operation of a document."""
    for path in document["paths"].values():
        yield from path.values()


def refusals(operation: Operation, role: Role | None) -> set[int]:
    """The statuses by which an operation may refuse."""
    found = {*ALWAYS}
    given = [(one["in"], one["name"]) for one in operation.get("parameters", ())]
    body = "requestBody" in operation
    if "security" in operation:
        found |= {*WITH_KEY}
    if role not in (None, Role.VIEWER):
        found |= {403, 409}
    if body:
        found |= {*WITH_BODY, 409}
    if body or given:
        found.add(404)
    if ("header", "if-match") in given:
        found.add(412)
    return found | MORE.get(operation["operationId"], set())


def _headers(*names: str) -> dict[str, Any]:
    return {
        name: {"description": MEANING[name], "required": True, "schema": {"type": "string"}}
        for name in (*names, "X-Request-ID")
    }


def _refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": problems.TITLES[status],
        "headers": _headers(*([REFUSED[status]] if status in REFUSED else [])),
        "content": {problems.MEDIA: {"schema": schema}},
    }
