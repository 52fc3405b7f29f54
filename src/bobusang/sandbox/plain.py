"""A plain shop, as the example of design [E] reads it: `.product-item` with `.title` and `.price`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from bobusang.sandbox.chance import Chance, drawn, seeded
from bobusang.sandbox.words import COLOURS, KINDS, LINES

if TYPE_CHECKING:
    from bobusang.sandbox.scene import Scene
    from bobusang.sandbox.world import World

PAGE, MOST_PAGE = 20, 200
PRICE_HOURS = 300.0


@dataclass(frozen=True, slots=True)
class Good:
    """What it sells."""

    id: int
    title: str
    price: int


@lru_cache(maxsize=20_000)
def _named(seed: int, id: int) -> tuple[str, int]:
    chance = Chance(seeded(seed, "plain", id))
    title = f"{chance.pick(LINES)} {chance.pick(KINDS).ko} {chance.pick(COLOURS)[1]} {id:05}"
    return title, chance.between(9, 400) * 1000


def good(world: World, id: int) -> Good:
    """One of its goods: as many as a mall has, with a price that moves now and then."""
    title, price = _named(world.seed, id)
    turn = int((world.hours * world.pace + id * 7 % PRICE_HOURS) // PRICE_HOURS)
    return Good(id, title, price * (90 + drawn(world.seed, id, turn) % 3 * 5) // 100 // 100 * 100)


def list_page(scene: Scene, page: int, size: int) -> str:
    """A page of the list; without goods behind the last one."""
    count = scene.world.size
    start, stop = scene.page(count, page, size)
    goods = [good(scene.world, id + 1) for id in range(start, min(stop, count))]
    items = "".join(
        f"""
        <li class="product-item" data-id="{one.id}">
            <h3 class="title">{escape(one.title)}</h3>
            <span class="price">{one.price:,}원</span>
        </li>"""
        for one in goods
    )
    return f"""<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"><title>보통 가게</title></head>
<body><p class="total">{scene.total(count)}</p><ul class="products">{items}
</ul></body></html>
"""
