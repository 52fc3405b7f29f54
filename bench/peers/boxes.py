"""The boxes of a list page, read by hand with selectolax: for the bare loop, and for crawlers that may choose."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bench.peers.shelf import Item


def boxes(body: bytes, address: str) -> list[Item]:
    """Every product of the page but damaged goods."""
    parts = urlsplit(address)
    found = LexborHTMLParser(body).css("div.item_box:not(.item_scratch)")
    return [_item(box, parts.scheme, parts.netloc) for box in found]


def _item(box: LexborNode, scheme: str, host: str) -> Item:
    return (
        int(attribute(box, "data-productno")),
        text(box, ".prName_Brand"),
        text(box, ".prName_PrName"),
        int(attribute(box.css_first(".okmall_price"), "val")),
        won(text(box, ".orgin_price")),
        absolute(picture(box.css("img.pImg")[0].attributes), scheme, host),
        absolute(attribute(box.css_first("a[href]"), "href"), scheme, host),
    )


def picture(attributes: Mapping[str, str | None]) -> str:
    """Below the first rows a dot stands in the picture's place, and its address beside it."""
    return attributes.get("data-original") or attributes["src"] or ""


def attribute(node: LexborNode | None, name: str) -> str:
    """An attribute that every box has."""
    value = node.attributes[name] if node is not None else None
    if value is None:
        raise ValueError(f"a box lacks {name}: the pages have changed, and this reader has not")
    return value


def absolute(reference: str, scheme: str, host: str) -> str:
    """The three spellings that these pages use; `urljoin` costs ten times as much."""
    if reference.startswith("//"):
        return f"{scheme}:{reference}"
    return f"{scheme}://{host}{reference}" if reference.startswith("/") else reference


def text(box: LexborNode, selector: str) -> str:
    """The text of the first such element; empty without one."""
    found: LexborNode | None = box.css_first(selector)
    return found.text(strip=True) if found is not None else ""


def won(given: str) -> int | None:
    """`79,000` as a number; None when there is none."""
    digits = given.replace(",", "").strip().removesuffix("원")
    return int(digits) if digits.isdigit() else None
