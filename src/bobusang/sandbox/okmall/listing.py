"""OKmall's list pages: 80 boxes each, a pager that leaps, damaged goods in between."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from bobusang.sandbox.chance import drawn
from bobusang.sandbox.filler import PageSize, filler
from bobusang.sandbox.okmall import addresses
from bobusang.sandbox.okmall.skin import Skin, skin
from bobusang.sandbox.words import GENDERS, category

if TYPE_CHECKING:
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene

BOXES = 80
PAGES_A_GROUP = 5
"""The pager shows groups of five pages, and calls the second group 2 though it begins with page 6."""
EAGER = 8
"""Boxes whose picture is there at once; the others have a dot, and the picture's address beside it."""
AROUND = {PageSize.DEFAULT: 20_000, PageSize.REAL: 220_000}
INSIDE = {PageSize.DEFAULT: 0, PageSize.REAL: 60}
"""Lines of hidden layers in every box."""
RANK, SCRATCH = 60, 61


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which list: of a brand, or of a category; which page; in what order."""

    brand: str = ""
    cate: int = 0
    page: int = 1
    sort: str = ""


def render(scene: Scene, wanted: Wanted) -> str:
    """One list page; without boxes behind the last one."""
    world = scene.world
    numbers = _numbers(scene, wanted)
    start, stop = scene.page(len(numbers), wanted.page, BOXES)
    shown = scene.listed("okmall", numbers[start:stop])
    names = skin(world.drifted)
    boxes = [_box(scene, names, one, place) for place, one in enumerate(shown)]
    if boxes and drawn(world.seed, SCRATCH, wanted.page) % 2:
        boxes.insert(len(boxes) // 2, _scratch(scene, names, wanted.page))
    more = _next(scene, wanted, shown[-1].product.no) if stop < len(numbers) and shown else ""
    pager = _pager(scene, wanted, len(numbers))
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html lang="ko" class="ko">
<head>
    <meta http-equiv="content-type" content="text/html; charset=utf-8">
    <meta name="csrf_token" content="sandbox">
    <title>OKmall - 1등 명품 이커머스 : 오케이몰</title>
    <script type="application/ld+json">
    {{"@context": "https://schema.org", "@type": "Organization", "url": "http://{scene.host}/okmall", \
"name": "오케이몰"}}
    </script>
</head>
<body>
    {filler(AROUND[scene.size])}
    <div id="list_container"><div id="list_content">
        <input type="hidden" name="{names.total}" value="{scene.total(len(numbers))}">
        {_sorts(wanted.sort)}
        {pager}
        <div id="ProductListArea" class="product_wrap_area"><div class="new_product_zone ">
            <div name="prodListPage"><div class="os_wrap">
{"".join(boxes)}
            </div></div>
            {more}
        </div></div>
        {pager}
    </div></div>
</body>
</html>
"""


def _numbers(scene: Scene, wanted: Wanted) -> list[int]:
    world, mall = scene.world, scene.world.mall("okmall")
    if wanted.cate:
        every = [no for brand in mall.brands for no in world.of_brand("okmall", brand)]
        found = [no for no in every if wanted.cate in _categories(mall.product(no).kind.path)]
    else:
        brand = mall.brand(wanted.brand)
        found = [] if brand is None else list(world.of_brand("okmall", brand))
    match wanted.sort:
        case "NEW":
            return found
        case "UP" | "DOWN":
            prices = {no: one.price for no in found if (one := world.standing("okmall", no)) is not None}
            return sorted(prices, key=lambda no: (prices[no], no), reverse=wanted.sort == "UP")
    return sorted(found, key=lambda no: drawn(world.seed, RANK, no))


def _categories(path: tuple[str, ...]) -> set[int]:
    return {category(path[: depth + 1]) for depth in range(len(path))}


def _box(scene: Scene, names: Skin, one: Standing, place: int) -> str:
    product = one.product
    link, title = escape(addresses.view(product)), escape(product.title)
    more = escape(product.more)
    season = f'<span class="prName_Season">{product.season}</span>' if product.season else ""
    sizes = " , ".join(dict.fromkeys(o.real for o, left in zip(one.options, one.stocks, strict=True) if left))
    gender = {"M": "ic_man", "F": "ic_woman"}.get(product.gender, "ic_uni")
    off = 100 * (product.list_price - one.price) / product.list_price
    number = f'{names.number}="{product.no}"'
    return f"""
        <div class="{names.box}  {"first" if place == 0 else ""} " {number}>
            <div class="os_border "><div class="item_img "><div class="btn_evt_wrap"></div>
                <a target="_blank" href="{link}">
                    {_picture(scene, product.no, place)}
                </a>
                <div name="flag_best" class="flag_best ">{place + 1}<div class="layer_best"></div></div>
                <div class="box_area"><ul>
                    <li><a href="javascript:void(0);" name="PrdWarehouse" pname="{title}" class="btn_alarm ">
                        입고알림</a></li>
                    <li><a href="javascript:void(0)" name="PrdZZim" class="btn_like ">관심상품</a></li>
                </ul></div>
            </div></div>
            <ul class="lst_ic_wrap"><li><em class=" {gender} ">{GENDERS[product.gender]}</em></li></ul>
            <div class="val_top ">
                <p class="item_title" name="shortProductName">
                    <a href="javascript:void(0);" class="target_brand flex-add">
                        <span class="prName_Brand">{escape(product.brand.en)} </span>
                    </a>
                    <a target="_blank" href="{link}" name="shortProductNameOver">
                        {season}
                        <span class="{names.title}">{title}{more}</span>
                    </a>
                </p>
                {_sizes(sizes) if not product.single else ""}
                <div style="display:none;" name="detailName" class="brand_detail_layer  no_season  ">
                    <p class="item_title"><a target="_blank" href="{link}">
                        <span class="prName_brand">{escape(product.brand.ko)}</span>
                        <span class="{names.title}">{title}{more}</span>
                    </a></p>
                </div>
            </div>
            <div class="al_left  ">
                <div class="icon_group clearfix"><div class="ic ic_coupon"><div class="icon">
                    {off:.1f}<span class="t_per">%</span>
                </div></div></div>
                <div class="price_bx">
                    <div class="t_bx">
                        <span class="delivery_fee"><i class="i-delivery"></i><em>{product.shipping_fee:,}</em></span>
                        <span class="{names.list_price}">
                            {product.list_price:,}<span class="t_won"></span>
                        </span>
                    </div>
                    <div class="b_bx">
                        <span class="{names.price}" val="{one.price}">
                            {one.price:,}<span class="t_won"></span>
                        </span>
                    </div>
                </div>
            </div>
            <div class="badge_bx"></div>{_layers(INSIDE[scene.size])}
            <div class="num_group">
                <span class="num_score">{3 + product.seed % 21 / 10:.1f}</span>
                <span class="num_zzim">{product.seed % 900}</span>
            </div>
        </div>"""


def _picture(scene: Scene, no: int, place: int) -> str:
    address = addresses.picture(scene.host, no, "middle6")
    style = 'class="pImg" name="ProductImage" style="cursor: pointer; display: inline;"'
    if place < EAGER:
        return f'<img width="280" height="325" src="{address}" {style}>'
    dot = f"//{scene.host}/okimg/zz_design/1dot.png"
    return f'<img width="280" height="325" src="{dot}" {style} data-original="{address}">'


def _sizes(sizes: str) -> str:
    return f"""<div class="item_size">
                    <span class="t_size" name="shortProductOpt">{sizes} </span>
                    <div class="ch_size_layer" style="display:none;"><span>{sizes} </span></div>
                </div>"""


def _layers(count: int) -> str:
    line = '\n                <div style="display:none;" class="viewPriceLayer layer_ws_add " name="viewPriceLayer%d">'
    return "".join(f"{line % n}<!-- 가격 안내레이어 영역 --><p>등급별 혜택</p></div>" for n in range(count))


def _scratch(scene: Scene, names: Skin, page: int) -> str:
    no = 300_000 + drawn(scene.world.seed, SCRATCH, page) % 90_000
    return f"""
        <div class="item_scratch " {names.number}="{no}">
            <a target="_blank" href="/okmall/products/view?no={no}&amp;item_type=SCRATCH">
                <span class="prName_Brand">NIKE </span>
                <span class="{names.title}">[흠집특가] 전시 상품 (FLAW-{no})</span>
            </a>
            <span class="{names.price}" val="9900">9,900<span class="t_won"></span></span>
        </div>"""


def _address(scene: Scene, wanted: Wanted, page: int, more: str = "") -> str:
    asked = f"cate={wanted.cate}" if wanted.cate else f"brand={quote(wanted.brand, safe='')}"
    rest = f"&search_keyword=&detail_search_keyword={more}&page={page}"
    return f"http://{scene.host}/okmall/products/list?{asked}{rest}"


def _next(scene: Scene, wanted: Wanted, last: int) -> str:
    address = _address(scene, wanted, wanted.page + 1, "&orgin_p=1")
    link = f'<a href="{address}&prev_data={last}" class="nextPage">다음 페이지</a>'
    return f'<div class="next" style="display:none;">{link}</div>'


def _pager(scene: Scene, wanted: Wanted, count: int) -> str:
    groups = max(1, -(-count // (BOXES * PAGES_A_GROUP)))
    here = (wanted.page - 1) // PAGES_A_GROUP
    links = "\n".join(
        f"<strong>{group + 1}</strong>"
        if group == here
        else f'<a href="{_address(scene, wanted, group * PAGES_A_GROUP + 1)}">{group + 1}</a>'
        for group in range(groups)
    )
    return f'<div class="page_wrap"><span class="page">\n{links}\n</span></div>'


def _sorts(chosen: str) -> str:
    names = {"NEW": "신규등록 순", "POINT": "베스트 상품 순", "UP": "높은 가격 순", "DOWN": "낮은 가격 순"}
    here = chosen if chosen in names else "POINT"
    options = "".join(
        f'<option value="{value}"{" selected" if value == here else ""}>{name}</option>'
        for value, name in names.items()
    )
    return f'<select id="selectSort" class="selectSort">{options}</select>'
