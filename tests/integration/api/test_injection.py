"""Whatever is typed into a text of the catalogue is a text: on three databases nothing of it is ever run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.wiring import prepare
from tests.integration.api.goods import told

if TYPE_CHECKING:
    from tests.integration.api.door import Door

HOSTILE = [
    "' OR '1'='1",
    "' OR 1=1 -- ",
    '" OR ""="',
    "`; DROP TABLE products; --",
    "1); DELETE FROM products; --",
    "' UNION SELECT hash FROM api_keys -- ",
    "\\' OR 1=1 #",
    "%' OR name LIKE '%",
    "$$; SELECT pg_sleep(9) $$",
    "%s %(name)s :id ? $1 {0}",
    '{"match_all": {}}',
    '{"query_string": {"query": "*:*"}}',
    "*:* OR mall:[* TO *]",
    "zz~2 && /.*/ ^9 +-!(){}",
]
"""Of SQL as three databases speak it, and of what search engines are asked in."""
PATHS = ("/products", "/sellers", "/search")
TEXTS = [
    *((path, name) for path in ("/products", "/products/export") for name in ("product_id", "brand", "seller")),
    *((path, name) for path in ("/products", "/products/export") for name in ("category", "fields", "mall", "url")),
    *(("/sellers", name) for name in ("mall", "seller_id", "q", "status")),
    *(("/search", name) for name in ("keyword", "q", "brand", "mall", "sort")),
    *((path, "cursor") for path in PATHS),
    ("/search/suggest", "q"),
]


async def stocked(door: Door) -> list[dict[str, Any]]:
    await prepare(door.app)
    made = [await told(door), await told(door, product_id="4712", name="첼시 부츠", brand="DIOR", url=None)]
    await sells(door, "luxboy")
    await door.app.finder.rebuilding.heal()
    return made


async def sells(door: Door, seller_id: str) -> None:
    answer = await door.operator.post("/sellers", json={"mall": "mustit", "seller_id": seller_id})
    assert answer.status_code == 201, answer.text


def shown(answer: Any) -> list[Any]:
    """What an answer lists, of whichever kind it is."""
    if answer.headers["content-type"].startswith("text/csv"):
        return list(answer.text.strip().splitlines()[1:])
    items: list[Any] = answer.json()["items"]
    return items


async def test_a_text_that_is_asked_for_finds_only_itself(door: Door) -> None:
    made = await stocked(door)

    for path, name in TEXTS:
        for text in HOSTILE:
            answer = await door.viewer.get(path, params={name: text})
            assert answer.status_code in (200, 422), (path, name, text, answer.text)
            if answer.status_code == 200:
                assert shown(answer) == [], (path, name, text)

    assert [line["id"] for line in (await door.get("/products"))["items"]] == [one["id"] for one in made]
    assert len((await door.get("/sellers"))["items"]) == 1


@pytest.mark.parametrize("wild", ["%", "_", "\\", "*", "?"])
async def test_signs_that_stand_for_others_stand_for_themselves(door: Door, wild: str) -> None:
    await stocked(door)
    await sells(door, f"a{wild}b")

    found = await door.get("/sellers", q=wild)

    assert [one["seller_id"] for one in found["items"]] == [f"a{wild}b"]
    assert (await door.get("/products", brand=wild))["items"] == []
    assert (await door.get("/products", category=wild))["items"] == []


async def test_a_text_that_is_told_comes_back_as_it_went_and_is_found(door: Door) -> None:
    await stocked(door)

    for number, text in enumerate(HOSTILE):
        texts = dict.fromkeys(("name", "brand", "brand_ko", "model", "category", "seller_id"), text)
        texts["product_id"] = f"{number}{text}"
        one = await told(door, **texts, url=None)
        assert {name: one[name] for name in texts} == texts
        listed = (await door.get("/products", product_id=texts["product_id"], brand=text, category=text))["items"]
        assert [line["id"] for line in listed] == [one["id"]]
        edited = await door.operator.patch(f"/products/{one['id']}", json={"name": f"{text}!"})
        assert edited.json()["name"] == f"{text}!"

    assert len((await door.get("/products"))["items"]) == len(HOSTILE) + 2
