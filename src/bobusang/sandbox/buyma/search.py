"""BUYMA's search page for a model: the offers of others, and our own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bobusang.sandbox.buyma.listing import Status
from bobusang.sandbox.buyma.rivals import Rival, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.sandbox.buyma.market import Market

MOST = 40
EMPTY = '<p class="notfound">該当する商品は見つかりませんでした。</p>'
USED_TAG = '<span class="product_used_tag">中古</span>'


def page(market: Market, model: str) -> str:
    """The page, cheapest first, as `-O3` asks."""
    offers = sorted((*_rivals(market, model), *_own(market, model)), key=lambda one: (one.price, one.id))
    boxes = "\n".join(_box(one, model) for one in offers[:MOST])
    items = f'<ul class="product_lists">\n{boxes}\n</ul>' if offers else EMPTY
    return f"""<!DOCTYPE html>
<html lang="ja"><head><meta charset="utf-8"><title>{escape(model)} - 通販 | BUYMA</title></head>
<body><h1>{escape(model)}</h1>
<p class="search_count"><span id="totalitem_num">{len(offers)}</span>件</p>
{items}
</body></html>
"""


def _rivals(market: Market, model: str) -> Iterable[Rival]:
    return market.rivals.of(model, next(iter(market.accounts.values())))


def _own(market: Market, model: str) -> Iterable[Rival]:
    now = market.now
    for listing in market.offered(plain(model)):
        if listing.state(now) is Status.PUBLIC:
            account, fields = listing.account, listing.fields
            price = int(fields["price"])
            shipping = listing.list_price - price
            yield Rival(price, shipping, False, account.seller_id, account.seller_name, str(fields["name"]), listing.id)


def _box(one: Rival, model: str) -> str:
    shipping = f"送料 ¥{one.shipping:,}" if one.shipping else "送料込"
    name = one.name or f"関税送料込 {model} 正規品"
    return f"""<li class="product" item-id="{one.id}">
<div class="product_name"><a href="/item/{one.id}/">{escape(name)}</a>{USED_TAG if one.used else ""}</div>
<p class="product_price"><span class="Price_Txt">¥{one.price:,}</span>
<span class="product_shipping">{shipping}</span></p>
<p class="product_Buyer"><a href="/buyer/{one.seller_id}.html">{escape(one.seller_name)}</a></p>
</li>"""
