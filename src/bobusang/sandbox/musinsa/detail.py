"""Musinsa's answers on one product: the product, its options, their stock, its sizes and what the law wants told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.sandbox.making import sheet
from bobusang.sandbox.musinsa import goods
from bobusang.sandbox.musinsa.listing import envelope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.sandbox.product import Option, Product, Standing
    from bobusang.sandbox.scene import Scene

TOLD = 10
"""Up to how many are left is told in numbers; of more the shop says nothing but that there are some."""
COLOR, SIZE = "컬러", "사이즈"
KINDS = {"top": "CLOTHES", "bottom": "CLOTHES", "shoes": "SHOES", "one": "BAG"}
DELETED = 9
"""The last digit of the number of an option that was taken away and is told nonetheless."""


def product(scene: Scene, one: Standing) -> dict[str, Any]:
    """The product itself, some of its hundred names."""
    found = one.product
    drifted = scene.world.drifted
    (code1, name1), (code2, name2) = goods.depths(found.kind)
    word, letter = goods.GENDERS[found.gender]
    return envelope(
        {
            "goodsNo": found.no,
            "goodsName" if drifted else "goodsNm": found.title,
            "goodsNmEng": found.more,
            "thumbnailImageUrl": goods.cover(found),
            "styleNo": found.model,
            "sex": [word],
            "genders": [letter],
            "brand": goods.slug(found.brand),
            "brandInfo": _brand(found),
            "seasonYear": f"20{found.season[:2]}" if found.season else "",
            "season": {"SS": "1", "FW": "2"}.get(found.season[2:], "0"),
            "comId": found.seller,
            "baseCategoryFullPath": f"{code1}>{code2}",
            "baseCategory": code2,
            "category": {
                "categoryDepth1Code": code1,
                "categoryDepth1Name": name1,
                "categoryDepth1Title": name1,
                "categoryDepth2Code": code2,
                "categoryDepth2Name": name2,
                "categoryDepth2Title": name2,
                "categoryDepth3Code": "",
                "categoryDepth3Name": "",
                "categoryDepth3Title": "",
                "categoryDepth4Code": "",
                "categoryDepth4Name": "",
                "categoryDepth4Title": "",
                "storeCode": "musinsa",
            },
            "goodsImages": [{"imageUrl": path, "kind": "DETAIL"} for path in goods.gallery(found)],
            "labels": [],
            "priceInfo" if drifted else "goodsPrice": _price(one),
            "goodsReview": {"totalCount": found.seed % 900, "satisfactionScore": 4.8, "hasSummary": False},
            "goodsMaterial": {"materials": [{"name": "핏", "items": [{"name": "레귤러", "isSelected": True}]}]},
            "goodsContents": _contents(scene, found),
            "mdOpinion": "",
            "optKindCd": KINDS[found.kind.sizes],
            "isOutOfStock": one.sold_out,
            "goodsSaleType": "SALE",
            "maxUsePointRate": 7,
            "isPrePoint": True,
            "isRestictedUsePoint": False,
            "isParallelImport": found.seed % 5 == 0,
            "isAdult": False,
            "isOutlet": False,
            "domesticDelivery": {"deliveryType": "NORMAL", "willReleaseDate": None, "willArrivalDate": None},
            "goodsLogisticsInfoV2": [{"courierName": "CJ대한통운", "roundShippingFee": 5000}],
            "company": goods.company(found.seller),
        }
    )


def options(one: Standing) -> dict[str, Any]:
    """Which choices there are, without what is left of them; one that was taken away is among them."""
    groups = _groups(one)
    items = [_item(one, option, groups) for option in one.options]
    if one.product.seed % 4 == 0 and items:
        gone = {"no": int(one.options[-1].code) * 10 + DELETED, "isDeleted": True, "activated": False}
        items.append({**items[-1], **gone})
    return envelope(
        {
            "basic": [
                {
                    "name": name,
                    "standardOptionNo": place + 1,
                    "optionValues": [
                        {"no": no, "name": value, "sequence": at, "isDeleted": False}
                        for at, (value, no) in enumerate(values.items())
                    ],
                }
                for place, (name, values) in enumerate(groups.items())
            ],
            "extra": [],
            "optionItems": items,
        }
    )


def inventories(one: Standing, values: Iterable[int]) -> dict[str, Any]:
    """What is left of the options that are made of these values, and of no others."""
    wanted, groups = set(values), _groups(one)
    return envelope(
        [
            {
                "productVariantId": int(option.code),
                "remainQuantity": left if left <= TOLD else None,
                "outOfStock": left == 0,
                "isRedirect": False,
                "domesticDelivery": {"deliveryType": "NORMAL"},
            }
            for option, left in zip(one.options, one.stocks, strict=True)
            if wanted.issuperset(_values(option, groups))
        ]
    )


def sizes(found: Product) -> dict[str, Any]:
    """As measured; of some nothing is."""
    if found.seed % 3 == 0:
        return envelope(None)
    measured = [
        {"name": tag, "items": [{"name": label, "value": _number(text)} for label, text in values if "cm" in text]}
        for tag, _, values in sheet(found).measures
    ]
    return envelope({"typeName": found.kind.path[-1], "sizes": measured})


def essentials(found: Product) -> dict[str, Any]:
    """What the law wants told."""
    told = {
        "제품 소재": sheet(found).materials[0][1],
        "색상": found.colour[1],
        "치수": "상세페이지 참조",
        "제조사": f"{found.brand.ko} / 수입자 {goods.company(found.seller)['name']}",
        "제조국": found.origin[1],
        "세탁방법 및 취급시 주의사항": "상품 라벨 참조",
    }
    return envelope({"essentials": [{"name": name, "value": value} for name, value in told.items()]})


def _brand(found: Product) -> dict[str, Any]:
    return {
        "brand": goods.slug(found.brand),
        "brandName": found.brand.ko,
        "brandEnglishName": found.brand.en,
        "brandNationName": found.origin[0],
        "sinceYear": None,
        "memo": "",
    }


def _price(one: Standing) -> dict[str, Any]:
    final = goods.final(one)
    return {
        "salePrice": one.price,
        "normalPrice": one.product.list_price,
        "discountRate": goods.rate(one),
        "type": "SALE",
        "isSale": one.price < one.product.list_price,
        "savePoint": 0,
        "memberDiscountRate": 0,
        "partnerDiscountOn": False,
        "couponPrice": final,
        "totalDiscount": one.product.list_price - final,
        "couponDiscount": one.price - final,
        "finalPrice": final,
        "finalDiscount": one.price - final,
        "isLowestPrice": False,
    }


def _contents(scene: Scene, found: Product) -> str:
    pictures = "".join(f'<img src="//{scene.host}/musinsa/image{path}">' for path in goods.gallery(found))
    return f'<div align="center">{pictures}</div>'


def _groups(one: Standing) -> dict[str, dict[str, int]]:
    """The choices by their names: each value with its number. A colour is only chosen where there are several."""
    first = one.product.no * 1000
    colors = list(dict.fromkeys(option.color for option in one.options))
    tags = list(dict.fromkeys(option.size for option in one.options))
    groups = {COLOR: {color: first + at for at, color in enumerate(colors)}} if len(colors) > 1 else {}
    return groups | {SIZE: {tag: first + 500 + at for at, tag in enumerate(tags)}}


def _chosen(option: Option, groups: dict[str, dict[str, int]]) -> list[tuple[str, str, int]]:
    told = {COLOR: option.color, SIZE: option.size}
    return [(name, told[name], values[told[name]]) for name, values in groups.items()]


def _values(option: Option, groups: dict[str, dict[str, int]]) -> Sequence[int]:
    return [no for _, _, no in _chosen(option, groups)]


def _item(one: Standing, option: Option, groups: dict[str, dict[str, int]]) -> dict[str, Any]:
    return {
        "no": int(option.code),
        "optionValueNos": _values(option, groups),
        "optionValues": [{"no": no, "name": value, "optionName": name} for name, value, no in _chosen(option, groups)],
        "managedCode": "^".join(value for _, value, _ in _chosen(option, groups)),
        "price": goods.surcharge(one.product, option),
        "activated": True,
        "isDeleted": False,
    }


def _number(text: str) -> float:
    return float(text.partition("cm")[0])
