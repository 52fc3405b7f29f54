"""The conformance suite of search: what every index must do.

`class TestEmbedded(SearchSuite)` needs three fixtures: `search` (where nothing was built yet), `other` (the same as a
second process has it) and `lose` (takes the index away behind everybody's back).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.errors import Drifted, Invalid
from bobusang.platform.search import Count, Document, Found, Query, Sort, Suggestion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bobusang.platform.search import Search

    Lose = Callable[[], Awaitable[None]]

NIKE = {"brand": "NIKE", "brand_ko": "나이키", "aliases": ("ナイキ",)}
TINTED = {"colours": "Wine, Sky Blue"}
STONE = {"brand": "STONE ISLAND", "brand_ko": "스톤 아일랜드"}
KITSUNE = {"brand": "MAISON KITSUNÉ", "brand_ko": "메종 키츠네"}
OUTER, SHOES, TOPS = "의류>아우터", "신발>스니커즈", "의류>상의"


def _goods(id: int, mall: str, name: str, model: str, category: str, price: int | None, **more: Any) -> Document:
    known: dict[str, Any] = {
        "seller": "hanastore",
        "currency": "KRW",
        "url": f"https://mall.example/{id}",
        "changed": 1_000 + id % 3,
    }
    named: dict[str, Any] = {"model": model, "category": category, "price": price}
    return Document(id, mall, f"P{500_000 + id}", name, **named, **known, **more)


GOODS = (
    _goods(1, "okmall", "남성 경량 패딩 (CW2288-111)", "CW2288-111", OUTER, 129_000, in_stock=True, **NIKE),
    _goods(2, "okmall", "에어포스 1 '07 스니커즈", "CW2288-112", SHOES, 139_000, in_stock=False, **TINTED, **NIKE),
    _goods(3, "mustit", "드라이 핏 하프집업", "FQ7764-010", TOPS, 59_000, in_stock=True, **NIKE),
    _goods(4, "mustit", "와펜 패치 롱패딩 점퍼", "761540223 A0029", OUTER, 890_000, in_stock=True, **STONE),
    _goods(5, "mustit", "와펜 패치 맨투맨", "761563051 V0001", TOPS, 390_000, **STONE),
    _goods(6, "okmall", "폭스 헤드 맨투맨 블랙", "AM00321KM0001-P199", TOPS, None, in_stock=True, **KITSUNE),
    _goods(7, "okmall", "올오버 니트 나이키 스타일", "AM00512KT1001-P100", TOPS, 139_000, **KITSUNE),
    _goods(8, "okmall", "캐시미어 코트", "", OUTER, 1_290_000, translated="カシミヤ コート", brand_ko="수제공방"),
)
TYPED = {
    "a brand in Hangul": ("나이키", {1, 2, 3}),
    "a brand in Latin": ("nike", {1, 2, 3}),
    "a brand in Japanese": ("ナイキ", {1, 2, 3}),
    "hiragana": ("ないき", {1, 2, 3}),
    "half width": ("ﾅｲｷ", {1, 2, 3}),
    "full width": ("ＮＩＫＥ", {1, 2, 3}),
    "brand and goods": ("나이키 패딩", {1}),
    "goods and brand": ("패딩 나이키", {1}),
    "Latin for both": ("nike padding", {1}),
    "no space": ("나이키패딩", {1}),
    "initials": ("ㄴㅇㅋ", {1, 2, 3}),
    "initials of two words": ("ㄴㅇㅋ ㅍㄷ", {1}),
    "initials of a brand of two words": ("ㅅㅌㅇㅇㄹㄷ", {4, 5}),
    "a typo in Hangul": ("나이끼", {1, 2, 3}),
    "a letter too many": ("naike", {1, 2, 3}),
    "a keyboard left at English": ("skdlzl", {1, 2, 3}),
    "a keyboard left at Korean": ("ㅜㅑㅏㄷ", {1, 2, 3}),
    "half a model number": ("CW22", {1, 2}),
    "a model number": ("CW2288-111", {1}),
    "a model number with a space": ("cw2288 111", {1}),
    "a model number in one": ("cw2288111", {1}),
    "the middle of a model number": ("1540223", {4}),
    "a mall's number": ("p500005", {5}),
    "a part of a word": ("패딩", {1, 4}),
    "a space too many": ("롱 패딩", {4}),
    "a brand's space left out": ("스톤아일랜드", {4, 5}),
    "accents left out": ("maison kitsune", {6, 7}),
    "the name in the market's language": ("カシミヤ", {8}),
    "a colour that only its options say": ("와인", {2}),
    "another word for a colour": ("하늘색 스니커즈", {2}),
    "apostrophes": ("에어포스 07", {2}),
    "another word for it": ("sneakers", {2}),
}
FILTERS: dict[Query, set[int]] = {
    Query(min_price=139_000): {2, 4, 5, 7, 8},
    Query(max_price=139_000): {1, 2, 3, 7},
    Query(min_price=100_000, max_price=139_000): {1, 2, 7},
    Query(min_price=10**19): set(),
    Query(brands=("NIKE",)): {1, 2, 3},
    Query(brands=("나이키", "stone island")): {1, 2, 3, 4, 5},
    Query(brands=("수제 공방",)): {8},
    Query(malls=("mustit",)): {3, 4, 5},
    Query(malls=("mustit", "okmall")): {1, 2, 3, 4, 5, 6, 7, 8},
    Query(malls=("nowhere",)): set(),
    Query(in_stock=True): {1, 3, 4, 6},
    Query(in_stock=False): {2},
    Query("맨투맨", brands=("스톤아일랜드",), malls=("mustit",), max_price=400_000): {5},
}
ORDERS = {
    Sort.RELEVANCE: [1, 2, 3, 4, 5, 6, 7, 8],
    Sort.CHEAPEST: [3, 1, 2, 7, 5, 4, 8, 6],
    Sort.DEAREST: [8, 4, 5, 2, 7, 1, 3, 6],
    Sort.NEWEST: [2, 5, 8, 1, 4, 7, 3, 6],
}
COMPLETED = {
    "나": Suggestion("나이키", "brand", 3),
    "나잌": Suggestion("나이키", "brand", 3),
    "ㄴㅇ": Suggestion("나이키", "brand", 3),
    "ni": Suggestion("NIKE", "brand", 3),
    "skdl": Suggestion("나이키", "brand", 3),
    "스톤아": Suggestion("스톤 아일랜드", "brand", 2),
    "maison k": Suggestion("MAISON KITSUNÉ", "brand", 2),
    "cw2288-112": Suggestion("CW2288-112", "model", 1),
    "FQ77": Suggestion("FQ7764-010", "model", 1),
    "하프집": Suggestion("드라이 핏 하프집업", "name", 1),
    "폭스 헤": Suggestion("폭스 헤드 맨투맨 블랙", "name", 1),
}
HOSTILE = [
    '"',
    "*:*",
    "\\",
    "brand:nike OR 1=1",
    "a\x00b",
    "😀",
    "((((",
    "나" * 5_000,
    "'; drop table products",
    "\ud7ff",
    "%",
    "[0 TO 9]",
]


def ids(found: Found) -> list[int]:
    """The numbers of what was found, in order."""
    return [hit.document.id for hit in found.hits]


async def build(search: Search, documents: Sequence[Document] = GOODS) -> None:
    """An index of these and nothing else."""
    rebuild = await search.rebuild()
    await rebuild.put(documents)
    await rebuild.finish()


async def paged(search: Search, query: Query) -> list[int]:
    """All that a query finds, page after page."""
    found = await search.search(query)
    seen = ids(found)
    while found.next:
        found = await search.search(replace(query, after=found.next))
        seen += ids(found)
    return seen


class SearchSuite:
    """Tests that hold for search wherever the index is."""

    # --- how people type ---

    async def test_what_people_type_comes_first(self, search: Search) -> None:
        await build(search)

        found = {why: ids(await search.search(Query(typed))) for why, (typed, _) in TYPED.items()}

        first = {why: (typed, set(found[why][: len(wanted)])) for why, (typed, wanted) in TYPED.items()}
        assert first == TYPED

    async def test_nonsense_finds_nothing(self, search: Search) -> None:
        await build(search)

        assert [ids(await search.search(Query(typed))) for typed in ("qqxxzz", "!!", "뷁뷁뷁")] == [[], [], []]

    async def test_nothing_that_is_typed_is_an_error(self, search: Search) -> None:
        await build(search)

        for typed in HOSTILE:
            found = await search.search(Query(typed, brands=(typed,), malls=(typed,)))
            await search.suggest(typed)

            assert (found.hits, found.total) == ((), 0)

    async def test_what_was_found_is_marked(self, search: Search) -> None:
        await build(search)

        found = await search.search(Query("나이키 패딩", limit=1))

        assert found.hits[0].document == GOODS[0]
        assert found.hits[0].marked["name"] == "남성 경량 «패딩» (CW2288-111)"
        assert found.hits[0].marked["brand_ko"] == "«나이키»"

    async def test_a_brand_goes_before_those_that_mention_it(self, search: Search) -> None:
        await build(search)

        found = await search.search(Query("나이키"))

        assert (set(ids(found)[:3]), ids(found)[3], found.total) == ({1, 2, 3}, 7, 4)

    # --- filters, order, pages ---

    async def test_no_keyword_finds_everything(self, search: Search) -> None:
        await build(search)

        found = await search.search(Query())

        assert (ids(found), found.total, found.more, found.next, found.prices) == (
            [1, 2, 3, 4, 5, 6, 7, 8],
            8,
            False,
            (),
            (59_000, 1_290_000),
        )

    async def test_filters(self, search: Search) -> None:
        await build(search)

        found = {query: await search.search(query) for query in FILTERS}

        assert {query: set(ids(one)) for query, one in found.items()} == FILTERS
        assert {query: one.total for query, one in found.items()} == {query: len(FILTERS[query]) for query in FILTERS}

    async def test_orders_and_their_pages(self, search: Search) -> None:
        await build(search)

        for limit in (1, 2, 3, 8, 100):
            assert {sort: await paged(search, Query(sort=sort, limit=limit)) for sort in Sort} == ORDERS

    async def test_pages_of_a_keyword_show_each_product_once(self, search: Search) -> None:
        await build(search)

        for typed in ("나이키", "나이끼", "ㄴ", "나이키패딩"):
            whole = ids(await search.search(Query(typed)))

            assert await paged(search, Query(typed, limit=1)) == whole
            assert sorted(whole) == sorted(set(whole))

    async def test_many_equal_prices_are_paged_by_number(self, search: Search) -> None:
        await build(search, [replace(GOODS[id % 8], id=id, price=id // 70) for id in range(1, 211)])

        cheapest = await paged(search, Query(sort=Sort.CHEAPEST, limit=33))
        dearest = await paged(search, Query(sort=Sort.DEAREST, limit=33))

        assert cheapest == list(range(1, 211))
        assert dearest == [210, *range(140, 210), *range(70, 140), *range(1, 70)]

    async def test_a_write_between_two_pages_repeats_and_skips_nothing(self, search: Search) -> None:
        await build(search)
        query = Query("나이키", limit=2)
        first = await search.search(query)

        await search.put([replace(GOODS[0], id=0), replace(GOODS[7], id=90)])

        rest = await paged(search, replace(query, after=first.next))
        assert sorted([*ids(first), *rest]) == [1, 2, 3, 7]

    async def test_a_cursor_of_somebody_else_is_refused(self, search: Search) -> None:
        await build(search)

        for after in ((1,), (1.5, "a", 2), (2**70, 1, 1), ("x",)):
            with pytest.raises(Invalid) as refused:
                await search.search(Query(after=after))  # type: ignore[arg-type]

            assert refused.value.field == "cursor"

    async def test_facets_count_all_that_was_found(self, search: Search) -> None:
        await build(search)

        found = await search.search(Query("나이키", limit=1))
        without = await search.search(Query("나이키", limit=1, facets=False))

        assert found.facets == {
            "brand": (Count("NIKE", 3), Count("MAISON KITSUNÉ", 1)),
            "mall": (Count("okmall", 3), Count("mustit", 1)),
            "category": (Count(TOPS, 2), Count(SHOES, 1), Count(OUTER, 1)),
            "in_stock": (Count("true", 2), Count("false", 1)),
        }
        assert (found.total, found.prices) == (4, (59_000, 139_000))
        assert (without.total, without.facets) == (4, {})

    # --- completions ---

    async def test_what_is_being_typed_is_completed(self, search: Search) -> None:
        await build(search)

        assert {typed: (await search.suggest(typed))[0] for typed in COMPLETED} == COMPLETED

    async def test_completions_are_few_and_different(self, search: Search) -> None:
        await build(search, [replace(GOODS[0], id=id, name=f"패딩 {id % 9}") for id in range(50)])

        found = await search.suggest("패딩", 5)

        assert len({suggestion.text for suggestion in found}) == len(found) == 5
        assert await search.suggest("") == await search.suggest("  ") == ()

    # --- writing ---

    async def test_what_is_put_is_found_at_once_and_in_the_place_of_the_old(self, search: Search) -> None:
        await build(search)
        changed = replace(GOODS[0], name="구스다운 조끼", brand="", brand_ko="", aliases=(), model="")

        await search.put([changed, replace(GOODS[1], id=99)])

        assert ids(await search.search(Query("구스다운"))) == [1]
        assert 1 not in ids(await search.search(Query("나이키")))
        assert (await search.count(), await search.get([1, 99, 5_000])) == (
            9,
            {1: changed, 99: replace(GOODS[1], id=99)},
        )

    async def test_what_is_deleted_is_not_found(self, search: Search) -> None:
        await build(search)

        await search.delete([1, 2, 77])
        await search.delete([])
        await search.put([])

        assert (await search.count(), ids(await search.search(Query(brands=("nike",))))) == (6, [3])

    async def test_digests_of_all_by_number(self, search: Search) -> None:
        await build(search, [replace(GOODS[id % 8], id=id) for id in range(1, 300)])
        await search.put([replace(GOODS[0], id=7)])
        await search.delete([8])

        wanted = [replace(GOODS[id % 8], id=id) for id in range(1, 300) if id != 8]
        wanted[6] = replace(GOODS[0], id=7)
        assert [one async for one in search.digests()] == [(document.id, document.digest()) for document in wanted]

    async def test_another_process_sees_it_when_it_renews(self, search: Search, other: Search) -> None:
        await build(search)
        before = await other.renew()
        assert await other.renew() == before

        await search.put([replace(GOODS[0], id=99)])
        after = await other.renew()

        assert after != before
        assert await other.renew() == after
        assert set(await other.get([99])) == {99}

    # --- building anew ---

    async def test_a_rebuild_serves_the_old_until_it_is_finished(self, search: Search, other: Search) -> None:
        await build(search)
        before = await other.renew()

        rebuild = await search.rebuild()
        await rebuild.put(GOODS[:2])
        assert (await search.count(), ids(await search.search(Query("맨투맨")))) == (8, [5, 6])
        await rebuild.put(GOODS[2:4])
        await rebuild.finish()

        assert (await search.count(), ids(await search.search(Query("맨투맨")))) == (4, [])
        assert await other.renew() != before
        assert await other.count() == 4

    async def test_what_is_written_during_a_rebuild_is_in_both(self, search: Search) -> None:
        await build(search)
        new, changed = replace(GOODS[0], id=99), replace(GOODS[1], name="바뀐 이름")

        rebuild = await search.rebuild()
        await rebuild.put(GOODS[:4])
        await search.put([new, changed])
        await search.delete([3])
        assert (await search.count(), set(await search.get([99]))) == (8, {99})
        await rebuild.put([*GOODS[4:], new])
        await rebuild.finish()

        assert await search.count() == 8
        assert await search.get([2, 3, 99]) == {2: changed, 99: new}

    async def test_an_abandoned_rebuild_changes_nothing(self, search: Search) -> None:
        await build(search)

        rebuild = await search.rebuild()
        await rebuild.put(GOODS[:1])
        await rebuild.abandon()

        assert [one async for one in search.digests()] == [(document.id, document.digest()) for document in GOODS]

    async def test_an_empty_index_finds_nothing(self, search: Search) -> None:
        await build(search, [])

        assert (await search.count(), await search.search(Query("나이키", facets=False))) == (
            0,
            Found((), 0, loose=True),
        )
        assert [one async for one in search.digests()] == []

    async def test_where_nothing_was_built_nothing_is_answered(self, search: Search) -> None:
        await self._drifted(search)

    async def test_a_lost_index_is_told_and_built_anew(self, search: Search, other: Search, lose: Lose) -> None:
        await build(search)
        await other.renew()
        await lose()

        await self._drifted(search)
        await self._drifted(other)
        await build(search)

        assert (await search.count(), await other.renew() > 0, await other.count()) == (8, True, 8)

    async def _drifted(self, search: Search) -> None:
        for attempt in (
            search.search(Query()),
            search.put(GOODS[:1]),
            search.renew(),
            search.check(),
            search.suggest("나"),
        ):
            with pytest.raises(Drifted) as told:
                await attempt
            assert told.value.hint == "bobusang search rebuild"
