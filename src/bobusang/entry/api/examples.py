"""An example for each value of the OpenAPI document that has none: one shop's, so that they fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bobusang.entry.api.described import operations

INSTANT = "2026-11-16T03:00:00Z"
DAY = "2026-11-16"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
OPAQUE = {"cursor"}
"""What only we can make has no example: whoever sent it would be refused."""
BY_NAME: dict[str, Any] = {
    "account": "main",
    "action": "product.change",
    "actor": "first",
    "batch_id": "20261116-1",
    "brand": "NIKE",
    "brand_ko": "나이키",
    "burst": 10,
    "cadence": "1d",
    "category": "의류 > 패딩",
    "ceiling": 190_000,
    "checksum": DIGEST,
    "color": "블랙",
    "company": "㈜럭스",
    "condition": "grade in ['A', 'B']",
    "contact": "김",
    "cron": "0 3 * * *",
    "currency": "KRW",
    "dialect": "sqlite",
    "email": "md@example.com",
    "endpoint": "item",
    "field": "price",
    "fingerprint": "3f1c9a",
    "floor": 99_000,
    "gender": "남성",
    "handler": "collect.fetch",
    "hash": DIGEST,
    "image": "https://www.okmall.com/4711.jpg",
    "key": "나이키(NIKE)",
    "list_price": 159_000,
    "mall": "okmall",
    "market": "buyma",
    "max": 190_000,
    "max_price": 200_000,
    "media": "text/html",
    "min": 99_000,
    "min_price": 100_000,
    "model": "DD1234-010",
    "name": "나이키 롱패딩",
    "name_en": "NIKE",
    "name_ko": "나이키",
    "next": "WyJwcm9kdWN0cyIsMTdd",
    "origin": "shop.yaml",
    "policy": "careful",
    "pool": "source:okmall",
    "prefix": "bobu_3f1c9a2",
    "price": 129_000,
    "product_id": "4711",
    "q": "패딩",
    "queue": "NORMAL",
    "rate": "9.4121",
    "reader": "okmall",
    "reason": "asked by the mall",
    "request_id": "5e1f9c0a7b3d4e2f8a6c1b9d0e7f3a52",
    "scope": "okmall",
    "secret": "at-least-16-letters",
    "seller": "luxboy",
    "seller_id": "luxboy",
    "sha256": DIGEST,
    "seller_name": "bobusang_tokyo",
    "shop_name": "BOBUSANG TOKYO",
    "size": "M",
    "sku": "okmall-4711",
    "source": "okmall",
    "step": "fetch",
    "stream": "item",
    "target": "나이키(NIKE)",
    "target_type": "brand",
    "target_url": "https://www.okmall.com/4711",
    "task_key": "4711",
    "term": "블랙",
    "text": "나이키 롱패딩",
    "timezone": "Asia/Seoul",
    "title": "나이키 롱패딩",
    "topic": "product.changed",
    "topics": "job.* product.changed",
    "translation": "ブラック",
    "type": "brand",
    "url": "https://www.okmall.com/4711",
    "user_agent": "Mozilla/5.0",
    "workflow": "collect",
}
BY_TYPE: dict[str, Any] = {"integer": 1, "number": 0.5, "string": "text", "boolean": True, "object": {}, "array": []}
BY_FORMAT = {"date-time": INSTANT, "date": DAY}
TYPES: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "string": (str,)}
SAID = ("example", "examples", "const", "enum", "$ref", "allOf", "oneOf")

Schema = dict[str, Any]


def fill(document: dict[str, Any]) -> None:
    """Give an example to each value that has none."""
    for schema in document["components"]["schemas"].values():
        for name, value in schema.get("properties", {}).items():
            _give(name, value, value)
    for operation in operations(document):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] not in OPAQUE and "example" not in parameter and "examples" not in parameter:
                _give(parameter["name"], parameter["schema"], parameter["schema"])


def _give(name: str, schema: Schema, into: Schema) -> None:
    kinds = list(_kinds(schema))
    if any(word in one for one in (schema, *kinds) for word in SAID) or not kinds or "default" in schema:
        return
    into["examples"] = [_example(name, kinds[0])]


def _kinds(schema: Schema) -> Iterator[Schema]:
    """What a value may be besides nothing."""
    return (one for one in schema.get("anyOf", [schema]) if one.get("type") != "null")


def _example(name: str, schema: Schema) -> Any:
    kind = schema.get("type")
    if kind == "array":
        return _items(name, schema)
    known = BY_NAME.get(name)
    if isinstance(known, TYPES.get(str(kind), ())):
        return known
    if kind == "string" and "format" in schema:
        return BY_FORMAT.get(schema["format"], BY_TYPE["string"])
    return BY_TYPE.get(str(kind), {})


def _items(name: str, schema: Schema) -> list[Any]:
    items = schema.get("items", {})
    return [] if any(word in items for word in SAID) or not items else [_example(name.removesuffix("s"), items)]
