"""A news desk in server HTML: articles come every two hours, some are corrected, a few withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from html import escape
from math import floor
from typing import TYPE_CHECKING

from bobusang.sandbox.chance import Chance, seeded
from bobusang.sandbox.world import BEGIN

if TYPE_CHECKING:
    from bobusang.sandbox.scene import Scene
    from bobusang.sandbox.world import World

PAGE = 20
FIRST = 95
"""Articles at hour 0."""
KEPT = 2000
"""Articles that the desk still shows."""
EVERY_HOURS = 2.0
CORRECTED, CORRECTED_AFTER = 0.2, 24.0
WITHDRAWN, WITHDRAWN_AFTER = 0.08, 48.0
FIRST_ID = 4_300_000
SUBJECTS = (
    "환율",
    "해외 직구",
    "백화점 매출",
    "명품 시장",
    "물류비",
    "관세",
    "소비 심리",
    "온라인 쇼핑",
    "수출",
    "패션위크",
)
VERBS = ("두 달째 상승", "예상 밖 감소", "사상 최대", "다시 반등", "숨 고르기", "전년 수준 회복", "하반기 전망 엇갈려")
PRESSES = ("보부일보", "장터경제", "나루신문", "포구타임스")


@dataclass(frozen=True, slots=True)
class Article:
    """One article as it reads now."""

    id: int
    title: str
    press: str
    published: str
    body: str


def articles(world: World) -> list[Article]:
    """What the desk shows now, newest first."""
    last = FIRST + floor(world.hours / EVERY_HOURS)
    found = (_article(world, place) for place in range(last - 1, max(-1, last - 1 - KEPT), -1))
    return [article for article in found if article is not None]


def article(world: World, id: int) -> Article | None:
    """One of them; None when it is not there, or no more."""
    last = FIRST + floor(world.hours / EVERY_HOURS)
    return _article(world, id - FIRST_ID) if 0 <= id - FIRST_ID < last else None


def _article(world: World, place: int) -> Article | None:
    chance = Chance(seeded(world.seed, "news", place))
    hour = (place - FIRST + 1) * EVERY_HOURS
    age = world.hours - hour
    title = f"{chance.pick(SUBJECTS)}, {chance.pick(VERBS)} ({place + 1}보)"
    press, corrected, withdrawn = chance.pick(PRESSES), chance.hit(CORRECTED), chance.hit(WITHDRAWN)
    if withdrawn and age >= WITHDRAWN_AFTER:
        return None
    if corrected and age >= CORRECTED_AFTER:
        title = f"[정정] {title}"
    published = (BEGIN + timedelta(hours=hour)).strftime("%Y-%m-%d %H:%M")
    body = " ".join(f"{chance.pick(SUBJECTS)} {chance.pick(VERBS)}." for _ in range(chance.between(5, 30)))
    return Article(FIRST_ID + place, title, press, published, body)


def list_page(scene: Scene, page: int) -> str:
    """A page of the list; without articles behind the last one."""
    every = articles(scene.world)
    start, stop = scene.page(len(every), page, PAGE)
    items = "".join(
        f"""
        <li class="news_item" data-id="{one.id}">
            <a class="news_tit" href="/news/article/{one.id}">{escape(one.title)}</a>
            <span class="press">{one.press}</span> <span class="date">{one.published}</span>
            <p class="lede">{escape(one.body[:60])}…</p>
        </li>"""
        for one in every[start:stop]
    )
    more = f'<a class="next" href="/news/list?page={page + 1}">다음</a>' if stop < len(every) else ""
    return f"""<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"><title>보부 뉴스</title></head>
<body><p class="total">전체 <em>{scene.total(len(every)):,}</em>건</p>
    <ul class="news_list">{items}
    </ul>
    <div class="paging">{more}</div>
</body></html>
"""


def article_page(one: Article) -> str:
    """An article's own page."""
    return f"""<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"><title>{escape(one.title)} : 보부 뉴스</title></head>
<body><h2 class="title">{escape(one.title)}</h2>
    <span class="press">{one.press}</span> <span class="date" data-date-time="{one.published}">{one.published}</span>
    <article class="body">{escape(one.body)}</article>
</body></html>
"""
