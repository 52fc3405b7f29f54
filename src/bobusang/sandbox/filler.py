"""What surrounds the goods on a real page: menus, hidden lists, scripts. It is there to be read past."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from itertools import count

from bobusang.sandbox.words import BRANDS, KINDS

MENU = 0.7
"""Share of the filler that is menus and hidden lists; the rest is script."""


class PageSize(StrEnum):
    """How large pages are: by default small enough for many, `real` as they were captured."""

    DEFAULT = "default"
    REAL = "real"


@lru_cache(maxsize=8)
def filler(size: int) -> str:
    """Markup of about so many bytes."""
    return f"{_menu(int(size * MENU))}\n{_script(size - int(size * MENU))}"


def _menu(size: int) -> str:
    parts = ['<div class="gnb_wrap" id="t_gnb">']
    length = 0
    for number in count():
        if length >= size:
            break
        kind, brand = KINDS[number % len(KINDS)], BRANDS[number % len(BRANDS)]
        part = f"""
                <ul class="gnb_depth2" style="display:none;" data-depth="{number}">
                    <li class="gnb_tit"><a href="javascript:void(0);"><em>{kind.path[-1]}</em></a></li>
                    <li class="gnb_sub"><span class="t_nm">{brand.ko}</span><span class="t_cnt">({number})</span></li>
                    <li class="gnb_bnr"><img src="data:," alt="{brand.ko} 기획전" width="200" height="60"></li>
                </ul>"""
        parts.append(part)
        length += len(part.encode())
    return "".join([*parts, "\n            </div>"])


def _script(size: int) -> str:
    line = "        okLayer.push({id: %d, type: 'coupon', rate: %d, open: function (e) { e.preventDefault(); }});\n"
    lines = "".join(line % (number, number % 50) for number in range(size // 100))
    return f'    <script type="text/javascript">\n        var okLayer = [];\n{lines}    </script>'
