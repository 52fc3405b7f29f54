"""One field's expression, `engine:path | filter | filter`, compiled to a closure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from bobusang.connectors.sources.declared import path
from bobusang.connectors.sources.declared.cells import compile_cell
from bobusang.connectors.sources.declared.clean import collapsed
from bobusang.connectors.sources.declared.excerpt import signs
from bobusang.connectors.sources.declared.filters import compile_filter
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Change, Flaw, Get
from bobusang.connectors.sources.declared.pattern import compile_pattern
from bobusang.connectors.sources.declared.scalars import constant
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.connectors.sources.declared.document import Document

LONGEST = 1000

# A pattern over a page sees no more of it than this.
PAGE_TEXT = 512 << 10

MOST_RECORDS = 10_000

ENGINES = ("json", "css", "ld", "script", "re", "text", "cell", "const")

_ENGINE = re.compile(
    r"([A-Za-z_]+):(?!(?:not|nth|first|last|only|has|is|where|empty|root|checked|lexbor)\b|:)(.*)", re.DOTALL
)
_FILTER = re.compile(r"([A-Za-z_]+)(?:\{(.*)\})?", re.DOTALL)
_SELECTOR = re.compile(r"(.*?)(?:@([A-Za-z][\w:-]*))?(\[\*\])?", re.DOTALL)
_SCRIPT = re.compile(r"([A-Za-z_$][\w$-]{0,99})((?:[.\[].*)?)", re.DOTALL)
_UNSEEN = ("script", "style")
_CODE = re.compile(r"[({;=]")  # what hardly any script is without, and most texts are
_EMPTY = LexborHTMLParser("<p></p>")


class Format(StrEnum):
    """What a record is: an element of a page, a piece of JSON, or a row of a spreadsheet."""

    HTML = "html"
    JSON = "json"
    SHEET = "sheet"

    @property
    def engine(self) -> str:
        """What reads it where nothing is said."""
        return {"html": "css", "json": "json", "sheet": "cell"}[self.value]


@dataclass(frozen=True, slots=True)
class Expression:
    """As written: engine, what it looks for, filters with their arguments."""

    engine: str
    what: str
    filters: tuple[tuple[str, str | None], ...]


def parse(text: str, format: Format) -> Expression:
    """Take an expression apart; without an engine it is that of the format."""
    if len(text) > LONGEST:
        raise Flaw(f"an expression has at most {LONGEST} characters")
    head, *rest = piped(text)
    found = _ENGINE.fullmatch(head)
    engine, what = (found[1], found[2].strip()) if found else (format.engine, head)
    if engine not in ENGINES:
        raise Flaw(f"unknown engine '{engine}'", did_you_mean(engine, ENGINES))
    return Expression(engine, what, tuple(_filter(each) for each in rest))


def compile_expression(text: str, format: Format, *, page: bool) -> Get:
    """A closure that reads one value of a record of this format; `page`: the record is the whole page."""
    parsed = parse(text, format)
    get = _engine(parsed, format, page=page)
    return _filtered(get, [compile_filter(*each) for each in parsed.filters])


def compile_records(text: str, format: Format) -> tuple[Get, Format]:
    """A closure that lists records (`NOTHING` where their place is not there), and what they are."""
    parsed = parse(text, format)
    if parsed.filters:
        return _made(parsed, format), Format.JSON
    match parsed.engine:
        case "json":
            _demand(format, Format.JSON, "json")
            follow = path.many(parsed.what)
            return _bounded(lambda record, _: follow(record)), Format.JSON
        case "ld":
            kind, rest = _linked(parsed.what)
            inside = path.many(rest)
            return _bounded(lambda _, document: _inside(document.linked(kind), inside)), Format.JSON
        case "script":
            name, rest = _script(parsed.what)
            within = path.many(rest)
            return _bounded(lambda _, document: _inside(document.scripted(name), within)), Format.JSON
        case "css":
            _demand(format, Format.HTML, "css")
            return _bounded(_every(_valid(parsed.what.removesuffix("[*]")))), Format.HTML
    raise Flaw(f"records cannot be found by {parsed.engine}", "use json, css, ld or script")


def _made(parsed: Expression, format: Format) -> Get:
    """Records that filters make of one value; where there is a value and they leave nothing there are none."""
    read = _engine(parsed, format, page=True)
    change = _filtered(lambda value, _: value, [compile_filter(*each) for each in parsed.filters])

    def records(record: Any, document: Document) -> Any:
        value = read(record, document)
        if value is NOTHING or value is UNCLEAR:
            return value
        found = change(value, document)
        if found is NOTHING:
            return []
        if found is UNCLEAR:
            return UNCLEAR
        return found if type(found) is list else UNCLEAR

    return _bounded(records)


def compile_filters(texts: list[str]) -> Change:
    """Filters as they are written, one after the other."""
    return _filtered(lambda value, _: value, [compile_filter(*_filter(each)) for each in texts])


def piped(text: str) -> list[str]:
    """The parts between ` | `; one inside braces belongs to a pattern or a map."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "|" and depth == 0 and text[at - 1 : at].isspace() and text[at + 1 : at + 2].isspace():
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _filter(text: str) -> tuple[str, str | None]:
    found = _FILTER.fullmatch(text)
    if found is None:
        raise Flaw(f"'{text[:50]}' is no filter", "as in price | won, or stock | map{Y: true, N: false}")
    return found[1], found[2]


def _engine(parsed: Expression, format: Format, *, page: bool) -> Get:
    match parsed.engine:
        case "const":
            value = constant(parsed.what)
            return lambda _, __: value
        case "ld":
            kind, rest = _linked(parsed.what)
            inside = path.one(rest)
            return lambda _, document: _inside(document.linked(kind), inside)
        case "script":
            name, rest = _script(parsed.what)
            within = path.one(rest)
            return lambda _, document: _inside(document.scripted(name), within)
        case "json":
            _demand(format, Format.JSON, "json")
            follow = path.one(parsed.what)
            return lambda record, _: follow(record)
        case "re":
            return _pattern(parsed.what, page=page)
        case "text":
            return _whole(parsed.what, page=page)
        case "cell":
            _demand(format, Format.SHEET, "cell")
            return compile_cell(parsed.what, parsed.filters[0][0] if parsed.filters else "")
    _demand(format, Format.HTML, "css")
    return _css(parsed.what)


def _demand(format: Format, wanted: Format, engine: str) -> None:
    if format is not wanted:
        hint = f"say format: {wanted}" if format is Format.JSON else "read an attribute and use the filter json"
        if Format.SHEET in (format, wanted):
            hint = "rows of a spreadsheet are read by cell:, and nothing else is"
        raise Flaw(f"{engine}: does not read {format.upper()}", hint)


def _linked(text: str) -> tuple[str, str]:
    kind, _, rest = text.partition(".")
    if not re.fullmatch(r"[A-Za-z]{1,50}", kind):
        raise Flaw(f"'{kind[:50]}' is no type of JSON-LD", "as in ld:Product.offers.price")
    return kind, rest


def _script(text: str) -> tuple[str, str]:
    found = _SCRIPT.fullmatch(text)
    if found is None:
        raise Flaw(f"'{text[:50]}' names no script", "as in script:__NEXT_DATA__.props.pageProps, or script:stocks[*]")
    return found[1], found[2].removeprefix(".")


def _inside(found: Any, follow: Callable[[Any], Any]) -> Any:
    return found if found is NOTHING or found is UNCLEAR else follow(found)


def _pattern(text: str, *, page: bool) -> Get:
    if not page:
        raise Flaw("re: looks through a whole page", "inside a record, read a text and use the filter re{…}")
    pattern = compile_pattern(text)

    def get(_: Any, document: Document) -> Any:
        found = pattern.search(document.text, 0, PAGE_TEXT)
        if found is None:
            return NOTHING
        return (found[1] if pattern.groups else found[0]) or NOTHING

    return get


def _whole(text: str, *, page: bool) -> Get:
    if text or not page:
        raise Flaw("text: is the whole page", "write text: alone, on a page of one item")
    return lambda _, document: document.text.strip() or NOTHING


def _valid(selector: str) -> str:
    try:
        _EMPTY.css(selector)
    except (SelectolaxError, ValueError):
        raise Flaw(f"'{selector[:100]}' is no CSS selector") from None
    return selector


def _css(text: str) -> Get:
    found = _SELECTOR.fullmatch(text)
    assert found is not None
    selector, attribute, every = found[1].strip(), (found[2] or "").lower(), bool(found[3])
    if not selector and every:
        raise Flaw("the record itself is not a list", "name what is inside it before [*]")
    read = _attribute(attribute) if attribute else _content
    if not selector:
        return lambda record, _: read(record.root if isinstance(record, LexborHTMLParser) else record)
    _valid(selector)
    if every:
        nodes = _every(selector)
        return lambda record, document: _all(nodes(record, document), read)
    sought = signs(selector)

    def get(record: Any, document: Document) -> Any:
        node = record.css_first(selector)
        if node is None:
            document.seek(record, sought)
            return NOTHING
        return read(node)

    return get


def _every(selector: str) -> Get:
    sought = signs(selector)
    single = selector.count("#") > selector.count(",")

    def nodes(record: Any, document: Document) -> Any:
        found = record.css(selector)
        if not found or (isinstance(record, LexborHTMLParser) and not single):  # an id stands on a page once
            document.seek(record, sought)
        return found

    return nodes


def _all(nodes: list[Any], read: Callable[[Any], Any]) -> Any:
    values = [value for value in map(read, nodes[:MOST_RECORDS]) if value is not NOTHING]
    return values or NOTHING


def _content(node: Any) -> Any:
    text = node.text()
    if _CODE.search(text) and node.tag not in _UNSEEN and node.css_first("script, style") is not None:
        seen = LexborHTMLParser(node.html)
        seen.strip_tags(list(_UNSEEN))
        text = seen.text()
    return collapsed(text) or NOTHING


def _attribute(name: str) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        return (node.attrs.get(name) or "").strip() or NOTHING

    return read


def _filtered(get: Get, changes: list[Change]) -> Get:
    if not changes:
        return get
    if len(changes) == 1:
        only = changes[0]

        def through_one(record: Any, document: Document) -> Any:
            value = get(record, document)
            return value if value is NOTHING or value is UNCLEAR else only(value, document)

        return through_one

    def through_all(record: Any, document: Document) -> Any:
        value = get(record, document)
        for change in changes:
            if value is NOTHING or value is UNCLEAR:
                return value
            value = change(value, document)
        return value

    return through_all


def _bounded(get: Get) -> Get:
    def records(record: Any, document: Document) -> Any:
        found = get(record, document)
        if found is NOTHING or found is UNCLEAR:
            return found
        return UNCLEAR if len(found) > MOST_RECORDS else found

    return records
