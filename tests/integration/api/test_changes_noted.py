"""Every change of the catalogue leaves its line in the audit log: who, what, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.wiring import prepare
from tests.integration.api.goods import PADDING

if TYPE_CHECKING:
    from tests.integration.api.door import Door

CHANGES: list[tuple[str, str, Any]] = [
    ("POST", "/products", PADDING),
    ("PATCH", "/products/1", {"price": 119_000}),
    ("PUT", "/products/1", {"name": "롱패딩"}),
    ("POST", "/products/1/unlock", {"fields": ["name"]}),
    ("DELETE", "/products/1", None),
    ("POST", "/products/1/restore", None),
    ("POST", "/sellers", {"seller_id": "luxboy"}),
    ("PATCH", "/sellers/1", {"name": "럭스보이"}),
    ("PUT", "/sellers/1", {"company": "㈜럭스"}),
    ("POST", "/sellers/1/pause", {"reason": "asked"}),
    ("POST", "/sellers/1/resume", None),
    ("POST", "/sellers/1/disable", None),
    ("DELETE", "/sellers/1", None),
    ("DELETE", "/cache/all", None),
]


async def test_every_change_leaves_its_line(door: Door) -> None:
    await prepare(door.app)
    await door.app.finder.rebuilding.heal()
    began = len((await door.get("/audit", limit=500))["items"])

    for method, path, body in CHANGES:
        answer = await door.operator.request(method, path, **({} if body is None else {"json": body}))
        assert answer.status_code < 300, (method, path, answer.text)

    lines = (await door.get("/audit", limit=500))["items"][::-1][began:]
    told = [(one["action"], one["subject_id"], one["before"] is not None, one["after"] is not None) for one in lines]
    assert {one["actor"] for one in lines} == {"the operator"}
    assert told == [
        ("product.add", "1", False, True),
        ("product.change", "1", True, True),
        ("product.replace", "1", True, True),
        ("product.unlock", "1", True, True),
        ("product.delete", "1", True, False),
        ("product.restore", "1", False, True),
        ("seller.add", "1", False, True),
        ("seller.change", "1", True, True),
        ("seller.change", "1", True, True),
        ("seller.pause", "1", True, True),
        ("seller.resume", "1", True, True),
        ("seller.disable", "1", True, True),
        ("seller.delete", "1", True, False),
        ("cache.forget", "all", False, False),
    ]
