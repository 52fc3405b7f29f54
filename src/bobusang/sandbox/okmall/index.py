"""OKmall's index of brands, its front page, and what it says to robots."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from bobusang.sandbox.filler import filler
from bobusang.sandbox.okmall import addresses

if TYPE_CHECKING:
    from bobusang.sandbox.scene import Scene

ROBOTS = "User-agent: *\nDisallow: /members/\nDisallow: /order/\nCrawl-delay: 1\n"


def brands(scene: Scene) -> str:
    """The fragment that the menu of all brands loads."""
    listed = sorted(scene.world.mall("okmall").brands, key=lambda brand: brand.en)
    letters = "".join(
        f"""
    <div class="br_box"><em class="tit">{letter}</em>
        <ul class="br_lst">{"".join(_brand(brand.name, brand.en, brand.ko) for brand in group)}
        </ul></div>"""
        for letter, group in groupby(listed, key=lambda brand: brand.en[0])
    )
    return f'<div class="language_brand eng">{letters}\n</div>\n'


def _brand(name: str, en: str, ko: str) -> str:
    link = escape(addresses.brand_list(name))
    spans = f'<span class="t_nm">{escape(en)}</span><span class="t_blck">{escape(ko)}</span>'
    return f'\n            <li><a href="{link}">{spans}</a></li>'


def home(scene: Scene) -> str:
    """The front page."""
    return f"""<!DOCTYPE html>
<html lang="ko"><head><meta http-equiv="content-type" content="text/html; charset=utf-8">
<meta name="csrf_token" content="sandbox"><title>OKmall - 1등 명품 이커머스 : 오케이몰</title></head>
<body>{filler(20_000)}<a href="http://{scene.host}/okmall/html_data/gnb/V1/top_all_brand_V5.html">BRAND</a></body></html>
"""
