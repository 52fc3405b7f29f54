"""Products through the API, on all three databases: told, edited, locked, deleted, and what each leaves behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.catalogue import telling
from bobusang.kit.errors import Unavailable
from bobusang.stages.register.model import State
from tests.integration.api.goods import PADDING, acts, crawled, on_market, told, topics

if TYPE_CHECKING:
    import httpx

    from tests.integration.api.door import Door

SHOWN: dict[str, Any] = {
    "mall": "okmall",
    "product_id": "4711",
    "sku": "okmall-4711",
    "seller_id": None,
    "brand": "NIKE",
    "brand_ko": "나이키",
    "name": "나이키 롱패딩",
    "model": "DD1234-010",
    "price": 129_000,
    "list_price": None,
    "currency": "KRW",
    "url": "https://mall.example/4711",
    "image": "https://mall.example/4711.jpg",
    "in_stock": True,
    "listed": None,
    "category": "의류 > 패딩",
    "gender": None,
    "locked": [],
    "version": 1,
    "seller": {"id": None, "seller_id": "okmall", "name": None},
    "source": {},
}


def said(answer: httpx.Response) -> tuple[int, str, str | None, str]:
    """Status, code, field and words of a problem document."""
    problem = answer.json()
    return answer.status_code, problem["code"], problem.get("field"), problem["detail"]


async def test_a_product_is_made_once_and_changed_by_its_key(door: Door) -> None:
    made = await door.operator.post("/products", json=PADDING)
    found = made.json()
    assert (made.status_code, made.headers["location"]) == (201, f"/products/{found['id']}")
    assert {name: found[name] for name in SHOWN} == SHOWN
    shown = await door.viewer.get(f"/products/{found['id']}")
    assert (shown.json(), shown.headers["etag"]) == (found, made.headers["etag"])

    again = await door.operator.post("/products", json=PADDING)
    assert (again.status_code, again.json()) == (200, found)
    cheaper = await door.operator.post("/products", json={"mall": "okmall", "product_id": "4711", "price": 99_000})
    assert (cheaper.status_code, cheaper.json()["price"], cheaper.json()["name"]) == (200, 99_000, "나이키 롱패딩")

    assert await topics(door) == [("product.changed", "okmall:4711")] * 2
    assert await topics(door, "source.") == [("source.registered", "okmall:4711"), ("source.changed", "okmall:4711")]
    assert [(action, after) for action, _, after in await acts(door, found["id"])][1:] == [
        ("product.change", {"price": 99_000})
    ]


async def test_what_is_told_has_a_past_like_what_is_collected(door: Door) -> None:
    made = await told(door)
    await told(door, price=99_000)

    versions = (await door.get(f"/products/{made['id']}/history"))["items"]
    assert [(one["version"], one["changes"]) for one in versions] == [
        (2, [{"field": "price", "group": "price", "old": 129_000, "new": 99_000}]),
        (1, []),
    ]
    difference = await door.get(f"/products/{made['id']}/diff")
    assert (difference["from_version"], difference["to_version"], len(difference["changes"])) == (1, 2, 1)
    story = await door.get(f"/records/{made['id']}/fields/price")
    assert (story["value"], story["stream"], story["reader"]) == (99_000, "api", "api by the operator")
    assert await door.get(f"/products/{made['id']}/listings") == {"items": [], "next": None}
    assert await door.get(f"/products/{made['id']}/receipt") == {"items": [], "next": None}
    unpriced = await door.viewer.get(f"/products/{made['id']}/explain")
    assert unpriced.status_code == 404


async def test_a_product_is_found_by_its_address(door: Door) -> None:
    made = await told(door)
    body = {"url": PADDING["url"], "price": 99_000}
    changed = await door.operator.post("/products", json=body)
    assert (changed.status_code, changed.json()["id"], changed.json()["price"]) == (200, made["id"], 99_000)

    new = await door.operator.post("/products", json={"url": "https://mall.example/other", "name": "코트"})
    same = await door.operator.post("/products", json={"url": "https://mall.example/other", "name": "긴 코트"})
    assert (new.status_code, new.json()["mall"], same.status_code) == (201, "manual", 200)
    assert (new.json()["id"], same.json()["name"]) == (same.json()["id"], "긴 코트")

    await told(door, product_id="4712")
    twice = await door.operator.post("/products", json=body)
    assert said(twice) == (409, "conflict", "url", "okmall/4711 and okmall/4712 have this url")


async def test_what_a_person_edits_is_locked_against_the_crawler_until_it_is_unlocked(door: Door) -> None:
    id = await crawled(door, "A1", name="롱패딩", price=129_000, currency="KRW")
    edited = await door.operator.patch(f"/products/{id}", json={"price": 119_000})
    assert (edited.json()["price"], edited.json()["locked"], edited.json()["source"]) == (
        119_000,
        ["price"],
        {"price": 129_000},
    )
    await crawled(door, "A1", name="긴 롱패딩", price=139_000, currency="KRW")
    found = await door.get(f"/products/{id}")
    assert (found["name"], found["price"], found["source"]) == ("긴 롱패딩", 119_000, {"price": 139_000})

    loose = await door.operator.post(f"/products/{id}/unlock", json={"fields": ["name"]})
    assert said(loose) == (409, "conflict", "fields", f"name of product {id} is not locked")
    free = (await door.operator.post(f"/products/{id}/unlock")).json()
    assert (free["price"], free["locked"], free["source"]) == (139_000, [], {})
    assert await acts(door, id) == [
        ("product.change", {"price": 129_000, "locked": []}, {"price": 119_000, "locked": ["price"]}),
        ("product.unlock", {"price": 119_000, "locked": ["price"]}, {"price": 139_000, "locked": []}),
    ]
    assert await topics(door) == [("product.changed", "okmall:A1")] * 2


async def test_a_replacement_is_all_that_a_person_says(door: Door) -> None:
    id = await crawled(door, "A1", name="롱패딩", price=129_000, brand="NIKE")
    await door.operator.patch(f"/products/{id}", json={"name": "패딩", "price": 1})

    found = (await door.operator.put(f"/products/{id}", json={"price": 2, "gender": None})).json()

    told_of = {name: found[name] for name in ("name", "price", "brand", "locked", "source")}
    assert told_of == {
        "name": "롱패딩",
        "price": 2,
        "brand": "NIKE",
        "locked": ["gender", "price"],
        "source": {"gender": None, "price": 129_000},
    }
    bare = (await door.operator.put(f"/products/{id}", json={})).json()
    assert (bare["price"], bare["locked"]) == (129_000, [])


async def test_an_update_that_would_be_lost_is_refused(door: Door) -> None:
    made = await told(door)
    path = f"/products/{made['id']}"
    seen = (await door.viewer.get(path)).headers["etag"]
    first = await door.operator.patch(path, json={"price": 1}, headers={"if-match": seen})
    assert first.status_code == 200

    late = await door.operator.patch(path, json={"price": 2}, headers={"if-match": seen})
    assert said(late) == (412, "outdated", "If-Match", "it has changed since you read it")
    gone = await door.operator.delete(path, headers={"if-match": seen})
    assert gone.status_code == 412
    now = first.headers["etag"]
    known = await door.viewer.get(path, headers={"if-none-match": now})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", now)
    for header in (f'"x", {now}', "*"):
        assert (await door.operator.patch(path, json={"price": 1}, headers={"if-match": header})).status_code == 200


async def test_of_many_who_saw_the_same_one_goes_through(door: Door) -> None:
    made = await told(door)
    path = f"/products/{made['id']}"
    seen = {"if-match": (await door.viewer.get(path)).headers["etag"]}

    answers = await asyncio.gather(
        *(door.operator.patch(path, json={"price": price}, headers=seen) for price in range(1, 9))
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    (through,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert await door.get(path) == through


async def test_a_request_that_names_itself_is_done_once(door: Door) -> None:
    named = {"idempotency-key": "order-17"}
    answers = await asyncio.gather(*(door.operator.post("/products", json=PADDING, headers=named) for _ in range(4)))
    later = await door.operator.post("/products", json=PADDING, headers=named)

    assert [answer.status_code for answer in (*answers, later)] == [201] * 5
    assert len({answer.content for answer in (*answers, later)}) == 1
    assert len({answer.headers["etag"] for answer in (*answers, later)}) == 1
    assert (later.headers["idempotency-replayed"], later.headers["location"]) == (
        "true",
        f"/products/{later.json()['id']}",
    )
    other = await door.operator.post("/products", json=PADDING | {"price": 1}, headers=named)
    assert said(other) == (
        422,
        "invalid",
        "Idempotency-Key",
        "the Idempotency-Key 'order-17' was used for another request",
    )
    theirs = await door.admin.post("/products", json=PADDING | {"price": 1}, headers=named)
    assert (theirs.status_code, theirs.json()["price"]) == (200, 1)
    namesake = (await door.admin.post("/api-keys", json={"name": "the operator", "role": "operator"})).json()["key"]
    bearer = named | {"authorization": f"Bearer {namesake}"}
    another = await door.stranger.post("/products", json=PADDING | {"price": 2}, headers=bearer)
    assert (another.status_code, another.json()["price"]) == (200, 2)


async def test_what_was_refused_is_tried_again_under_the_same_name(door: Door) -> None:
    named = {"idempotency-key": "x"}
    gone = await told(door)
    await door.operator.delete(f"/products/{gone['id']}")
    refused = await door.operator.post("/products", json=PADDING, headers=named)
    assert said(refused) == (409, "conflict", "product_id", f"product {gone['id']} (okmall/4711) was deleted")

    await door.operator.post(f"/products/{gone['id']}/restore")

    assert (await door.operator.post("/products", json=PADDING, headers=named)).status_code == 200


async def test_what_was_deleted_does_not_come_back_by_a_crawl(door: Door) -> None:
    id = await crawled(door, "A1", name="롱패딩", price=129_000)
    await door.operator.patch(f"/products/{id}", json={"name": "패딩"})

    assert (await door.operator.delete(f"/products/{id}")).status_code == 204

    await crawled(door, "A1", name="긴 롱패딩", price=99_000)
    missing = await door.viewer.get(f"/products/{id}")
    assert said(missing) == (404, "missing", "product_id", f"product {id} was deleted")
    assert (await door.get("/products"))["items"] == []
    assert [one["version"] for one in (await door.get(f"/products/{id}/history"))["items"]] == [2, 1]
    for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/unlock"), ("PUT", "")):
        body = {"json": {"price": 1}} if method in ("PATCH", "PUT") else {}
        assert (await door.operator.request(method, f"/products/{id}{path}", **body)).status_code == 404  # type: ignore[arg-type]

    back = (await door.operator.post(f"/products/{id}/restore")).json()
    assert (back["name"], back["price"], back["locked"], back["version"]) == ("긴 롱패딩", 99_000, [], 2)
    again = await door.operator.post(f"/products/{id}/restore")
    assert said(again)[:2] == (409, "conflict")
    assert [one[0] for one in await topics(door)] == ["product.changed", "product.deleted", "product.changed"]
    assert [action for action, _, _ in await acts(door, id)] == ["product.change", "product.delete", "product.restore"]


async def test_what_was_deleted_does_not_come_back_by_its_address(door: Door) -> None:
    url = "https://mall.example/p/1"
    id = await crawled(door, "A1", name="롱패딩", price=129_000, url=url)
    await door.operator.delete(f"/products/{id}")

    answers = [
        await door.operator.post("/products", json=body) for body in ({"url": url}, {"url": url, "mall": "okmall"})
    ]
    assert [said(answer) for answer in answers] == [
        (409, "conflict", "product_id", f"product {id} (okmall/A1) was deleted")
    ] * 2
    assert (await door.get("/products"))["items"] == []

    await door.operator.post(f"/products/{id}/restore")
    again = await door.operator.post("/products", json={"url": url, "price": 5})
    assert (again.status_code, again.json()["id"]) == (200, id)
    await door.operator.delete(f"/products/{id}")
    other = (await door.operator.post("/products", json={"product_id": "mine", "url": url})).json()
    found = await door.operator.post("/products", json={"url": url, "price": 7})
    assert (found.status_code, found.json()["id"]) == (200, other["id"])


@pytest.mark.parametrize("state", [State.LIVE, State.SENT, State.SUSPENDED])
async def test_a_product_that_a_market_has_stays(small: Door, state: State) -> None:
    made = await told(small)
    await on_market(small, made, state)

    refused = await small.operator.delete(f"/products/{made['id']}")

    words = f"product {made['id']} is on a market: listing B77 is {state}"
    assert said(refused) == (409, "conflict", "product_id", words)
    assert (await small.get(f"/products/{made['id']}"))["id"] == made["id"]


@pytest.mark.parametrize("state", [State.DELETED, State.REJECTED])
async def test_a_product_that_no_market_has_any_more_may_go(door: Door, state: State) -> None:
    made = await told(door)
    await on_market(door, made, state)

    assert (await door.operator.delete(f"/products/{made['id']}")).status_code == 204


async def test_an_error_in_the_middle_leaves_nothing_behind(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last thing that a change does is to publish it."""

    async def fail(*_: Any) -> None:
        raise Unavailable("the disk is full")

    before = await told(door)
    stood = (await topics(door, ""), await acts(door, before["id"]))
    monkeypatch.setattr(telling, "publish", fail)
    path, named = f"/products/{before['id']}", {"idempotency-key": "x"}
    answers = [
        await door.operator.post("/products", json=PADDING | {"price": 1}, headers=named),
        await door.operator.post("/products", json=PADDING | {"product_id": "new"}),
        await door.operator.patch(path, json={"price": 1}),
        await door.operator.put(path, json={"price": 1}),
        await door.operator.delete(path),
    ]
    monkeypatch.undo()

    assert [answer.status_code for answer in answers] == [503] * 5
    assert await door.get(path) == before
    assert [one["id"] for one in (await door.get("/products"))["items"]] == [before["id"]]
    assert (await topics(door, ""), await acts(door, before["id"])) == stood
    assert [one["version"] for one in (await door.get(f"{path}/history"))["items"]] == [1]
    retried = await door.operator.post("/products", json=PADDING | {"price": 1}, headers=named)
    assert (retried.status_code, retried.json()["price"]) == (200, 1)


async def test_every_product_knows_its_seller(door: Door) -> None:
    from bobusang.wiring import prepare

    await prepare(door.app)
    seller = await door.operator.post("/sellers", json={"seller_id": "luxboy", "name": "럭스보이"})
    mine = await told(door, mall="mustit", seller_id="luxboy")
    stranger = await told(door, mall="mustit", product_id="4712", seller_id="dmont", url="https://mall.example/2")

    assert mine["seller"] == {"id": seller.json()["id"], "seller_id": "luxboy", "name": "럭스보이"}
    assert stranger["seller"] == {"id": None, "seller_id": "dmont", "name": None}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing that names it": ({"name": "x"}, "product_id"),
    "a mall that is none": ({"mall": "OK mall", "product_id": "1"}, "mall"),
    "a price below nothing": ({"product_id": "1", "price": -1}, "price"),
    "a price in words": ({"product_id": "1", "price": "12,000"}, "price"),
    "an address of another kind": ({"product_id": "1", "url": "javascript:alert(1)"}, "url"),
    "a currency that is none": ({"product_id": "1", "currency": "won"}, "currency"),
    "a field that nobody knows": ({"product_id": "1", "colour": "red"}, "colour"),
    "a NUL": ({"product_id": "1", "name": "a\0b"}, "name"),
    "a picture that is none": ({"product_id": "1", "images": ["x"]}, "images[0]"),
    "an option without a code": ({"product_id": "1", "options": [{"size": "M"}]}, "options[0].code"),
}


@pytest.mark.parametrize("case", list(WRONG))
async def test_what_is_wrong_is_named(small: Door, case: str) -> None:
    body, field = WRONG[case]

    answer = await small.operator.post("/products", json=body)

    assert said(answer)[:3] == (422, "invalid", field)
    assert (await small.get("/products"))["items"] == []


async def test_an_edit_lets_the_conveyor_look_again(small: Door) -> None:
    """It goes by versions, and an edit makes none."""
    from bobusang.kit.sql import Statement

    made = await told(small)
    db = small.app.engine.db

    async def fill(tx: Any) -> None:
        await tx.execute(
            Statement("""insert into conveyor_marks (product_id, market, version, stamp, model, due_at, marked_at)
              values (:id, 'buyma', 1, 'x', 'x', :now, :now)"""),
            id=made["id"],
            now=tx.now,
        )
        await tx.execute(
            Statement("""insert into conversions (product_id, market, source_version, converter_version, state, reasons,
              created_at, updated_at) values (:id, 'buyma', 1, '1', 'READY', '[]', :now, :now)"""),
            id=made["id"],
            now=tx.now,
        )

    await db.transact(fill)
    await small.operator.patch(f"/products/{made['id']}", json={"name": "패딩"})

    async with db.read() as tx:
        marks = await tx.fetch(Statement("select product_id from conveyor_marks"))
        made_of = await tx.value(Statement("select source_version as value from conversions"))
    assert (list(marks), made_of) == ([], 0)
