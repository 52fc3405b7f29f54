"""What Domeggook says of a product: tiers of price, options as a JSON text, texts that XML has left traces in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.kit import json

if TYPE_CHECKING:
    from bobusang.sandbox.ledger import Entry
    from bobusang.sandbox.product import Option, Product, Standing
    from bobusang.sandbox.scene import Scene

ON_SALE, ENDED = "판매중", "판매종료"
TIERED, CDATA, SUPPLY_LESS, HIDING, DEAR, PLAIN, LOTS, UNUSABLE = 3, 5, 9, 4, 6, 8, 11, 13
"""One of so many: has tiers of price, a title as CDATA, is not sold in the supply market, has a hidden option, has one
that costs more, names its options by their size alone, is sold in lots, has pictures that nobody else may use."""


def category(product: Product) -> str:
    """Five pairs of digits."""
    leaf = product.kind.leaf
    return f"{1 + leaf % 12:02}_{1 + leaf // 12 % 20:02}_{1 + leaf // 240 % 40:02}_00_00"


def seller(product: Product) -> tuple[str, str]:
    """Id and nick."""
    return product.seller.lower(), f"{product.seller[:6]}도매"


def text(product: Product, value: str) -> Any:
    """A text; of some products as the XML that it was made of leaves it."""
    return {"#cdata-section": value} if product.seed % CDATA == 0 else value


def tiers(product: Product, price: int) -> Any:
    """A price: a number, its digits, or the tiers `1+3800|20+3500`."""
    if product.seed % TIERED == 0:
        return f"1+{price}|20+{price * 92 // 100 // 10 * 10}|50+{price * 87 // 100 // 10 * 10}"
    return price if product.seed % 2 else str(price)


def listed(scene: Scene, one: Standing, market: str) -> dict[str, Any]:
    """One line of a list."""
    product = one.product
    id, nick = seller(product)
    return {
        "no": str(product.no),
        "title": text(product, product.title),
        "thumb": picture(scene, product, 330),
        "url": f"http://{scene.host}/domeggook/{product.no}",
        "id": id,
        "nick": nick,
        "price": str(one.price if market == "dome" else supply_price(one)),
        "unitQty": "1",
        "deli": {"who": "P" if product.shipping_fee else "S", "fee": str(product.shipping_fee), "fromOversea": "false"},
    }


def supply_price(one: Standing) -> int:
    """What a single piece costs in the supply market."""
    return one.price * 105 // 100 // 10 * 10


def viewed(scene: Scene, entry: Entry) -> dict[str, Any]:
    """All that a product's own page says."""
    product = scene.world.mall("domeggook").product(entry.no)
    one = scene.standing("domeggook", entry.no)
    id, nick = seller(product)
    company = {"name": f"(주){nick}", "boss": "홍길동", "cno": "000-00-00000", "addr": "서울", "phone": "02-000-0000"}
    return {
        "basis": {
            "no": str(product.no),
            "status": ENDED if one is None else ON_SALE,
            "title": text(product, one.product.title if one else product.title),
            "nego": "false",
            "adult": "false",
            "dateStart": entry.created.strftime("%Y-%m-%d"),
            "dateEnd": "2030-12-31",
            "tax": "과세",
            "keywords": {"kw": [product.brand.ko, product.kind.ko]},
            "minq": "1",
        },
        "salePrice" if scene.world.drifted else "price": prices(product, one),
        "qty": {
            "inventory": str(one.stock if one else 0),
            "domeMoq": "1" if product.seed % LOTS else "10",
            "domeUnit": "1",
            "domeLoq": "0",
            "supplyUnit": "1",
            "supplyLoq": "0",
        },
        "deli": _delivery(product),
        "thumb": {"original": picture(scene, product, 1000), "large": picture(scene, product, 600), "largePng": ""},
        "desc": {"contents": _description(scene, product), "license": {"usable": usable(product), "msg": ""}},
        "detail": {
            "country": product.origin[0],
            "manufacturer": product.brand.en,
            "model": product.model or {},
            "size": "",
            "weight": "",
            "infoDuty": {"item": []},
        },
        "category": {
            "current": {"name": product.kind.path[-1], "code": category(product)},
            "parents": _parents(product),
        },
        "seller": {"id": id, "nick": nick, "rank": "3", "power": "true", "score": {"avg": "4.8"}, "company": company},
        "channel": {"supply": "true"},
        "selectOpt": options(product, one),
    }


def usable(product: Product) -> str:
    """Whether others may show its pictures."""
    return "true" if product.seed % UNUSABLE else "false"


def prices(product: Product, one: Standing | None) -> dict[str, Any]:
    """By market; without one it is not sold there."""
    if one is None:
        return {}
    found: dict[str, Any] = {"dome": tiers(product, one.price)}
    if product.seed % SUPPLY_LESS:
        found |= {"supply": supply_price(one), "resale": {"minimum": str(one.price * 11 // 10), "Recommand": "0"}}
    return found


def options(product: Product, one: Standing | None) -> str:
    """A JSON text, with a hidden option in some; empty where there is no choice."""
    if one is None or product.single:
        return ""
    rows = [
        (called(product, option), left, "0", surcharge(product, option))
        for option, left in zip(one.options, one.stocks, strict=True)
    ]
    if product.seed % HIDING == 0:
        rows.append(("숨김", 7, "1" if product.seed % 8 else "2", 0))
    found = {
        f"{place:02}": {"name": name, "qty": str(left), "hid": hid, "sup": "1", "supPrice": "0", "addprice": str(more)}
        for place, (name, left, hid, more) in enumerate(rows)
    }
    return json.dumps({"type": "combination", "data": found})


def called(product: Product, option: Option) -> str:
    """An option's name: colour and size, or of some that come in one colour the size alone."""
    if product.seed % PLAIN == 1 and len({one.color for one in product.options}) == 1:
        return option.size
    return "/".join(part for part in (option.color, option.size) if part)


def surcharge(product: Product, option: Option) -> int:
    """What an option costs beyond the product's price: the largest of some."""
    dear = product.seed % DEAR == 0 and len(product.options) > 2
    return 3000 if dear and option == product.options[-1] else 0


def _delivery(product: Product) -> dict[str, Any]:
    kind = "고정배송비" if product.shipping_fee else "무료배송"
    way = {"type": kind, "fee": str(product.shipping_fee), "tbl": ""}
    return {
        "pay": "선결제",
        "dome": way,
        "supply": way,
        "feeExtra": {"islands": "3000", "jeju": "3000"},
        "merge": {"enable": "y"},
        "periodDeli": "2",
    }


def _description(scene: Scene, product: Product) -> Any:
    """A text, an object of three texts, or nothing as an empty object."""
    body = f"<p>{product.name}</p><img src='{picture(scene, product, 860)}'>"
    return (body, {"item": body, "comment": "", "deli": ""}, {})[product.seed % 3]


def _parents(product: Product) -> Any:
    found = [{"name": name, "code": f"{at + 1:02}_00_00_00_00"} for at, name in enumerate(product.kind.path[:-1])]
    return {"elem": found} if product.seed % 2 else found


def picture(scene: Scene, product: Product, side: int) -> str:
    """Where its picture is."""
    return f"http://{scene.host}/domeggook/upload/item/{product.no}_img_{side}.jpg"
