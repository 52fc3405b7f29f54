"""OKmall's product pages: two JSON-LD blocks, a table of what can be bought, measures and materials."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.sandbox.filler import PageSize, filler
from bobusang.sandbox.making import sheet
from bobusang.sandbox.okmall import addresses
from bobusang.sandbox.okmall.skin import Skin, skin
from bobusang.sandbox.words import GENDERS, category

if TYPE_CHECKING:
    from bobusang.sandbox.product import Option, Product, Standing
    from bobusang.sandbox.scene import Scene

AROUND = {PageSize.DEFAULT: 103_000, PageSize.REAL: 440_000}
NEARLY = 2
"""At most so many left: "품절 임박", and still to be bought."""
SCHEMA = "https://schema.org"


def render(scene: Scene, one: Standing) -> str:
    """The page of a product that is sold, or is sold out for a while."""
    product, names = one.product, skin(scene.world.drifted)
    path = _path(scene, product) if product.has_path else ""
    title = escape(f"[{product.brand.en}]{product.title}")
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html lang="ko" class="ko">
<head>
    <meta http-equiv="content-type" content ="text/html; charset=utf-8">
    <meta property="og:image" content="{addresses.pictures(scene.host, product)[0].removeprefix("http:")}">
    <link rel="canonical" href="http://{scene.host}/okmall/products/view?no={product.no}">
    <meta property="og:title" content="{title}  | 오케이몰">
    <meta name="csrf_token" content="sandbox">
    <script type="application/ld+json">
        {_ld(_product(scene, names, one))}
    </script>
    {path}
    <title>{title} | 오케이몰</title>
</head>
<body>
    {filler(AROUND[scene.size])}
    <div class="prd_wrap">
        {_gallery(scene, product)}
        <div class="prd_option">
            {_name(names, product)}
            {_prices(names, one)}
            {_origin(product)}
            {_choice(names, one)}
            <div id="product_ctl_btn" class="prd_btn " {names.number}="{product.no}"></div>
        </div>
        {_sheet(product)}
    </div>
</body>
</html>
"""


def deleted(scene: Scene) -> str:
    """What OKmall says, with status 200, of a number it does not know or knows no more."""
    return f"""<!DOCTYPE html>
<html lang="ko" class="ko">
<head><meta http-equiv="content-type" content="text/html; charset=utf-8"><title>오케이몰</title></head>
<body>
    {filler(20_000)}
    <div class="no_product"><p>존재하지 않거나 판매가 종료된 상품입니다.</p>
    <a href="http://{scene.host}/okmall/">메인으로 이동</a></div>
</body>
</html>
"""


def _ld(value: object) -> str:
    """JSON inside a script: a name must not be able to end it."""
    return json.dumps(value).replace("</", "<\\/")


def _product(scene: Scene, names: Skin, one: Standing) -> dict[str, Any]:
    product = one.product
    title = f"[{product.brand.en}]{product.title}"
    found = {
        "@context": SCHEMA,
        "@type": names.ld_product,
        "name": title,
        "description": f"{'>'.join(product.kind.path)} {title} {one.price:,}원",
        "image": addresses.pictures(scene.host, product),
        "sku": product.no,
        "mpn": product.no,
        "brand": {"@type": "Brand", "name": product.brand.name},
        "offers": _offers(scene, one),
    }
    if reviews := product.seed % 9:
        score = f"{3 + product.seed % 21 / 10:.1f}"
        rating = {"ratingValue": score, "reviewCount": reviews, "bestRating": "5", "worstRating": "1"}
        found["aggregateRating"] = {"@type": "AggregateRating", **rating}
    return found


def _offers(scene: Scene, one: Standing) -> dict[str, Any]:
    url = f"http://{scene.host}{addresses.view(one.product)}"

    def offer(left: int) -> dict[str, Any]:
        return {
            "url": url,
            "price": one.price,
            "priceCurrency": "KRW",
            "availability": f"{SCHEMA}/{'InStock' if left else 'OutOfStock'}",
            "itemCondition": f"{SCHEMA}/NewCondition",
        }

    if one.product.single:
        return {"@type": "Offer", **offer(one.stock)}
    pairs = list(zip(one.options, one.stocks, strict=True))
    price = None if one.sold_out else one.price
    return {
        "@type": "AggregateOffer",
        "offerCount": sum(1 for _, left in pairs if left),
        "priceCurrency": "KRW",
        "offers": [{"@type": "Offer", "sku": option.code, **offer(left)} for option, left in pairs],
        "lowPrice": price,
        "highPrice": price,
    }


def _path(scene: Scene, product: Product) -> str:
    steps = product.kind.path
    elements = [
        {
            "@type": "ListItem",
            "position": depth + 1,
            "name": escape(name),  # the mall escapes HTML even here
            "item": f"http://{scene.host}/okmall/products/list?cate={category(steps[: depth + 1])}",
        }
        for depth, name in enumerate(steps)
    ]
    crumbs = {"@context": SCHEMA, "@type": "BreadcrumbList", "itemListElement": elements}
    return f'<script type="application/ld+json">\n            {_ld(crumbs)}\n        </script>'


def _gallery(scene: Scene, product: Product) -> str:
    pictures = [address.removeprefix("http:") for address in addresses.pictures(scene.host, product)]
    items = "".join(
        f'\n<li class=" off " name="smallImg"><a href="javascript:void(0);"><img src="{address}" alt=""></a></li>'
        for address in pictures
    )
    return f'<div class="prd_img"><ul class="img_lst">{items}\n</ul></div>'


def _name(names: Skin, product: Product) -> str:
    season = f'<span class="prd_name_season">{product.season}</span>' if product.season else ""
    badge = {"M": "ic_man", "F": "ic_woman"}.get(product.gender, "ic_uni")
    return f"""<div class="brd_name"><div class="brd_name_wrap clr brd_img ">
                <div class="brand_img_box"><a href="{addresses.brand_list(product.brand.name)}" target="_blank">
                    <span class="brand_tit">{escape(product.brand.en)}</span></a></div>
                <h3 id="{names.name_area}">
                    {season}
                    <span class="prd_name">{escape(product.title)}</span>
                    <span class="prd_name_more">{escape(product.more)}</span>
                </h3>
                <div class="badge"><span class="{badge}">{GENDERS[product.gender]}</span></div>
            </div></div>"""


def _prices(names: Skin, one: Standing) -> str:
    member = ""
    if one.product.seed % 5 == 0:
        text = f"{one.price * 98 // 100:,}원<span></span>"
        member = (
            f'<div class="value_price2"><span class="name">회원 맞춤가</span><span class="price">{text}</span></div>'
        )
    return f"""<div class="prd_bd cus_price_bd "><div class="real_price">
                <div class="{names.last_price}"><span class="l"><span class="name_price name">오케이몰가</span>
                    <span class="price">{one.price:,}원<span></span></span></span></div>
                <div class="value_price"><span class="l"><span class="name_price name">정찰 판매가</span>
                    <span class="price">{one.product.list_price:,}원<span></span></span></span></div>
                {member}
            </div>
            <div class="pr_bnr_box"><span class="title">오케이몰x롯데카드 결제 시 예상가
                <span class="price">{one.price * 99 // 100:,}원 </span></span></div></div>"""


def _origin(product: Product) -> str:
    country, made = product.origin
    return f"""<table class="prd_made tbase"><tbody><tr>
                <th class="prd_cd posR"><span>추가정보</span></th>
                <td class="prd_cd">
                    <div class="prd_cd1"><span>브랜드국(원산지):</span>
                        <span>{country}({made})</span></div>
                    <div class="prd_cd2"><span>사용권장계절:</span>
                        <span>봄, 가을 사용가능</span></div>
                </td></tr></tbody></table>"""


def _choice(names: Skin, one: Standing) -> str:
    if one.sold_out:
        return '<div class="prd_soldout"><span>일시 품절된 상품입니다. 입고 알림을 신청하세요.</span></div>'
    if one.product.single:
        return '<div class="prd_opts_sel"><input type="text" name="ea" value="1"></div>'
    pairs = [(option, left) for option, left in zip(one.options, one.stocks, strict=True) if left]
    rows = "".join(_row(names, option, left, one.price, place) for place, (option, left) in enumerate(pairs))
    return f"""<div class="layout_popup03_content" id="ProductOPTList">
                <table class="shoes_size">
                    <thead class="thL"><tr><th rowspan="2">구매가능한<br>색상</th>
                        <th colspan="2">구매가능한 사이즈</th><th rowspan="2" class="set_etc">비고</th></tr>
                        <tr><th>택 사이즈</th><th class="br_clr">오케이몰 실측 사이즈</th></tr></thead>
                    <tbody>
                    {rows}
                    </tbody>
                </table></div>"""


def _row(names: Skin, option: Option, left: int, price: int, place: int) -> str:
    text = f"{option.color}-{option.size}"
    notice = '<span class="size_notice">품절 임박</span>' if left <= NEARLY else ""
    info = escape(f"{text}^1B:{place + 6:02}|{text}|{option.code}")
    return (
        f'<tr name="{names.option_row}" sinfo="{info}" sprice="{price}"  style="cursor: pointer;">'
        f'<td class="t_center" >{option.color}</td><td class="t_center" >{option.size}</td>'
        f'<td class="t_center t_bold" >{option.real} 전후</td>'
        f'<td class="t_center set_etc" ><span class="set_etc_opt2">{price:,}원</span>{notice}</td></tr>'
    )


def _sheet(product: Product) -> str:
    found = sheet(product)
    sizes = "".join(_measured(tag, real, values, place) for place, (tag, real, values) in enumerate(found.measures))
    materials = "".join(
        f"<tr><td><strong>{part}</strong></td><td>\n                {mixture}   </td></tr>"
        for part, mixture in found.materials
    )
    made = f"{product.brand.name} 제조 / (주)오케이몰 수입/매입"
    return f"""<div class="item_size_detail" id="realSizeInfo_detail2">
            <ul>{sizes}</ul>
            <ul style="display:none;"><li class=" on "><a href="javascript:void(0);">inch</a><table><tbody>
                <tr><th>환산</th><td>1인치 = 2.54cm</td></tr></tbody></table></li></ul>
        </div>
        <div class="item_data_info" id="realSizeInfo_material"><table><tbody>
            <tr><th rowspan="5">혼용률</th><td colspan="3"></td></tr>
            {materials}
            <tr></tr>
            <tr><td colspan="3" class="f_11">상품의 라벨과 수입사에서 제공한 자료를 참조하였습니다.</td></tr>
        </tbody></table></div>
        <table class="notice_info"><tbody>
            <tr><th scope="row"> 제조자 </th><td style="white-space:pre-wrap;">{escape(made)}</td></tr>
            <tr><th scope="row"> 제조국 </th><td style="white-space:pre-wrap;">{product.origin[1]}</td></tr>
            <tr><th scope="row"> 세탁방법 </th><td style="white-space:pre-wrap;">상품 라벨 참조</td></tr>
        </tbody></table>"""


def _measured(tag: str, real: str, values: tuple[tuple[str, str], ...], place: int) -> str:
    rows = "".join(
        f"""
                <tr name="realSize_list" title="직선으로 잽니다." style="cursor: pointer;">
                    <th><span class="num{number}"></span> {label}</th>
                    <td>{value}</td></tr>"""
        for number, (label, value) in enumerate(values, 1)
    )
    return f"""<li class="{" on " if place == 0 else ""}">
                <a href="javascript:void(0);">{tag}</a>
                <p>오케이몰 실측 사이즈 약 {real}  </p>
                <table><tbody id="realSizeInfo_size">{rows}
                </tbody></table></li>"""
