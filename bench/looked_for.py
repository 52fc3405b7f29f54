"""A catalogue to search in, made of the sandbox's brands and goods, and how people look for things in it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from bobusang.platform.search import Document, Query, Sort
from bobusang.platform.searches.words import as_latin, initials
from bobusang.sandbox.words import BRANDS, COLOURS, GENDERS, KINDS, LINES, SEASONS, SELLERS

if TYPE_CHECKING:
    from collections.abc import Iterator

MALLS = ("okmall", "mustit", "acme")
MONTH = 30 * 24 * 3_600_000_000
LETTERS, DIGITS = "ABCDEFGHJKLMNPRSTUVWXYZ", "0123456789"
_WEIGHTS = [brand.weight for brand in BRANDS]


def documents(count: int, *, at_once: int = 5_000) -> Iterator[list[Document]]:
    """So many products, the same each time, a batch at a time."""
    chance = random.Random(22)
    for first in range(1, count + 1, at_once):
        yield [_document(id, chance) for id in range(first, min(first + at_once, count + 1))]


def _document(id: int, chance: random.Random) -> Document:
    brand = chance.choices(BRANDS, _WEIGHTS)[0]
    kind, (colour, colour_ko) = chance.choice(KINDS), chance.choice(COLOURS)
    model = _model(brand.model, chance)
    gender = chance.choice(tuple(GENDERS.values()))
    parts = (chance.choice(SEASONS), gender, chance.choice(LINES), kind.ko, chance.choice((colour, colour_ko)))
    return Document(
        id,
        chance.choice(MALLS),
        str(500_000 + id),
        f"{' '.join(part for part in parts if part)} ({model})",
        brand=brand.en,
        brand_ko=brand.ko,
        model=model,
        category=">".join(kind.path),
        seller=chance.choice(SELLERS),
        price=brand.level * chance.randrange(700, 1_400),
        currency="KRW",
        in_stock=chance.random() < 0.8,
        image=f"https://okimg.example/{id // 500}/img{id}_big.JPG",
        url=f"https://mall.example/products/view?no={500_000 + id}",
        changed=1_790_000_000_000_000 + chance.randrange(MONTH),
    )


def _model(pattern: str, chance: random.Random) -> str:
    kinds = {"A": LETTERS, "9": DIGITS}
    return "".join(chance.choice(kinds[sign]) if sign in kinds else sign for sign in pattern)


def queries(count: int) -> list[Query]:
    """How people look for things: mostly brands and goods, often narrowed, sometimes mistyped."""
    chance = random.Random(23)
    return [_query(chance) for _ in range(count)]


def _query(chance: random.Random) -> Query:
    typed = _typed(chance)
    low = chance.choice((0, 0, 0, 50_000, 100_000))
    return Query(
        typed,
        min_price=low,
        max_price=low and low * chance.randrange(2, 20),
        malls=(chance.choice(MALLS),) if chance.random() < 0.2 else (),
        in_stock=True if chance.random() < 0.2 else None,
        sort=chance.choice((Sort.RELEVANCE, Sort.RELEVANCE, Sort.RELEVANCE, *Sort)),
    )


def _typed(chance: random.Random) -> str:
    brand, kind = chance.choices(BRANDS, _WEIGHTS)[0], chance.choice(KINDS)
    goods, colour = kind.ko.split()[-1], chance.choice(COLOURS)[1]
    ways = {
        f"{brand.ko} {goods}": 30,
        f"{brand.en.lower()} {goods}": 10,
        brand.ko: 10,
        goods: 6,
        f"{colour} {goods}": 6,
        f"{brand.ko} {goods} {colour}": 10,
        f"{brand.ko}{goods}": 8,
        initials(brand.ko): 4,
        _model(brand.model, chance)[: chance.randrange(4, 7)]: 8,
        as_latin(brand.ko.replace(" ", "")): 3,
        _mistyped(brand.ko, chance): 5,
    }
    return chance.choices(list(ways), list(ways.values()))[0]


def _mistyped(word: str, chance: random.Random) -> str:
    place = chance.randrange(len(word))
    other = chr(min(max(ord(word[place]) + chance.choice((-28, 28)), ord("가")), ord("힣")))
    return word[:place] + (other if "가" <= word[place] <= "힣" else "") + word[place + 1 :]
