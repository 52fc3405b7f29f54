"""The glossary: terms come before the shipped ones, go out and come back as a file, and each change is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.stages.convert.glossary import shipped
from tests.integration.api.test_pages import turned

if TYPE_CHECKING:
    from tests.integration.api.door import Door

CSV = {"content-type": "text/csv"}
HEAD = "term,translation,kind,case_sensitive\n"
BLACK = {"term": "블랙", "translation": "黒", "kind": "colour"}
AIR = {"term": "Air", "translation": "エア", "case_sensitive": True}


async def put(door: Door, *terms: dict[str, Any]) -> Any:
    answer = await door.operator.put("/glossary", json={"terms": terms})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def listed(door: Door, **query: Any) -> list[tuple[Any, ...]]:
    names = ("term", "translation", "kind", "case_sensitive", "shipped", "replaces")
    return [tuple(one[name] for name in names) for one in (await door.get("/glossary", **query))["items"]]


async def acts(door: Door) -> list[tuple[Any, ...]]:
    found = (await door.get("/audit", subject_type="term"))["items"]
    return [(one["actor"], one["action"], one["subject_id"], one["before"], one["after"]) for one in found]


async def test_terms_replace_what_is_shipped_until_they_are_dropped(door: Door) -> None:
    done = await put(door, BLACK, AIR)
    again = await put(door, BLACK | {"translation": "漆黒"}, AIR)

    assert (done, again) == ({"terms": 2, "changed": 2}, {"terms": 2, "changed": 1})
    own = await listed(door)
    assert sorted(own) == [
        ("Air", "エア", "", True, False, None),
        ("블랙", "漆黒", "colour", False, False, "ブラック"),
    ]
    assert await listed(door, q="블랙", shipped=True) == [
        ("블랙", "漆黒", "colour", False, False, "ブラック"),
        *(
            (one.term, one.translation, one.kind, False, True, None)
            for one in shipped()
            if "블랙" in one.term and one.term != "블랙"
        ),
    ]

    dropped = await door.operator.post("/glossary/drop", json={"terms": [" 블랙", "화이트"]})

    assert dropped.json() == {"terms": ["블랙"]}
    assert (await listed(door, q="블랙", shipped=True))[0] == ("블랙", "ブラック", "colour", False, True, None)
    black = {"term": "블랙", "translation": "黒", "kind": "colour", "case_sensitive": False}
    air = {"term": "Air", "translation": "エア", "kind": "", "case_sensitive": True}
    assert await acts(door) == [
        ("the operator", "glossary.drop", "블랙", black | {"translation": "漆黒"}, None),
        ("the operator", "glossary.put", "블랙", black, black | {"translation": "漆黒"}),
        ("the operator", "glossary.put", "블랙", None, black),
        ("the operator", "glossary.put", "Air", None, air),
    ]


async def test_pages_go_on_from_ours_to_the_shipped(door: Door) -> None:
    await put(door, BLACK)
    await put(door, AIR)
    whole = (await door.get("/glossary", shipped=True, limit=500))["items"]
    pages = await turned(door, "/glossary", shipped=True, limit=3, q="ブラック")

    assert [one["term"] for one in whole[:3]] == ["Air", "블랙", "화이트"]
    assert {len(page) for page in pages[:-1]} == {3}
    found = [one["term"] for page in pages for one in page]
    assert found == [one.term for one in shipped() if "ブラック" in one.translation and one.term != "블랙"]
    own = await turned(door, "/glossary", limit=1)
    assert [[one["term"] for one in page] for page in own] == [["Air"], ["블랙"]]
    every = [one["term"] for page in await turned(door, "/glossary", shipped=True, limit=500) for one in page]
    assert every == ["Air", "블랙", *(one.term for one in shipped() if one.term != "블랙")]


async def test_what_is_asked_for_is_a_text_and_no_pattern(door: Door) -> None:
    await put(door, {"term": "100%", "translation": "全部"}, {"term": "1000", "translation": "千"})

    assert await listed(door, q="0%") == [("100%", "全部", "", False, False, None)]


async def test_the_glossary_goes_out_and_comes_back(door: Door) -> None:
    await put(door, BLACK, AIR, {"term": "=1+1", "translation": "+2"})

    exported = await door.viewer.get("/glossary/file")
    same = await door.operator.post("/glossary/file", content=exported.text, headers=CSV)
    edited = exported.text.replace("黒", "漆黒") + "니트,ニット編み,,\n"
    taken = await door.operator.post("/glossary/file", content=edited, headers=CSV)

    assert exported.headers["content-type"].startswith("text/csv")
    assert exported.text == f"{HEAD}'=1+1,'+2,,false\nAir,エア,,true\n블랙,黒,colour,false\n"
    assert (same.json(), taken.json()) == ({"terms": 3, "changed": 0}, {"terms": 4, "changed": 2})
    after = (await door.viewer.get("/glossary/file")).text
    assert after == f"{HEAD}'=1+1,'+2,,false\nAir,エア,,true\n니트,ニット編み,,false\n블랙,漆黒,colour,false\n"
    assert [(one[1], one[2]) for one in await acts(door)][:2] == [("glossary.put", "블랙"), ("glossary.put", "니트")]


async def test_one_wrong_term_takes_nothing_and_is_named(small: Door) -> None:
    wrong = [
        await small.operator.put("/glossary", json={"terms": [BLACK, {"term": "니트", "translation": "니트"}]}),
        await small.operator.put("/glossary", json={"terms": [BLACK, AIR, BLACK | {"term": "블랙 "}]}),
        await small.operator.put("/glossary", json={"terms": [BLACK, {"term": "니트"}]}),
        await small.operator.put("/glossary", json={"terms": [BLACK | {"translation": "黒" * 201}]}),
        await small.operator.put("/glossary", json={"terms": []}),
        await small.operator.put("/glossary", json={"terms": [BLACK] * 501}),
        await small.operator.post("/glossary/file", content=f"{HEAD}니트,,,\n", headers=CSV),
        await small.operator.post("/glossary/drop", json={"terms": []}),
    ]

    assert [(one.status_code, one.json()["detail"], one.json().get("field")) for one in wrong[:4]] == [
        (422, "terms[1]: the term '니트' cannot be kept", "terms[1].translation"),
        (422, "terms[2]: the term '블랙' comes twice", "terms[2].term"),
        (422, "terms[1].translation: is required", "terms[1].translation"),
        (422, "terms[0].translation: string should have at most 200 characters", "terms[0].translation"),
    ]
    assert [one.status_code for one in wrong[4:]] == [422] * 4
    assert wrong[6].json()["detail"] == "line 2 of the glossary: the term '니트' cannot be kept"
    assert (await listed(small), await acts(small)) == ([], [])


async def test_only_an_operator_changes_words(small: Door) -> None:
    refused = [
        await small.viewer.put("/glossary", json={"terms": [BLACK]}),
        await small.viewer.post("/glossary/drop", json={"terms": ["블랙"]}),
        await small.viewer.post("/glossary/file", content=HEAD, headers=CSV),
        await small.viewer.put("/translations", json={"text": "나이키", "translation": "ナイキ"}),
    ]

    assert [one.status_code for one in refused] == [403] * 4
