"""W Concept's product pages, of its older shop: hidden inputs, script variables, tables; no JSON-LD of the product."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.sandbox.filler import PageSize, filler
from bobusang.sandbox.making import sheet
from bobusang.sandbox.wconcept import goods

if TYPE_CHECKING:
    from bobusang.sandbox.product import Product, Standing
    from bobusang.sandbox.scene import Scene

AROUND = {PageSize.DEFAULT: 25_000, PageSize.REAL: 260_000}
SOLD = 900
"""What `totalQty` counts is not what is left: it is hundreds on a page that is sold out."""

SECOND = """<select id="optionidx2" onchange="SetNextOption_Sku1()">
            <option value="00">사이즈를 선택하세요</option></select>"""


def render(scene: Scene, one: Standing) -> str:
    """The page of a product that is sold, or is sold out."""
    product = one.product
    title = escape(product.title)
    brand = escape(product.brand.en)
    first = goods.picture(scene.host, product.no, 0)
    return f"""<!DOCTYPE html>
<html lang="ko">
<head>
    <meta charset="utf-8">
    <meta property="og:title" content="{title}">
    <meta property="og:description" content="[{brand} 브랜드] {title}">
    <meta property="og:image" content="{first}">
    <script type="application/ld+json">
        {{"@context": "https://schema.org", "@type": "Organization", "name": "W CONCEPT"}}
    </script>
    <title>[{brand}] {title} | W컨셉</title>
</head>
<body>
    {filler(AROUND[scene.size])}
    {_inputs(scene, one)}
    <div class="pdt_gallery">{_gallery(scene, product)}</div>
    <div class="pdt_info">
        <h2 class="brand">{brand}</h2><h3 class="product">{title}</h3>
        {_prices(one)}
        {_choice(one)}
        <div class="btn_box">
            <button class="btn_buy">BUY NOW</button>
            <button class="btn_soldout" style="display:none;">SOLD OUT</button>
        </div>
    </div>
    {_notice(product)}
    {_seller(product)}
    {_script(scene, one)}
</body>
</html>
"""


def deleted() -> str:
    """What the older shop says, with status 200, of a number that it does not know: a word, and the way home."""
    return """<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"><title>W컨셉</title>
<script>alert('판매가 종료되었거나 존재하지 않는 상품입니다.'); location.href = '/';</script></head>
<body></body></html>
"""


def refused() -> str:
    """What who does not look like a browser gets."""
    return "<html><head><title>403 Forbidden</title></head><body><h1>403 Forbidden</h1></body></html>\n"


def _inputs(scene: Scene, one: Standing) -> str:
    product = one.product
    drifted = scene.world.drifted
    name, price = ("hidGoodsName", "sellprice") if drifted else ("hidItemName", "saleprice")
    path = "^".join(("", goods.department(product)[1], *goods.depths(product.kind)))
    told = {
        "hidItemCd": str(product.no),
        name: product.title,
        "hidBrandName": product.brand.en,
        "hidBrandId": goods.brand_code(product.brand),
        "hidCateCd": f"{goods.department(product)[0]}{goods.LARGE[product.kind.sizes][0]}",
        "hidAddCatFix": path,
        "hidVendorcd": goods.vendor(product.seller).code,
        "optionDepthCount": str(goods.depth(product)),
    }
    named = {
        price: one.price,
        "originalPrice": product.list_price,
        "salerate": goods.rate(one),
        "stockcount": 1 if one.sold_out else one.stock,
    }
    lines = [f'<input type="hidden" id="{id}" value="{escape(value)}">' for id, value in told.items()]
    lines += [f'<input type="hidden" name="{each}" value="{value}">' for each, value in named.items()]
    return "\n    ".join(lines)


def _gallery(scene: Scene, product: Product) -> str:
    rows = "".join(
        f"""
            <li><a href="#" data-image="{goods.picture(scene.host, product.no, place, 0)}" \
data-zoom-image="{goods.picture(scene.host, product.no, place)}">
                <img src="{goods.picture(scene.host, product.no, place, 1)}" alt=""></a></li>"""
        for place in range(product.pictures)
    )
    return f"""<ul id="gallery">{rows}
        </ul>"""


def _prices(one: Standing) -> str:
    return f"""<dl class="price">
            <dt>정상가</dt><dd class="normal"><em>{one.product.list_price:,}</em></dd>
            <dt>판매가</dt><dd class="sale"><em>{one.price:,}</em></dd>
            <dt>쿠폰적용가</dt><dd class="cprice"><em>{goods.final(one):,}</em></dd>
        </dl>"""


def _choice(one: Standing) -> str:
    """What is chosen first, sold out or not; what is chosen then is loaded once that is."""
    if one.product.single:
        return '<input type="text" name="ea" value="1">'
    rows = "".join(
        f'<option value="{code}" optionvalue="{escape(name)}">{escape(name)}</option>'
        for code, name in goods.first_choices(one.product, one.options)
    )
    second = SECOND if goods.depth(one.product) > 1 else ""
    return f"""<select id="optionidx" name="optionidx">
            <option value="00">옵션을 선택하세요</option>{rows}
        </select>{second}"""


def _notice(product: Product) -> str:
    told = {
        "제품 소재": sheet(product).materials[0][1],
        "색상": product.colour[1],
        "치수": "상세페이지 참조",
        "제조자/수입자": f"{product.brand.ko} / {goods.vendor(product.seller).company}",
        "제조국": product.origin[1],
    }
    rows = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in told.items())
    return f'<table class="pdt_notice"><caption>상품정보 고시</caption><tbody>{rows}</tbody></table>'


def _seller(product: Product) -> str:
    vendor = goods.vendor(product.seller)
    told = {
        "상호": vendor.company,
        "대표자": vendor.boss,
        "사업장 소재지": vendor.place,
        "사업자등록번호": vendor.number,
        "연락처": vendor.phone,
        "E-mail": vendor.email,
    }
    rows = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in told.items())
    return f'<table class="pdt_seller"><caption>판매자 정보</caption><tbody>{rows}</tbody></table>'


def _script(scene: Scene, one: Standing) -> str:
    """Stocks and prices stand beside each other, in the order of what is chosen first; of a colour nobody knows them
    before it is chosen."""
    product = one.product
    stocks = [] if goods.depth(product) > 1 else list(one.stocks)
    status = goods.SOLD_OUT if one.sold_out else goods.ON_SALE
    total = SOLD + product.no % 90 if one.sold_out else 1
    large, small = goods.depths(product.kind)
    braze = {
        "itemCd": str(product.no),
        "itemName": product.title,
        "category_Name1": goods.department(product)[1],
        "category_Name2": large,
        "category_Name3": small,
        "price": product.list_price,
        "discount_price": one.price,
        "discount_rate": goods.rate(one),
        "brandCode": goods.brand_code(product.brand),
        "brandName": product.brand.en,
    }
    written = json.dumps(braze).replace("</", "<\\/")
    return f"""<script type="text/javascript">
        var brazeJson = {written};
        var {"itemState" if scene.world.drifted else "statusCd"}='{status}'; var totalQty='{total}';
        var soldOutText = 'SOLD OUT';
        skuqty={json.dumps(stocks)}; skuprice={json.dumps([one.price] * len(stocks))};
        skuoptval2=[]; skuoptval3=[];
    </script>"""
