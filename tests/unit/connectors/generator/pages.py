"""Pages of shops that nobody has described: as such shops answer, made in place."""

from __future__ import annotations

import json
from typing import Any

from bobusang.connectors.sources.generator.sample import Request, Sample


def sample(url: str, content: Any, **more: Any) -> Sample:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return Sample(Request(url), text.encode(), **more)


def html(body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"


GOODS = [
    {
        "goodsNo": 1000 + at,
        "goodsNm": f"울 코트 {at}",
        "salePrice": 129_000 + at * 100,
        "normalPrice": 150_000 + at * 100,
        "imageUrl": f"/img/{at}.jpg",
        "brandNm": "ACME",
        "brandNo": 7,
        "soldOutYn": "N" if at else "Y",
        "reviewCount": 30 - at,
    }
    for at in range(20)
]
NEXT_DATA = {
    "props": {"pageProps": {"list": {"totalCount": 333, "goods": GOODS}, "banners": [{"id": 1, "title": "배너"}]}},
    "buildId": "abc",
}


def scripted(data: Any) -> str:
    """A page of Next.js."""
    return html(
        f'<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{json.dumps(data)}</script>'
    )


NEXT = scripted(NEXT_DATA)
STATE = html(f"<div id='app'></div><script>window.__STATE__ = {json.dumps({'shop': {'items': GOODS}})};</script>")
ITEM_LIST = {
    "@context": "https://schema.org",
    "@type": "ItemList",
    "numberOfItems": 40,
    "itemListElement": [
        {
            "@type": "ListItem",
            "position": at,
            "item": {
                "@type": "Product",
                "name": f"Wool coat {at}",
                "url": f"https://www.acme.com/p/coat-{at}/100{at}",
                "image": "https://www.acme.com/i.jpg",
                "offers": {
                    "@type": "Offer",
                    "price": f"{100 + at}.50",
                    "priceCurrency": "USD",
                    "availability": "https://schema.org/InStock" if at % 2 else "https://schema.org/OutOfStock",
                },
            },
        }
        for at in range(1, 9)
    ],
}
PRODUCT = {
    "@type": "Product",
    "name": "울 코트 &amp; 벨트",
    "sku": "A-77",
    "image": ["https://acme.co.kr/1.jpg", "https://acme.co.kr/2.jpg"],
    "brand": {"@type": "Brand", "name": "ACME"},
    "offers": {"@type": "Offer", "price": 129000, "priceCurrency": "KRW", "availability": "https://schema.org/SoldOut"},
}
CRUMBS = {
    "@type": "BreadcrumbList",
    "itemListElement": [{"position": 1, "name": "의류"}, {"position": 2, "name": "코트"}],
}


def linked(*objects: Any) -> str:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in objects)
    return html(f"<h1>코트</h1>{scripts}")
