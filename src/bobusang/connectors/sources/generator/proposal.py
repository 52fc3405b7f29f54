"""A proposed shop: what was recognised, the text of its `shop.yaml` with how sure each line is, and what is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from bobusang.connectors.sources.generator.guess import Sure
from bobusang.stages.collect.source import Target

if TYPE_CHECKING:
    from bobusang.connectors.sources.generator.guess import Guess
    from bobusang.connectors.sources.generator.sample import Request

PAGE = re.compile(r"page|pageno|pagenum|pagenumber|pageindex|currentpage|curpage|pg|p|paged")
SIZE = re.compile(r"size|pagesize|limit|perpage|rows|sz|psize|pagecount|count|take|display|listsize")
CURSOR = re.compile(r"cursor|after|pagetoken|nexttoken|next")
NAME = "{name}"
"""What stands for the shop's name in a proposed text."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """All of it."""

    what: str
    """What the page is, in plain words."""
    text: str
    """Its `shop.yaml`, with `{name}` for the name."""
    stream: str = "list"
    target: Target = field(default_factory=lambda: Target("list", "all"))
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    score: float = 0.0


def quoted(text: str) -> str:
    """A text as YAML keeps it."""
    return "'" + text.replace("'", "''") + "'"


def line(indent: int, name: str, guess: Guess) -> str:
    """A field with how sure it is."""
    either = ", ".join(quoted(one) for one in (guess.expression, guess.otherwise) if one)
    read = f"[{either}]" if guess.otherwise else either
    return f"{' ' * indent}{name}: {read}   # {guess.sure}: {one_line(guess.why)}"


def one_line(text: str, longest: int = 100) -> str:
    """A text that fits behind a line of YAML."""
    return re.sub(r"[^\w\s.,:;/()+&=?!%'원₩$-]", "", " ".join(text.split()))[:longest]


@dataclass(frozen=True, slots=True)
class Asking:
    """The request and the pages of a proposed list."""

    lines: list[str]
    missing: list[str]


@dataclass(frozen=True, slots=True)
class Further:
    """What the page says of those after it: expressions, and what they said."""

    total: str = ""
    count: int | None = None
    next: str = ""
    next_value: str = ""
    records: int = 0
    sure: Sure = Sure.SURE
    """Of the total."""
    needs_end: bool = False
    """HTML: a page without records must show that it is meant to be so."""


def asking(
    request: Request, base: str, further: Further, *, page: str = "", variable: tuple[str, str] = ("", "")
) -> Asking:
    """The lines of `request` and `pages`; `variable` is (a text of the path, the name that stands for it)."""
    path = urlsplit(request.url).path.removeprefix(urlsplit(base).path) or "/"
    value, name = variable
    query = [(key, said) for key, said in request.query]
    if name:
        path = path.replace(value, f"{{{name}}}", 1) if value in path else path
        query = [(key, f"{{{name}}}" if said == value and f"{{{name}}}" not in path else said) for key, said in query]
    numbers = [(key, said) for key, said in query if PAGE.fullmatch(_bare(key)) and said.isdigit()]
    sizes = [(key, said) for key, said in query if SIZE.fullmatch(_bare(key)) and said.isdigit()] if numbers else []
    kept = [(key, said) for key, said in query if (key, said) not in numbers[:1] + sizes[:1] and "{" not in key]
    body, in_body = _paged_body(request.body)
    lines = ["    request:", f"      {request.method.lower()}: {quoted(path)}"]
    if kept:
        lines.append("      query: {" + ", ".join(f"{quoted(key)}: {quoted(said)}" for key, said in kept) + "}")
    if request.headers:
        told = ", ".join(f"{quoted(key)}: {quoted(said)}" for key, said in request.headers.items())
        lines.append("      headers: {" + told + "}")
    if body is not None:
        lines.append(f"      body: {body}")
    number = numbers[0] if numbers else ("{page}", "1") if in_body else None
    pages, missing = _pages(number, sizes[:1], further, page, dict(query))
    return Asking(lines + pages, missing)


def _pages(
    number: tuple[str, str] | None, size: list[tuple[str, str]], further: Further, page: str, query: dict[str, str]
) -> tuple[list[str], list[str]]:
    total = [f"      total: {quoted(further.total)}   # {further.sure}: {further.count:,}"] if further.total else []
    if further.next and re.match(r"https?://|/|\?", further.next_value):
        lead = [f"      next: {quoted(further.next)}   # sure: as {one_line(further.next_value)}"]
        return ["    pages:", "      by: next", *lead, *total, "      max: 200"], []
    cursor = next((key for key in query if CURSOR.fullmatch(_bare(key))), "")
    if further.next and not number:
        doubt = "sure" if cursor else "a guess: the page does not say it"
        lead = [f"      param: {quoted(cursor or 'cursor')}   # {doubt}", f"      next: {quoted(further.next)}"]
        missing = [] if cursor else ["which parameter takes the cursor: `cursor` is a guess"]
        return ["    pages:", "      by: cursor", *lead, *total, "      max: 200"], missing
    more = further.count is not None and further.count > further.records
    if number is None and not page and not more:
        return [], ["whether the list has more pages: none is asked for"] if further.count is None else []
    name, start = number or (page or "page", "1")
    param = (
        []
        if name == "{page}"
        else [f"      param: {quoted(name)}   # " + ("sure: it stands in the address" if number else "a guess")]
    )
    lines = ["    pages:", "      by: page", *param, f"      start: {min(int(start), 1)}"]
    lines += [f"      size: {{param: {quoted(key)}, value: {said}}}" for key, said in size]
    missing = [] if number else [f"which parameter is the page: `{name}` is a guess, `source try … --page 2` shows it"]
    if not further.total and further.needs_end:
        missing.append("how an empty list looks: say it by `pages.empty`, or the list ends in an error")
    return [*lines, *total, "      max: 200"], missing


def _paged_body(body: str | None) -> tuple[str | None, bool]:
    """A body as YAML, with the page's number as a variable."""
    if body is None:
        return None, False
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return quoted(body), False
    found = [False]

    def mark(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {
                key: "{page}"
                if PAGE.fullmatch(_bare(key)) and str(said).isdigit() and not found[0] and _set(found)
                else mark(said)
                for key, said in inner.items()
            }
        return [mark(each) for each in inner] if isinstance(inner, list) else inner

    return msgspec.json.encode(mark(value)).decode(), found[0]


def _set(found: list[bool]) -> bool:
    found[0] = True
    return True


def _bare(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def shop(request: Request, base: str, format: str, asked: Asking, records: str, fields: dict[str, Guess], *, why: str,
         currency: str = "KRW", for_each: str = "") -> str:  # fmt: skip
    """The whole text of a shop with one list."""
    given = [f"    for_each: {{{for_each}}}"] if for_each else []
    lines = [
        f"# {NAME}: proposed by `bobusang source new` from {one_line(request.url)}",
        "# Behind a line stands how sure it is. `source try` shows what is read; all keys: docs/shop-grammar.md",
        f"shop: {NAME}",
        f"description: {quoted('Proposed from ' + urlsplit(base).netloc + '; say here what this shop is.')}",
        f'intake: {{kind: http, base: "{base}", format: {format}}}',
        "policy: {robots: report}",
        'limits: {rate: "1/s", concurrency: 1}   # careful; raise it when the shop allows it',
        "",
        "streams:",
        "  list:",
        *asked.lines,
        *given,
        f"    records: {quoted(records)}   # {one_line(why)}",
        line(4, "key", fields["key"]),
        "    fields:",
        *(line(6, f"{name}{'?' if one.optional else ''}", one) for name, one in fields.items() if name != "key"),
        "    emits: product",
        "",
    ]
    terms = ["name: {type: text, required: true}"]
    if "price" in fields:
        least = 100 if currency == "KRW" else 1
        terms.insert(0, f"price: {{type: money, currency: {currency}, min: {least}, required: true}}")
    lines.append("contract: {" + ", ".join(terms) + "}")
    return "\n".join(lines) + "\n"


def said(fields: dict[str, Guess]) -> tuple[list[str], list[str]]:
    """In plain words: what was found, and what was not."""
    found = [
        f"{name}: {one.expression}{f', or {one.otherwise}' if one.otherwise else ''} ({one.sure}: {one.why})"
        for name, one in fields.items()
    ]
    wanted = {"price": "a price", "images": "pictures", "brand": "a brand", "sold_out": "whether something is sold out"}
    have = (
        set(fields) | ({"images"} if "thumbnail" in fields else set()) | ({"sold_out"} if "stock" in fields else set())
    )
    return found, [f"{word}: the list does not say it" for name, word in wanted.items() if name not in have]
