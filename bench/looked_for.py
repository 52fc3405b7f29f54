"""A catalogue to search in, made of the sandbox's brands and goods, and how people look for things in it.

Most of what the sandbox says is in `trade.csv` and `brands.csv`, and costs the index little. So a fifth of the brands,
and a word or two of each name, are ones that nobody knows, drawn as real ones are: a few often, most of them seldom.
With seasons and lines about 28 % of all words are in neither list.
"""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from bobusang.platform.search import Document, Query, Sort
from bobusang.platform.searches.words import as_latin, initials
from bobusang.sandbox.words import BRANDS, COLOURS, GENDERS, KINDS, LINES, SEASONS, SELLERS, Brand

if TYPE_CHECKING:
    from collections.abc import Iterator

MALLS = ("okmall", "mustit", "acme")
MONTH = 30 * 24 * 3_600_000_000
LETTERS, DIGITS = "ABCDEFGHJKLMNPRSTUVWXYZ", "0123456789"
_WEIGHTS = [brand.weight for brand in BRANDS]
UNKNOWN = 0.2
"""The share of products whose brand `brands.csv` does not know."""
STRANGE_BRANDS, STRANGE_WORDS = 1_000, 20_000
HEADS, VOWELS, TAILS = "bdfghjklmnprstvz", "aeiou", ("", "", "n", "r", "s", "l", "m")
SYLLABLES = "가고구기나노누니다도두디라로루리마모무미바보부비사소수시아오우이자조주지카코쿠키타토투티파포푸피하호후히"


def documents(count: int, *, at_once: int = 5_000) -> Iterator[list[Document]]:
    """So many products, the same each time, a batch at a time."""
    chance = random.Random(22)
    for first in range(1, count + 1, at_once):
        yield [_document(id, chance) for id in range(first, min(first + at_once, count + 1))]


def _document(id: int, chance: random.Random) -> Document:
    brand = _brand(chance)
    kind, comes_in = chance.choice(KINDS), chance.sample(COLOURS, chance.choice((1, 1, 2, 3)))
    model = _model(brand.model, chance)
    gender = chance.choice(tuple(GENDERS.values()))
    own = (_word(chance) for _ in range(chance.choice((1, 1, 2))))
    parts = (chance.choice(SEASONS), gender, *own, chance.choice(LINES), kind.ko, chance.choice(comes_in[0]))
    return Document(
        id,
        chance.choice(MALLS),
        str(500_000 + id),
        f"{' '.join(part for part in parts if part)} ({model})",
        brand=brand.en,
        brand_ko=brand.ko,
        model=model,
        colours=", ".join(chance.choice(colour) for colour in comes_in),
        category=">".join(kind.path),
        seller=chance.choice(SELLERS),
        price=brand.level * chance.randrange(700, 1_400),
        currency="KRW",
        in_stock=chance.random() < 0.8,
        image=f"https://okimg.example/{id // 500}/img{id}_big.JPG",
        url=f"https://mall.example/products/view?no={500_000 + id}",
        changed=1_790_000_000_000_000 + chance.randrange(MONTH),
    )


def _brand(chance: random.Random) -> Brand:
    if chance.random() < UNKNOWN:
        return _strange_brands()[_seldom(chance, STRANGE_BRANDS)]
    return chance.choices(BRANDS, _WEIGHTS)[0]


def _word(chance: random.Random) -> str:
    return _strange_words()[_seldom(chance, STRANGE_WORDS)]


def _seldom(chance: random.Random, count: int) -> int:
    """A place among so many, the first ones far more often."""
    return int(count * chance.random() ** 3)


@cache
def _strange_brands() -> list[Brand]:
    """Brands that are in no list, with the weights and models of those that are."""
    chance = random.Random(24)
    return [
        Brand(10_000 + place, _hangul(chance, 3, 5), _latin(chance).upper(), 1, like.model, like.level)
        for place, like in enumerate(chance.choices(BRANDS, k=STRANGE_BRANDS))
    ]


@cache
def _strange_words() -> list[str]:
    """What goods are called beside what they are: names of lines, places, people."""
    chance = random.Random(25)
    return [_hangul(chance, 2, 5) if chance.random() < 0.7 else _latin(chance) for _ in range(STRANGE_WORDS)]


def _hangul(chance: random.Random, fewest: int, most: int) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.randint(fewest, most)))


def _latin(chance: random.Random) -> str:
    parts = (chance.choice(HEADS) + chance.choice(VOWELS) + chance.choice(TAILS) for _ in range(chance.randint(2, 3)))
    return "".join(parts).title()


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
    brand, kind = _brand(chance), chance.choice(KINDS)
    goods, colour = kind.ko.split()[-1], chance.choice(COLOURS)[1]
    ways = {
        f"{brand.ko} {goods}": 30,
        f"{brand.en.lower()} {goods}": 10,
        brand.ko: 10,
        goods: 6,
        f"{colour} {goods}": 6,
        f"{brand.ko} {goods} {colour}": 10,
        f"{brand.ko}{goods}": 8,
        f"{_word(chance)} {goods}": 6,
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
