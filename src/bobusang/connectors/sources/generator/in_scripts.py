"""Goods in the scripts of a page: `__NEXT_DATA__` and other JSON, and JSON-LD."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared import scripted
from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.connectors.sources.generator import single
from bobusang.connectors.sources.generator.address_key import key_of
from bobusang.connectors.sources.generator.guess import Guess, Sure, columns, guesses
from bobusang.connectors.sources.generator.listing import best_list
from bobusang.connectors.sources.generator.proposal import Further, Proposal, asking, said, shop
from bobusang.stages.collect.source import Ask, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.generator.sample import Sample

_MARKED = re.compile(r"""\bid\s{0,5}=\s{0,5}["']([\w$-]{1,100})["']""")
_GIVEN = re.compile(r"(?:window|self)\.([A-Za-z_$][\w$]{0,60})\s{0,10}=\s{0,10}[{\[]")
SOLD = "map{InStock: false, LimitedAvailability: false, OutOfStock: true, SoldOut: true, Discontinued: true}"


def document(sample: Sample) -> Document:
    """The page as readers see it."""
    return Document(Page(Ask(sample.request.url), sample.content, url=sample.request.url, text=sample.text))


def lists(sample: Sample, base: str) -> Iterator[Proposal]:
    """Proposals from every script that holds a list of goods."""
    for name, data in _told(sample):
        best = best_list(data)
        if best is None:
            continue
        path = f"script:{name}.{best.path}" if not best.path.startswith("[") else f"script:{name}{best.path}"
        total = f"script:{name}.{best.total} | int" if best.total else ""
        lead = f"script:{name}.{best.next}" if best.next else ""
        further = Further(total, best.count, lead, best.next_value, len(best.records), needs_end=True)
        asked = asking(sample.request, base, further)
        told, lacking = said(best.fields)
        what = f"{len(best.records)} goods in the page's script {_called(name)}"
        yield Proposal(
            what,
            shop(
                sample.request,
                base,
                "html",
                asked,
                path,
                best.fields,
                why=f"sure: {len(best.records)} records",
                currency=currency_of(best.fields),
            ),
            found=tuple(told),
            missing=(*lacking, *asked.missing),
            score=best.score,
        )


def one_product(sample: Sample, base: str) -> Proposal | None:
    """A proposal from a script that tells of the product whose page this is."""
    for name, data in _told(sample):
        one = single.found_in(data, sample.request.url)
        if one is not None:
            records = f"script:{name}.{one.path}" if one.path else f"script:{name}"
            currency = one.currency or currency_of(one.fields)
            what = f"one product in the page's script {_called(name)}"
            return single.proposal(sample, base, what, records, one.fields, one.key, currency=currency)
    return None


def _told(sample: Sample) -> Iterator[tuple[str, Any]]:
    """The scripts of a page that are JSON, or give JSON to a name."""
    found = list(scripted.scripts(sample.text))
    names = [
        match[1]
        for attributes, content in found
        if (match := _MARKED.search(attributes)) and content.strip()[:1] in "{["
    ]
    names += [match[1] for _, content in found for match in _GIVEN.finditer(content)]
    for name in dict.fromkeys(names):
        data = scripted.said(found, name)
        if data is not NOTHING and data is not UNCLEAR and isinstance(data, dict | list):
            yield name, data


def _called(name: str) -> str:
    return f"{name} (Next.js)" if name == "__NEXT_DATA__" else name


def currency_of(fields: dict[str, Guess]) -> str:
    price = fields.get("price")
    code = re.search(r"money\{([A-Z]{3})\}", price.expression) if price else None
    return code[1] if code else "KRW"


def linked_list(sample: Sample, base: str) -> Proposal | None:
    """A proposal from JSON-LD's ItemList."""
    found = document(sample).linked("ItemList")
    records = found.get("itemListElement") if isinstance(found, dict) else None
    if not isinstance(records, list) or not records or not all(isinstance(each, dict) for each in records):
        return None
    codes = {str(value) for one in columns(records) if one.name == "pricecurrency" for value in one.values}
    currency = codes.pop() if len(codes) == 1 else ""
    fields = guesses(records, currency=currency)
    fields = {name: one for name, one in fields.items() if name != "stock"}
    for column in columns(records):
        if column.name == "availability" and column.filled:
            fields["sold_out"] = Guess(
                "sold_out", f"{column.path} | {SOLD}", Sure.SURE, f"as {column.example()}", optional=True
            )
    if "key" not in fields:
        addresses = next((one for one in columns(records) if one.name == "url" and len(one.values) == one.count), None)
        key = key_of(addresses.path, list(addresses.values)) if addresses else None
        if key is None or "name" not in fields:
            return None
        fields = {"key": key, **fields}
    total = found.get("numberOfItems")
    has_total = type(total) is int and total > len(records)
    further = Further(
        "ld:ItemList.numberOfItems | int" if has_total else "",
        total if has_total else None,
        "",
        "",
        len(records),
        needs_end=True,
    )
    asked = asking(sample.request, base, further)
    told, lacking = said(fields)
    return Proposal(
        f"{len(records)} goods in JSON-LD (ItemList)",
        shop(
            sample.request,
            base,
            "html",
            asked,
            "ld:ItemList.itemListElement[*]",
            fields,
            why=f"sure: {len(records)} records",
            currency=currency or currency_of(fields),
        ),
        found=tuple(told),
        missing=(*lacking, *asked.missing),
        score=sum(3.0 for name in ("key", "name", "price") if name in fields) + 0.5,
    )


def linked_product(sample: Sample, base: str) -> Proposal | None:
    """A proposal from the JSON-LD of one product's page: each product is asked for by its key."""
    page = document(sample)
    product = page.linked("Product")
    if not isinstance(product, dict) or not isinstance(product.get("name"), str):
        return None
    url = sample.request.url
    own = next(
        (
            name
            for name in ("sku", "productID", "mpn")
            if type(product.get(name)) in (str, int) and str(product[name]) in url
        ),
        "",
    )
    own = own or next((name for name in ("sku", "productID", "mpn") if type(product.get(name)) in (str, int)), "")
    if not own:
        return None
    return single.proposal(
        sample,
        base,
        "one product in JSON-LD",
        "ld:Product",
        _product_fields(product, page, own),
        str(product[own]),
        currency=str(_offer(product).get("priceCurrency") or "KRW"),
    )


def _offer(product: dict[str, Any]) -> dict[str, Any]:
    offers = product.get("offers")
    offer = offers[0] if isinstance(offers, list) and offers else offers
    return offer if isinstance(offer, dict) else {}


def _product_fields(product: dict[str, Any], page: Document, key: str) -> dict[str, Guess]:
    offer, currency = _offer(product), str(_offer(product).get("priceCurrency") or "KRW")
    at = "offers[0]" if isinstance(product.get("offers"), list) else "offers"
    read = "won" if currency == "KRW" else f"money{{{currency}}}"
    fields = {
        "key": Guess("key", key, Sure.SURE, f"as {product[key]}"),
        "name": Guess("name", "name | unescape | strip", Sure.SURE, f"as {str(product['name'])[:40]}"),
    }
    price = next((name for name in ("price", "lowPrice") if offer.get(name) is not None), "")
    several = [one for one in offer.get("offers") or () if isinstance(one, dict)]
    if price:
        # A product that is sold out may have no lowest price, and still says what its options cost.
        each = f"{at}.offers[*].price | {read} | same" if price == "lowPrice" and several else ""
        why = f"{currency}, as {offer[price]}"
        fields["price"] = Guess("price", f"{at}.{price} | {read}", Sure.SURE, why, otherwise=each)
    if offer.get("availability"):
        fields["sold_out"] = Guess(
            "sold_out", f"{at}.availability | {SOLD}", Sure.SURE, f"as {offer['availability']}", optional=True
        )
    elif several and all(one.get("availability") for one in several):
        why = f"when all {len(several)} offers are"
        fields["sold_out"] = Guess(
            "sold_out", f"{at}.offers[*].availability | {SOLD} | all", Sure.SURE, why, optional=True
        )
    if product.get("image"):
        image = product["image"]
        path = (
            "image[*]"
            if not isinstance(image, dict) and not (isinstance(image, list) and isinstance(image[0], dict))
            else "image[*].url"
        )
        fields["images"] = Guess("images", f"{path} | abs_url", Sure.SURE, "the pictures of JSON-LD", optional=True)
    brand = product.get("brand")
    if brand:
        fields["brand"] = Guess(
            "brand", "brand.name" if isinstance(brand, dict) else "brand", Sure.SURE, "as JSON-LD has it", optional=True
        )
    crumbs = page.linked("BreadcrumbList")
    steps = crumbs.get("itemListElement") if isinstance(crumbs, dict) else None
    if isinstance(steps, list) and steps and isinstance(steps[0], dict):
        name = "name" if isinstance(steps[0].get("name"), str) else "item.name"
        fields["category"] = Guess(
            "category",
            f"ld:BreadcrumbList.itemListElement[*].{name} | unescape | strip",
            Sure.SURE,
            f"{len(steps)} steps",
            optional=True,
        )
    return fields
