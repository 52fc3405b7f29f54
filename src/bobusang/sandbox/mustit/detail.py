"""MustIt's answers on one product: modules of many types in a row, and the options as a bare array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.sandbox.making import sheet
from bobusang.sandbox.mustit import goods
from bobusang.sandbox.mustit.listing import LARGE
from bobusang.sandbox.words import SELLERS

if TYPE_CHECKING:
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene

MARGIN = {"type": "VerticalMargin", "data": {"lineHeight": 10, "backgroundColor": "#FAFAFA"}}


def top(scene: Scene, one: Standing) -> dict[str, Any]:
    """The upper half of a product's page."""
    product = one.product
    more = f"/v1/item/{product.no}/detail/bottom?sellerId={product.seller}&catalogNo={product.no - 7_000_000}"
    modules = [
        _module("ProductBannersModule", images=goods.pictures(scene.host, product, LARGE), timesales=[]),
        _module("ProductInfoModuleV2" if scene.world.drifted else "ProductInfoModule", **_info(one)),
        _module("NonMemberBannerModule", landingUrl=f"http://{scene.host}/mustit/m/member/login"),
        MARGIN,
        _module("PurchaseBenefitModule", title="혜택안내", items=[{"type": "REWARD", "data": {"point": 3000}}]),
        _shipping(one),
        MARGIN,
        _seller(one),
        _catalog(one),
        {"type": "PromotionBannerModule", "data": [{"imageUrl": "", "landingUrl": ""}]},
        _module("LazyComponent", method="GET", url=f"/v1/ai-recommendation/item/{product.no}", params={}),
        MARGIN,
        _module("SinglePromotionBannerModule", title="기획전 바로가기", imageUrl="", landingUrl=""),
        {
            "type": "TabListModule",
            "data": [{"type": "DETAIL", "title": "상세정보"}, {"type": "REVIEW", "title": "리뷰"}],
        },
        _module("ProductDetailInfoModule", **_detail(scene, one)),
        MARGIN,
    ]
    return {
        "moduleList": modules,
        "bottom": {"freeGift": "", "likeCount": 0, "isLike": False, "hasLowestOtherProduct": False},
        "nextApiUrl": more,
    }


def bottom(no: int) -> dict[str, Any]:
    """The lower half."""
    return {"moduleList": [_module("ReviewModule", itemNo=no, reviewCount=0, items=[]), MARGIN], "nextApiUrl": None}


def options(one: Standing) -> list[dict[str, Any]]:
    """All options, sold out ones too."""
    return [
        {
            "optionNo": int(option.code),
            "itemNo": one.product.no,
            "color": option.color,
            "size": option.size,
            "shippingType": "NONE",
            "stock": left,
            "sizeGuide": "",
        }
        for option, left in zip(one.options, one.stocks, strict=True)
    ]


def _module(name: str, **data: Any) -> dict[str, Any]:
    return {"type": name, "data": data}


def _info(one: Standing) -> dict[str, Any]:
    product, where = one.product, goods.category(one.product.kind)
    header = goods.HEADER[product.gender]
    selling = goods.selling(one)
    small = {"smallCategoryCode": where.small[0], "smallCategory": where.small[1]} if product.has_path else {}
    return {
        "sellerNo": 600 + SELLERS.index(product.seller),
        "sellerId": product.seller,
        "itemNo": product.no,
        "itemName": product.title,
        "brandName": product.brand.en,
        "brandNameKr": product.brand.ko,
        "brandCode": product.brand.code,
        "headerCategoryCode": header[0],
        "headerCategory": header[1],
        "largeCategoryCode": where.large[0],
        "largeCategory": where.large[1],
        "mediumCategoryCode": where.medium[0],
        "mediumCategory": where.medium[1],
        **small,
        "normalPrice": product.list_price,
        "discountRate": goods.rate(one),
        "sellingPrice": selling,
        "discountPrice": one.price,
        "isBoutiqueItem": False,
        "isSoldOut": one.sold_out,
        "stock": one.stock,
        "userDiscountInfo": {"dpsDiscount": False, "purchasePrice": one.price, "isLike": False},
        "badgeList": [],
        "discountDetails": {
            "prices": [
                {"type": "NORMAL", "name": "정상가", "price": product.list_price},
                {"type": "DISCOUNT_PRICE", "name": "할인가", "price": selling},
            ],
            "discounts": [
                {"type": "ACCOUNT", "name": "회원할인", "price": selling - one.price, "isAccountGroup": False}
            ],
            "total": {"type": "ACCOUNT", "name": "최대혜택가", "price": one.price},
        },
        "catalogId": product.no - 7_000_000,
        "countPriceComparison": 1,
        "isPriceComparison": False,
        "isLowestPrice": product.seed % 3 == 0,
    }


def _shipping(one: Standing) -> dict[str, Any]:
    fee = one.product.shipping_fee
    data = {
        "shippingType": "DOMESTIC",
        "shippingFee": fee,
        "shippingFeeType": "PAID" if fee else "FREE",
        "isEachShippingFee": False,
        "isDirectShipping": False,
        "isCustomsDuty": False,
        "averageDeliveryDay": {"text": "평균 배송 1일 소요", "focusText": "1일 소요"},
    }
    return _module("ShippingModule", title="배송정보", items=[{"type": "SHIPPING", "data": data}])


def _seller(one: Standing) -> dict[str, Any]:
    info = {"sellerNo": 600 + SELLERS.index(one.product.seller), "status": "ACTIVE", "prodRegLimit": 30_000}
    review = {"reviewCount": 14_119, "reviewTotalAvg": 4.8303, "satisfactionScore": 87}
    return _module(
        "SellerModule", title="판매자정보", sellerInfo=info, sellerTopPercentile=5, sellerReviewSummary=review
    )


def _catalog(one: Standing) -> dict[str, Any]:
    product = one.product
    offer = {
        "itemNo": product.no,
        "sellerId": product.seller,
        "isLowestPrice": True,
        "sellPrice": str(one.price),
        "sellPriceWeb": str(one.price),
        "shippingType": "국내배송",
        "shippingFee": f"{product.shipping_fee:,}원" if product.shipping_fee else "무료",
    }
    shared = {"title": "가격비교", "catalogNo": product.no - 7_000_000, "landingUrl": ""}
    return _module(
        "CatalogModule", NEW={**shared, "count": 1, "items": [offer]}, USED={**shared, "count": 0, "items": []}
    )


def _detail(scene: Scene, one: Standing) -> dict[str, Any]:
    product = one.product
    materials = ", ".join(f"{part} {mixture}" for part, mixture in sheet(product).materials)
    picture = goods.pictures(scene.host, product, LARGE)[-1].partition("/_dims_")[0]
    return {
        "title": "상세정보",
        "itemNo": product.no,
        "itemStatus": "새상품",
        "originCountry": product.origin[1].partition(",")[0],
        "shippingLocation": "대구 중구",
        "sellerEvaluations": [],
        "warningTextSellerStatus": [],
        "descriptionMarkUp": f'<p align="center"><img src="{picture}"></p>\n<p>{materials}</p>',
    }
