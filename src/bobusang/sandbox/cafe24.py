"""A shop on Cafe24: category lists of `anchorBoxId_` boxes, pages whose options are JSON inside a script's text."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, html

if TYPE_CHECKING:
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene

MALL = "cafe24"
BOXES = 40
FIRST_CATEGORY = 24
ROBOTS = b"User-agent: *\nDisallow: /order/\nDisallow: /myshop/\nAllow: /\n"


def list_page(scene: Scene, cate_no: int, page: int) -> str:
    """One page of a category: what is sold out stays, with its icon; without a list behind the last one."""
    brands = scene.world.malls[MALL].brands
    at = cate_no - FIRST_CATEGORY
    numbers = scene.world.of_brand(MALL, brands[at]) if 0 <= at < len(brands) else ()
    start, stop = scene.page(len(numbers), page, BOXES)
    boxes = "".join(_box(scene, one, cate_no) for one in scene.listed(MALL, numbers[start:stop]))
    classes = "pack" if scene.world.drifted else "xans-element- xans-product xans-product-listnormal ec-base-product"
    shelf = f'<div class="{classes}"><ul class="prdList grid4">{boxes}\n</ul></div>' if boxes else ""
    last = max(1, -(-len(numbers) // BOXES))
    pager = "".join(_link(cate_no, each, current=each == page) for each in range(1, min(last, 10) + 1))
    return _around(
        "PRODUCT_LIST",
        "",
        f"""<div class="xans-element- xans-product xans-product-normalpackage ">
<div class="xans-element- xans-product xans-product-normalmenu "><div class="function">
<p class="prdCount">등록 제품 : <strong>{scene.total(len(numbers))}</strong>개</p></div></div>
{shelf}
</div>
<div class="xans-element- xans-product xans-product-normalpaging ec-base-paginate"><ol>{pager}</ol></div>""",
    )


def _link(cate_no: int, page: int, *, current: bool) -> str:
    name = "this" if current else "other"
    return f'<li class="xans-record-"><a href="?cate_no={cate_no}&page={page}" class="{name}">{page}</a></li>'


def _box(scene: Scene, one: Standing, cate_no: int) -> str:
    product, mark = one.product, "prodBox" if scene.world.drifted else "anchorBoxId"
    link = f"/{MALL}/product/{quote(product.name.replace(' ', '-'))}/{product.no}/category/{cate_no}/display/1/"
    icon = '<img src="//img.echosting.cafe24.com/design/skin/ko/soldout.gif" class="icon_img" alt="품절"/>'
    return f"""
<li id="{mark}_{product.no}" class="xans-record-"><div class="prdList__item">
<div class="thumbnail"><a href="{link}" name="anchorBoxName_{product.no}"><img src="{_picture(scene, one, "medium")}" \
id="eListPrdImage{product.no}_1" alt="{escape(product.title)}"/></a></div>
<div class="description" ec-data-custom="{product.list_price}" ec-data-price="{one.price}">
<strong class="name"><a href="{link}"><span class="title displaynone"><span>상품명</span> :</span> \
<span style="font-size:12px;">{escape(product.title)}</span></a></strong>
<ul class="xans-element- xans-product xans-product-listitem spec"><li class="xans-record-">\
<strong class="title displaynone"><span>판매가</span> :</strong> <span>{one.price:,}원</span></li></ul>
<div class="icon"><div class="promotion">{icon if one.sold_out else ""}</div></div></div></div></li>"""


def item_page(scene: Scene, one: Standing) -> str:
    """A product's own page: its head and its script say what it is, the rest is for people."""
    product = one.product
    flag = "T" if one.sold_out else "F"
    options = ""
    if not product.single:
        data = json.dumps({f"P{product.no}{code[-4:]}": said for code, said in _options(one).items()})
        options = f"var option_stock_data = '{_quoted(data)}';var stock_manage = '';"
    head = f"""<meta property="og:title" content="{escape(product.title)}"/>
<meta property="og:url" content="http://{scene.host}/{MALL}/product/detail.html?product_no={product.no}"/>
<meta property="og:image" content="http:{_picture(scene, one, "big")}"/>
<meta property="product:price:amount" content="{one.price}"/>
<meta property="product:price:currency" content="KRW"/>
<meta property="product:sale_price:amount" content="{one.price}"/>"""
    return _around(
        "PRODUCT_DETAIL",
        head,
        f"""<div class="xans-element- xans-product xans-product-headcategory path "><ol><li><a href="/">홈</a></li>\
<li><a href="/product/list.html?cate_no={FIRST_CATEGORY + product.brand.index}">{escape(product.brand.ko)}</a></li></ol>
</div><div class="infoArea"><h2>{escape(product.title)}</h2>
<table><tr rel="판매가" class="xans-record-"><th><span>판매가</span></th><td><strong id="span_product_price_text">\
{one.price:,}원</strong></td></tr>
<tr rel="브랜드" class="xans-record-"><th><span>브랜드</span></th><td><span>{escape(product.brand.en)}</span></td></tr>
</table></div>
<script>
var product_name = '{_quoted(product.title)}';var has_option = '{"F" if product.single else "T"}';
var is_soldout_icon = '{flag}';var product_price = '{one.price}';var option_type = 'T';{options}
var iProductNo = '{product.no}';var iCategoryNo = '{FIRST_CATEGORY + product.brand.index}';
</script>""",
    )


def _options(one: Standing) -> dict[str, dict[str, object]]:
    """As the shop's script has them: stock that is kept and used, as text and as numbers."""
    found: dict[str, dict[str, object]] = {}
    for place, (option, left) in enumerate(zip(one.options, one.stocks, strict=True)):
        found[f"{place:04X}"] = {
            "stock_price": "0.00",
            "use_stock": True,
            "use_soldout": "T",
            "is_display": "T",
            "is_selling": "T",
            "option_price": one.price,
            "option_name": "색상#$%사이즈",
            "option_value": f"{option.color}-{option.size}",
            "stock_number": left,
            "option_value_orginal": [option.color, option.size],
            "is_auto_soldout": "F" if left else "T",
            "is_mandatory": "T",
            "option_id": f"{place:04X}",
        }
    return found


def gone_page() -> str:
    """What is shown of a product that is no more: 200, and a script that sends back."""
    return _around("PRODUCT_DETAIL", "", "<script>alert('존재하지 않는 상품입니다.');history.back();</script>")


def _around(role: str, head: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"/><meta name="path_role" content="{role}"/>
<title>보부 부티크</title>{head}
<script src="/ind-script/optimizer.php?filename=zZExDsIwDEX3wMo5LMQ"></script></head>
<body id="main"><div id="wrap">{body}</div>
<script src="//img.echosting.cafe24.com/js/cafe24.js"></script></body></html>
"""


def _picture(scene: Scene, one: Standing, size: str) -> str:
    return f"//{scene.host}/{MALL}/web/product/{size}/202601/{one.product.no}.jpg"


def _quoted(text: str) -> str:
    """Inside a script's text, where nothing may end the text or the script."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'").replace("</", "<\\/")


def _list(asked: Asked) -> Reply:
    cate_no, page = number(asked.query, "cate_no", FIRST_CATEGORY), max(1, number(asked.query, "page", 1))
    return asked.kept((MALL, cate_no, page), lambda scene: html(list_page(scene, cate_no, page)))


def _detail(asked: Asked) -> Reply:
    no = int(asked.request.match_info.get("no") or number(asked.query, "product_no", 0, 1 << 40))

    def render(scene: Scene) -> Reply:
        one = scene.standing(MALL, no)
        return html(gone_page() if one is None else item_page(scene, one))

    return asked.kept((MALL, "detail", no), render)


def _robots(asked: Asked) -> Reply:
    return Reply(ROBOTS, "text/plain; charset=utf-8")


def _image(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route(f"/{MALL}/robots.txt", MALL, "robots", _robots),
    Route(f"/{MALL}/product/list.html", MALL, "list", _list),
    Route(f"/{MALL}/product/detail.html", MALL, "detail", _detail),
    Route(rf"/{MALL}/product/{{name}}/{{no:\d{{1,12}}}}/category/{{cate}}/display/{{at}}/", MALL, "detail", _detail),
    Route(f"/{MALL}/web/product/{{path:.+}}", MALL, "image", _image),
)
