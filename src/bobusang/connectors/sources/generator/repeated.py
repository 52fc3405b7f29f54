"""Goods as like boxes of a page: a class that many elements have, each with a name, a price and a key."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser

from bobusang.connectors.sources.generator.address_key import key_of
from bobusang.connectors.sources.generator.guess import SHARE, Guess, Sure
from bobusang.connectors.sources.generator.proposal import Further, Proposal, asking, said, shop
from bobusang.kit.won import won_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bobusang.connectors.sources.generator.sample import Sample

LEAST = 3
MOST_BOXES = 60
MOST_CLASSES = 400
LONGEST_BRAND = 40

_MONEY = re.compile(r"[0-9][0-9,]{2,12} ?원|₩ ?[0-9][0-9,]{2,12}|(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3}){1,3}(?![0-9,])")
_CLASS = re.compile(r"[A-Za-z_][\w-]{0,60}")
_KEYED = re.compile(r"data-(?:[\w-]{0,20}-)?(?:id|no|key|code|seq|idx|num|productno|productid|goodsno|itemno|sku)")
_NAMED = re.compile(r"name|title|tit|nm|subject", re.IGNORECASE)
_PRICED = re.compile(r"price|prc|cost|amount|sale|won(?![a-z])", re.IGNORECASE)
_BEFORE = re.compile(r"origin|consumer|before|list|normal|custom|retail|del|strike", re.IGNORECASE)
_BRAND = re.compile(r"brand|brd|maker", re.IGNORECASE)
_TOTAL = re.compile(r"total|count|cnt", re.IGNORECASE)


def boxes(sample: Sample, base: str) -> Proposal | None:
    """A proposal from the boxes of a page."""
    tree = LexborHTMLParser(sample.text)
    best: tuple[int, int, str, dict[str, Guess]] | None = None
    for selector, nodes in _groups(tree):
        fields = _fields(nodes)
        if not {"key", "name", "price"} <= set(fields):
            continue
        rank = (len(nodes), -sum(len(node.html or "") for node in nodes), selector, fields)
        best = rank if best is None or rank[:2] > best[:2] else best
    if best is None:
        return None
    count, _, selector, fields = best
    total, number, sure = _total(tree, count)
    asked = asking(sample.request, base, Further(total, number, records=count, sure=sure, needs_end=True))
    told, lacking = said(fields)
    return Proposal(
        f"{count} boxes of goods on the page",
        shop(sample.request, base, "html", asked, selector, fields, why=f"likely: {count} of them, each with a price"),
        found=tuple(told),
        missing=(*lacking, *asked.missing),
        score=9.0,
    )


def _groups(tree: LexborHTMLParser) -> Iterable[tuple[str, list[Any]]]:
    """Elements by tag and class, where most show money."""
    found: dict[str, list[Any]] = defaultdict(list)
    for node in tree.css("li[class], div[class], article[class], tr[class], a[class], dl[class], section[class]"):
        for name in (node.attrs.get("class") or "").split():
            if _CLASS.fullmatch(name):
                found[f"{node.tag}.{name}"].append(node)
    for selector, nodes in list(found.items())[:MOST_CLASSES]:
        if len(nodes) >= LEAST and _most(nodes[:MOST_BOXES], lambda node: bool(_MONEY.search(node.text()))):
            yield selector, nodes


def _most(nodes: list[Any], test: Callable[[Any], bool]) -> bool:
    return sum(map(test, nodes)) >= SHARE * len(nodes)


def _fields(nodes: list[Any]) -> dict[str, Guess]:
    nodes = nodes[:MOST_BOXES]
    inner: Counter[str] = Counter()
    for node in nodes:
        inner.update({selector for each in node.css("*") for selector in _selectors(each)})
    order = {one: at for at, one in enumerate(dict.fromkeys(s for each in nodes[0].css("*") for s in _selectors(each)))}
    common = [selector for selector, count in inner.items() if count >= SHARE * len(nodes)]
    common.sort(key=lambda selector: order.get(selector, len(order)))
    texts = {selector: [_text(node.css_first(selector)) for node in nodes] for selector in common}
    found: dict[str, Guess] = {}
    for guess in (_key(nodes), _name(texts, len(nodes)), _brand(texts), *_prices(texts), _picture(nodes)):
        if guess is not None:
            found[guess.name] = guess
    return found


def _selectors(node: Any) -> list[str]:
    names = [f".{name}" for name in (node.attrs.get("class") or "").split() if _CLASS.fullmatch(name)]
    return names or (
        [node.tag] if node.tag in ("h1", "h2", "h3", "h4", "h5", "strong", "b", "em", "a", "del", "p") else []
    )


def _text(node: Any) -> str:
    return " ".join(node.text().split()) if node is not None else ""


def _key(nodes: list[Any]) -> Guess | None:
    names = {name for node in nodes[:1] for name in node.attrs if _KEYED.fullmatch(name) or name == "id"}
    for name in sorted(names, key=lambda name: (name == "id", len(name))):
        values = [(node.attrs.get(name) or "").strip() for node in nodes]
        if all(values) and len(set(values)) == len(values):
            if name != "id":
                return Guess("key", f"@{name}", Sure.SURE, f"unique in {len(values)} boxes, as {values[0]}")
            numbers = [match[1] if (match := re.search(r"([0-9]{1,15})$", value)) else "" for value in values]
            if all(numbers):
                return Guess("key", "@id | re{([0-9]{1,15})$}", Sure.SURE, f"as {numbers[0]}")
    links = [node.css_first("a[href]") if node.tag != "a" else node for node in nodes]
    if all(link is not None for link in links):
        path = "@href" if nodes[0].tag == "a" else "a@href"
        return key_of(path, [link.attrs.get("href") for link in links])
    return None


def _name(texts: dict[str, list[str]], count: int) -> Guess | None:
    fit = [
        (selector, values)
        for selector, values in texts.items()
        if not _most(values, lambda text: bool(_MONEY.search(text))) and len(set(values)) > count / 2
        and sum(map(len, values)) >= 4 * count
    ]  # fmt: skip
    if not fit:
        return None
    selector, values = min(
        fit, key=lambda one: (not _NAMED.search(one[0]), one[0][:1] != "h", -len(set(one[1])), one[0])
    )
    selector, values = _inner(selector, values, fit)
    sure = Sure.SURE if _NAMED.search(selector) else Sure.LIKELY
    return Guess("name", selector, sure, f"as {values[0][:40]}")


def _inner(selector: str, values: list[str], fit: list[tuple[str, list[str]]]) -> tuple[str, list[str]]:
    """The name itself, where a heading holds a brand or a season beside it: as telling as the whole, and shorter."""
    inside = [
        (other, texts)
        for other, texts in fit
        if _NAMED.search(other) and not _BRAND.search(other) and len(set(texts)) >= SHARE * len(set(values))
        and all(text and text in whole for text, whole in zip(texts, values, strict=True)) and texts != values
    ]  # fmt: skip
    return min(inside, key=lambda one: sum(map(len, one[1])), default=(selector, values))


def _brand(texts: dict[str, list[str]]) -> Guess | None:
    """What a class calls a brand, the first in a box: short, and no money."""
    fit = [
        (selector, values)
        for selector, values in texts.items()
        if _BRAND.search(selector)
        and all(0 < len(text) <= LONGEST_BRAND and not _MONEY.search(text) for text in values)
    ]
    if not fit:
        return None
    selector, values = fit[0]
    return Guess("brand", selector, Sure.LIKELY, f"as {values[0]}", optional=True)


def _prices(texts: dict[str, list[str]]) -> list[Guess]:
    amounts = {
        selector: [won_text(text) for text in values]
        for selector, values in texts.items()
        if (_PRICED.search(selector) or _most(values, lambda text: "원" in text or "₩" in text))
        and _most(values, lambda text: won_text(text) is not None and bool(re.search(r"[0-9]", text)))
    }
    amounts = {selector: values for selector, values in amounts.items() if max(value or 0 for value in values) >= 100}
    if not amounts:
        return []
    order = sorted(
        amounts, key=lambda one: (bool(_BEFORE.search(one)), sum(value or 0 for value in amounts[one]), len(one))
    )
    best = order[0]
    sure = Sure.SURE if len(order) == 1 and "원" in texts[best][0] else Sure.LIKELY
    found = [Guess("price", f"{best} | won", sure, f"won, as {texts[best][0]}")]
    for other in order[1:]:
        pairs = list(zip(amounts[other], amounts[best], strict=True))
        if all((one or 0) >= (two or 0) for one, two in pairs) and amounts[other] != amounts[best]:
            found.append(Guess("list_price", f"{other} | won", Sure.GUESS, "never less than the price", optional=True))
            break
    return found


def _picture(nodes: list[Any]) -> Guess | None:
    """Where the first picture of a box is; of those below the first rows often beside a dot that is loaded at once."""
    images = [image.attrs if (image := node.css_first("img")) is not None else {} for node in nodes]
    for late in ("data-original", "data-src", "src"):
        values = [image.get(late) or image.get("src") or "" for image in images]
        if any(image.get(late) for image in images) and _most(values, bool) and len(set(values)) > len(values) / 2:
            bare = late != "src" and not all(image.get(late) for image in images)
            return Guess(
                "thumbnail",
                f"img@{late} | abs_url",
                Sure.LIKELY,
                f"as {values[0][-40:]}",
                optional=True,
                otherwise="img@src | abs_url" if bare else "",
            )
    return None


def _total(tree: LexborHTMLParser, least: int) -> tuple[str, int | None, Sure]:
    """How many there are, where a hidden field or a class says so."""
    found: list[tuple[Sure, str, int]] = []
    for node in tree.css("input[name][value]"):
        name, value = node.attrs.get("name") or "", node.attrs.get("value") or ""
        if re.fullmatch(r"[\w-]*total[\w-]*", name, re.IGNORECASE) and value.isdigit() and least <= int(value) < 10**9:
            found.append((Sure.LIKELY, f"input[name={name}]@value | int", int(value)))
    for node in tree.css("[class]"):
        text = _text(node) if len(found) < MOST_BOXES else ""
        number = re.search(r"([0-9][0-9,]{0,12})", text) if len(text) < 40 else None
        for name in (node.attrs.get("class") or "").split() if number else ():
            if number and _CLASS.fullmatch(name) and _TOTAL.search(name) and int(number[1].replace(",", "")) >= least:
                sure = Sure.LIKELY if "total" in name.lower() else Sure.GUESS
                found.append((sure, f".{name} | re{{([0-9][0-9,]{{0,12}})}} | int", int(number[1].replace(",", ""))))
    if not found:
        return "", None, Sure.GUESS
    sure, expression, count = min(found, key=lambda one: list(Sure).index(one[0]))
    return expression, count, sure
