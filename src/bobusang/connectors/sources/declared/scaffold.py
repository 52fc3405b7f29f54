"""A new shop's folder: empty, valid, with a fixture that passes; and the check of any folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.extending import FILE
from bobusang.connectors.sources.declared.fixture import expected, fixtures, record, replay, replayed
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import BobusangError, Conflict, Invalid
from bobusang.kit.lined.located import BadText, Problem
from bobusang.stages.collect.source import Page, Target

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.stages.collect.source import Source

SHOP_NAME = re.compile(r"[a-z][a-z0-9_-]{0,49}")

_SHOP = {
    Format.JSON: """\
# {name}: say in one line what this shop is. docs/how-to/add-a-shop.md explains each part.
shop: {name}
intake: {{kind: http, base: "https://{name}.example.com", format: json}}
limits: {{rate: "1/s", concurrency: 1}}

streams:
  list:
    request: {{get: /list, query: {{brand: "{{brand}}"}}}}
    for_each: {{brand: {{from: inputs.brands}}}}
    pages: {{by: page, param: page, start: 1, total: total, max: 100}}
    records: items[*]
    key: id
    fields:
      name: name | strip
      price: price | won
    emits: product

contract: {{price: {{type: money, currency: KRW, min: 100, required: true}}}}
""",
    Format.HTML: """\
# {name}: say in one line what this shop is. docs/how-to/add-a-shop.md explains each part.
shop: {name}
intake: {{kind: http, base: "https://{name}.example.com", format: html}}
limits: {{rate: "1/s", concurrency: 1}}

streams:
  list:
    request: {{get: /list, query: {{brand: "{{brand}}"}}}}
    for_each: {{brand: {{from: inputs.brands}}}}
    pages: {{by: page, param: page, start: 1, total: ".total | int", max: 100}}
    records: .product
    key: "@data-id"
    fields:
      name: .name
      price: .price | won
    emits: product

contract: {{price: {{type: money, currency: KRW, min: 100, required: true}}}}
""",
}

_PAGE = {
    Format.JSON: '{"total": 1, "items": [{"id": 1, "name": "울 코트", "price": "129,000원"}]}\n',
    Format.HTML: """\
<!DOCTYPE html>
<html><body><p class="total">1</p>
<div class="product" data-id="1"><b class="name">울 코트</b> <i class="price">129,000원</i></div>
</body></html>
""",
}


def new_shop(folder: Path, name: str, format: Format | str = Format.JSON) -> Path:
    """Write `folder/name` with a shop that is valid as it stands and one fixture that passes; its path."""
    if not SHOP_NAME.fullmatch(name):
        raise Invalid(f"'{name[:50]}' is no name of a shop", hint="small letters, digits, - and _", field="name")
    if format not in (Format.JSON, Format.HTML):
        raise Invalid(f"'{format}' is no format", hint="json or html", field="format")
    shop = folder / name
    if shop.exists():
        raise Conflict(f"{shop} is there already", hint="choose another name, or edit it")
    shop.mkdir(parents=True)
    (shop / FILE).write_text(_SHOP[Format(format)].format(name=name), "utf-8")
    source = load_shop(shop)
    ask = next(iter(source.seeds(Target("brand", "acme"))))
    text = _PAGE[Format(format)]
    page = Page(ask, text.encode(), url=ask.url, text=text if format == Format.HTML else "")
    record(shop / "fixtures" / "list-basic", page, source.read(page))
    return shop


def check(folder: Path, *, trust: bool = False) -> tuple[Problem, ...]:
    """Everything that is wrong with a shop: its file, and fixtures that are no longer read as they should be."""
    try:
        source = load_shop(folder, trust=trust)
    except BadText as error:
        return error.problems
    except BobusangError as error:
        return (Problem(error.message, hint=error.hint),)
    found = [] if source.policy.trusted else [Problem("it contains code that nobody has agreed to run", "hooks")]
    for fixture in fixtures(folder) if source.policy.trusted else ():
        wanted, got = expected(fixture), replayed(fixture, source)
        if wanted != got:
            found.append(
                Problem(
                    _difference(wanted, got) + _why(fixture, source),
                    f"fixtures/{fixture.name}",
                    hint="mend the shop, or record it again",
                )
            )
    return tuple(found)


def _why(fixture: Path, source: Source) -> str:
    """What a page that cannot be read is told to be wrong with."""
    try:
        replay(fixture, source)
    except BobusangError as error:
        return f": {error.message}"
    return ""


def _difference(wanted: list[dict[str, object]], got: list[dict[str, object]]) -> str:
    """The first thing that differs."""
    for at, (one, other) in enumerate(zip(wanted, got, strict=False)):
        if one != other:
            return f"item {at + 1} should be {str(one)[:300]}, and is {str(other)[:300]}"
    return f"{len(wanted)} should be found, and {len(got)} are"
