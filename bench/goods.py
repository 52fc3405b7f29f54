"""Products as an item page of OKmall tells them: twelve options, six pictures, about two kilobytes of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.model import Reading, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEM = "okmall"
SCOPE = "detail"
COLORS = ("Black", "Navy", "Ivory")
SIZES = ("S", "M", "L", "XL")
BRANDS = 200


def readings(first: int, count: int, *, changed: int = 0) -> list[Reading]:
    """The products of these numbers; every `changed`th has another price than at first."""
    return [
        Reading(snapshot(number, dearer=bool(changed) and number % changed == 0), SCOPE, "bench-1", number, SCOPE)
        for number in range(first, first + count)
    ]


def batches(total: int, size: int, *, changed: int = 0) -> Iterator[list[Reading]]:
    """All products, a batch at a time: a hundred thousand at once would not fit in a small memory."""
    for first in range(0, total, size):
        yield readings(first, min(size, total - first), changed=changed)


def snapshot(number: int, *, dearer: bool = False) -> Snapshot:
    """One product."""
    price = 30_000 + number % 900 * 100 + (1_000 if dearer else 0)
    brand = number % BRANDS
    return Snapshot(
        SYSTEM,
        str(500_000 + number),
        {
            "name": f"남성 드라이 핏 페이서 하프 짚 {number} (FQ{number:06}-010)",
            "brand": f"BRAND {brand}",
            "brand_ko": f"브랜드 {brand}",
            "model": f"FQ{number:06}-010",
            "season": "25FW",
            "price": price,
            "list_price": price * 3 // 2,
            "currency": "KRW",
            "sold_out": False,
            "options": [_option(number, place, price) for place in range(len(COLORS) * len(SIZES))],
            "images": [f"https://okimg.example/{number // 500}/img{number}_other{n}_big.JPG" for n in range(6)],
            "category": "의류>상의>긴팔 티셔츠>하프 짚",
            "gender": "M",
            "materials": {"겉감": "폴리에스터 100%"},
            "origin": "베트남",
            "url": f"https://mall.example/products/view?no={500_000 + number}",
            "shipping_fee": 4_000,
        },
    )


def _option(number: int, place: int, price: int) -> dict[str, object]:
    return {
        "code": str(number * 12 + place),
        "color": COLORS[place // len(SIZES)],
        "size": SIZES[place % len(SIZES)],
        "available": (number + place) % 7 != 0,
        "price": price,
    }
