"""Every change of the catalogue leaves its line in the audit log: who, what, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.wiring import prepare
from tests.integration.api.goods import PADDING

if TYPE_CHECKING:
    from tests.integration.api.door import Door

CHANGES: list[tuple[str, str, Any]] = [
    ("POST", "/products", PADDING),
    ("PATCH", "/products/{id}", {"price": 119_000}),
    ("PUT", "/products/{id}", {"name": "롱패딩"}),
    ("POST", "/products/{id}/unlock", {"fields": ["name"]}),
    ("DELETE", "/products/{id}", None),
    ("POST", "/products/{id}/restore", None),
    ("POST", "/sellers", {"seller_id": "luxboy"}),
    ("PATCH", "/sellers/{id}", {"name": "럭스보이"}),
    ("PUT", "/sellers/{id}", {"company": "㈜럭스"}),
    ("POST", "/sellers/{id}/pause", {"reason": "asked"}),
    ("POST", "/sellers/{id}/resume", None),
    ("POST", "/sellers/{id}/disable", None),
    ("DELETE", "/sellers/{id}", None),
    ("DELETE", "/cache/all", None),
]


async def test_every_change_leaves_its_line(door: Door) -> None:
    await prepare(door.app)
    await door.app.finder.rebuilding.heal()
    began = len((await door.get("/audit", limit=500))["items"])

    ids: dict[str, int] = {}
    for method, path, body in CHANGES:
        kind = path.split("/")[1]
        where = path.format(id=ids.get(kind))
        answer = await door.operator.request(method, where, **({} if body is None else {"json": body}))
        assert answer.status_code < 300, (method, where, answer.text)
        if answer.status_code == 201:
            ids[kind] = answer.json()["id"]

    lines = (await door.get("/audit", limit=500))["items"][::-1][began:]
    told = [(one["action"], one["subject_id"], one["before"] is not None, one["after"] is not None) for one in lines]
    assert {one["actor"] for one in lines} == {"the operator"}
    product, seller = str(ids["products"]), str(ids["sellers"])
    assert told == [
        ("product.add", product, False, True),
        ("product.change", product, True, True),
        ("product.replace", product, True, True),
        ("product.unlock", product, True, True),
        ("product.delete", product, True, False),
        ("product.restore", product, False, True),
        ("seller.add", seller, False, True),
        ("seller.change", seller, True, True),
        ("seller.change", seller, True, True),
        ("seller.pause", seller, True, True),
        ("seller.resume", seller, True, True),
        ("seller.disable", seller, True, True),
        ("seller.delete", seller, True, False),
        ("cache.forget", "all", False, False),
    ]
