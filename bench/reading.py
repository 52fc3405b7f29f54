"""Reading a list page of real size by the declared source, against a reader written by hand for this one mall."""

from __future__ import annotations

import os
import re
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bench.mall import Mall
from bench.peers.boxes import absolute, attribute, picture, text, won
from bench.report import Line, at_most, interleaved
from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.encoding import decoded
from bobusang.stages.collect.source import Page, Snapshot, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bobusang.stages.collect.source import Source

ROUNDS = {"quick": 30, "full": 200}
CAPTURES = Path(os.environ.get("BOBUSANG_CAPTURES", Path(__file__).parents[2] / "shared" / "captures"))
TYPE = "text/html; charset=utf-8"
GENDERS = {"남성": "men", "여성": "women", "남녀공용": "unisex", "공용": "unisex", "아동": "kids"}
LONG_NAME = re.compile(r"^(.{1,300}\))\([^()]{1,200}\)$")
SAME = ("name", "brand", "season", "price", "list_price", "gender", "thumbnail", "sizes", "shipping_fee")
"""What both must have read alike."""


def run(size: str) -> Iterator[Line]:
    """CPU time of a page each, in turn."""
    source = load_shop(SHIPPED / "okmall")
    where, body = _page()
    readers = {"declared": partial(declared, source, body), "by hand": partial(by_hand, body)}
    _compare(readers["declared"](), readers["by hand"]())
    found = interleaved(ROUNDS[size], {name: partial(_seconds, reader) for name, reader in readers.items()})
    yield Line("the page", f"{where}, {len(body) / 1e6:.2f} MB, {len(readers['by hand']())} boxes")
    for name, seconds in found.items():
        yield Line(f"read {name}", f"{median(seconds) * 1000:.1f} ms ({min(seconds) * 1000:.1f} at best)")
    ratio = median(a / b for a, b in zip(found["declared"], found["by hand"], strict=True))
    yield at_most("declared ÷ by hand", ratio, 2, "×")


def _page() -> tuple[str, bytes]:
    captured = CAPTURES / "okmall-list.html"
    if captured.exists():
        return "captured", captured.read_bytes()
    with Mall(2, page_size="real") as mall:  # two, so that the first one is full
        return "of the sandbox", mall.page(1)


def _seconds(reader: Callable[[], object]) -> float:
    begun = time.process_time()
    reader()
    return time.process_time() - begun


def declared(source: Source, body: bytes) -> dict[str, dict[str, Any]]:
    """As the fetcher does: the bytes become text, the text a page, the page what the source makes of it."""
    ask = next(iter(source.seeds(Target("brand", "나이키(NIKE)"))))
    page = Page(ask, body, text=decoded(body, TYPE, source.policy.encoding).text)
    return {one.key: one.fields for one in source.read(page) if isinstance(one, Snapshot)}


def by_hand(body: bytes) -> dict[str, dict[str, Any]]:
    """What an engineer would write for this mall and no other."""
    tree = LexborHTMLParser(body)
    boxes = tree.css("div.item_box:not(.item_scratch)")
    return {attribute(box, "data-productno"): _fields(box) for box in boxes}


def _fields(box: LexborNode) -> dict[str, Any]:
    name = " ".join(text(box, ".prName_PrName").split())
    short = LONG_NAME.match(name)
    return {
        "name": short[1] if short else name,
        "brand": text(box, ".prName_Brand"),
        "season": text(box, ".prName_Season"),
        "price": int(attribute(box.css_first(".okmall_price"), "val")),
        "list_price": won(text(box, ".orgin_price")),
        "gender": GENDERS.get(text(box, "ul.lst_ic_wrap em")),
        "thumbnail": absolute(picture(box.css("img.pImg")[0].attributes), "https", "www.okmall.com"),
        "sizes": [each.strip() for each in text(box, ".t_size").split(",") if each.strip()],
        "shipping_fee": won(text(box, ".delivery_fee em")),
    }


def _compare(ours: dict[str, dict[str, Any]], theirs: dict[str, dict[str, Any]]) -> None:
    """Two readers that read different things cannot be compared."""
    if list(ours) != list(theirs):
        raise RuntimeError(f"the readers found {len(ours)} and {len(theirs)} boxes")
    for key, fields in theirs.items():
        for name in SAME:
            if (fields[name] or None) != (ours[key].get(name) or None):
                raise RuntimeError(f"{key}: {name} is {ours[key].get(name)!r} declared, {fields[name]!r} by hand")
