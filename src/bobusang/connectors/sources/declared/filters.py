"""The filters of a field, by name: a small, closed, typed set; each refuses what it cannot read with certainty.

| filter | what it makes |
|---|---|
| `won` | won, of `129,000원`, `12만9천원`, 129000; `1만원대`, ranges and instalments are unclear |
| `money{USD}` | minor units of a currency, of `129.00` or 129: cents, won; part of a unit is unclear |
| `int` `decimal` | a whole number; a decimal number as exact text |
| `bool` `not` `positive` | truth of true/false/Y/N/1/0; its opposite; whether a number is above zero |
| `map{a: 1, b: true, *: x}` | what a word stands for; an unnamed word is unclear unless `*` is given |
| `date` `date{zone}` `date{ms}` | an instant in UTC or a day, as ISO text; of milliseconds since 1970 |
| `tiers` `tiers{1}` | prices by quantity, of `1+3800` and more with bars between: `from` and `price`; that of one |
| `abs_url` `abs_url{host}` | an absolute address; a relative one begins at the page, or at that host (`base` is one) |
| `query{name}` | one parameter of an address |
| `strip` `unescape` `tags` | spaces collapsed; `&amp;` undone; HTML as plain text |
| `split{,}` `split{,; 0}` | parts of a text; one of them |
| `cut{text}` `re{pattern}` | what stands before a text; the first group of a pattern, or the match |
| `json` `json{path}` | JSON inside a text; what is no text stays as it is |
| `cdata` | the text of `{"#cdata-section": …}`, which XML leaves behind; a text stays |
| `list` `list{path}` | always a list, of an object that stands for one too; `{}` and an empty text are empty |
| `entries` | of an object its values as a list, each with its name as `key` |
| `suffix{cm}` | a text or a number with a text behind it |
| `model` | the model number in parentheses of a name |
| `first` `least` `unique` `join{ }` | of a list: its first, the smallest number, each once, as one text |
| `all` `any` `same` | of a list: whether all or any are true; the one value that all have |
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote_to_bytes, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from bobusang.connectors.sources.declared import path, scalars
from bobusang.connectors.sources.declared.clean import collapsed
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Change, Flaw
from bobusang.connectors.sources.declared.model_number import model_numbers
from bobusang.connectors.sources.declared.pattern import compile_pattern
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.document import Document

# A pattern of a filter is tried on no more of a text than this.
PATTERN_TEXT = 10_000
MOST_PARTS = 1000

_ROOTED = re.compile(r"/(?![./])(?!.*/\.)[^\s<>\"\\]*\Z")
_HOSTED = re.compile(r"//[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?/(?!.*/\.)[^\s<>\"\\]*\Z")
_ABSOLUTE = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?/[^\s<>\"]*\Z")

Factory = Callable[[str | None], Change]


def compile_filter(name: str, argument: str | None) -> Change:
    """The filter of this name; one that reads single values is applied to each element of a list."""
    if name in _WHOLE:
        return _WHOLE[name](argument)
    if name in _SINGLE:
        return _each(_SINGLE[name](argument))
    raise Flaw(f"unknown filter '{name[:50]}'", did_you_mean(name, NAMES))


def _plain(change: Change) -> Factory:
    def make(argument: str | None) -> Change:
        if argument is not None:
            raise Flaw(f"this filter takes nothing in braces, not '{argument[:50]}'")
        return change

    return make


def _each(change: Change) -> Change:
    """For a list: each element; one that is unclear makes the whole unclear, one that is nothing is left out."""

    def apply(value: Any, document: Document) -> Any:
        if type(value) is not list:
            return change(value, document)
        found = [change(each, document) for each in value]
        if UNCLEAR in found:
            return UNCLEAR
        return [each for each in found if each is not NOTHING] or NOTHING

    return apply


def _text(change: Callable[[str], Any]) -> Change:
    def apply(value: Any, _: Document) -> Any:
        return change(value) if isinstance(value, str) else UNCLEAR

    return apply


def _strip(text: str) -> Any:
    return collapsed(text) or NOTHING


def _tags(text: str) -> Any:
    return collapsed(LexborHTMLParser(text).text(separator=" ")) or NOTHING


def _address(argument: str | None) -> Change:
    """Relative addresses begin at the page, or at a host of the shop."""
    if argument is None:
        return _abs_url

    def at_host(value: Any, document: Document) -> Any:
        host = document.hosts.get(argument)
        if host is None or not isinstance(value, str) or _ABSOLUTE.match(value) or value.startswith("//"):
            return UNCLEAR if host is None else _abs_url(value, document)
        text = value.strip()
        return f"{host}/{text.lstrip('/')}" if text and _ROOTED.match(f"/{text.lstrip('/')}") else UNCLEAR

    return at_host


def _abs_url(value: Any, document: Document) -> Any:
    if not isinstance(value, str):
        return UNCLEAR
    if _ABSOLUTE.match(value):
        return value
    scheme, host = document.origin
    if scheme and _ROOTED.match(value):  # what `urljoin` would say, at a tenth of its price
        return f"{host}{value}"
    if scheme and _HOSTED.match(value):
        return f"{scheme}:{value}"
    try:
        url = urljoin(document.url, value.strip())
        parts = urlsplit(url)
    except ValueError:
        return UNCLEAR
    return url if parts.scheme in ("http", "https") and parts.hostname else UNCLEAR


def _query(argument: str | None) -> Change:
    if not argument:
        raise Flaw("query needs the name of a parameter", "as in query{brand}")

    def read(text: str) -> Any:
        # Some old links are EUC-KR; bytes of it are hardly ever valid UTF-8.
        query = urlsplit(text).query
        utf8 = _is_utf8(unquote_to_bytes(query))
        try:
            found = parse_qs(query, encoding="utf-8" if utf8 else "euc-kr", max_num_fields=100).get(argument)
        except ValueError:
            return UNCLEAR
        return collapsed(found[0]) or NOTHING if found else NOTHING

    return _text(read)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _split(argument: str | None) -> Change:
    separator, _, index = (argument or ",").rpartition("; ") if "; " in (argument or "") else (argument or ",", "", "")
    if index and not index.lstrip("-").isdigit():
        raise Flaw(f"'{index}' is no number of a part", "as in split{|; -1} for the last part")

    def parts(value: Any, _: Document) -> Any:
        if not isinstance(value, str):
            return UNCLEAR
        found = [collapsed(part) for part in value.split(separator, MOST_PARTS)]
        if not index:
            return [part for part in found if part] or NOTHING
        at = int(index)
        return found[at] or NOTHING if -len(found) <= at < len(found) else NOTHING

    return parts


def _cut(argument: str | None) -> Change:
    if not argument:
        raise Flaw("cut needs a text", "as in cut{/_dims_}")
    return _text(lambda text: text.partition(argument)[0] or NOTHING)


def _re(argument: str | None) -> Change:
    pattern = compile_pattern(argument or "")

    def search(text: str) -> Any:
        found = pattern.search(text, 0, PATTERN_TEXT)
        if found is None:
            return NOTHING
        return (found[1] if pattern.groups else found[0]) or NOTHING

    return _text(search)


def _json(argument: str | None) -> Change:
    follow = path.one(argument or "")

    def read(value: Any, _: Document) -> Any:
        if not isinstance(value, str):
            return follow(value)
        if not value.strip():
            return NOTHING
        try:
            return follow(json.loads(value))
        except Invalid:
            return UNCLEAR

    return read


def _cdata(value: Any, _: Document) -> Any:
    if isinstance(value, dict):
        if not value:
            return NOTHING
        value = value.get("#cdata-section", value.get("#text", UNCLEAR)) if len(value) == 1 else UNCLEAR
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return (value or NOTHING) if isinstance(value, str) else UNCLEAR


def _list(argument: str | None) -> Change:
    """Where one thing may stand for a list of one, and something empty for an empty list."""
    follow = path.one(argument or "")

    def listed(value: Any, _: Document) -> Any:
        if value in ({}, "", []):
            return []
        found = follow(value)
        if found is NOTHING or found is UNCLEAR:
            return UNCLEAR
        return [] if found in ({}, "", []) else found if type(found) is list else [found]

    return listed


def _entries(value: Any, _: Document) -> Any:
    if value in ("", []):
        return []
    if type(value) is not dict or not all(type(each) is dict for each in value.values()):
        return UNCLEAR
    return [{**each, "key": name} for name, each in value.items()]


def _suffix(argument: str | None) -> Change:
    if not argument:
        raise Flaw("suffix needs a text", "as in suffix{cm}")

    def behind(value: Any, _: Document) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return UNCLEAR
        text = str(value).strip()
        return (text if text.endswith(argument) else f"{text}{argument}") if text else NOTHING

    return behind


def _model(text: str) -> Any:
    found = model_numbers(text)
    return found[0] if len(found) == 1 else UNCLEAR if found else NOTHING


def _join(argument: str | None) -> Change:
    separator = argument if argument is not None else " "
    return _listed(lambda values: separator.join(map(str, values)))


def _listed(change: Callable[[list[Any]], Any]) -> Change:
    def apply(value: Any, _: Document) -> Any:
        return change(value) if type(value) is list and value else UNCLEAR

    return apply


def _truths(decide: Callable[[list[Any]], bool]) -> Change:
    return _listed(lambda values: decide(values) if all(type(each) is bool for each in values) else UNCLEAR)


def _same(values: list[Any]) -> Any:
    return values[0] if all(each == values[0] for each in values) else UNCLEAR


def _least(values: list[Any]) -> Any:
    return min(values) if all(type(each) is int for each in values) else UNCLEAR


def _unique(values: list[Any]) -> Any:
    return list(dict.fromkeys(values)) if all(type(each) is str for each in values) else UNCLEAR


_SINGLE: dict[str, Factory] = {
    "won": _plain(scalars.won),
    "money": scalars.money,
    "int": _plain(scalars.whole),
    "decimal": _plain(scalars.decimal),
    "bool": _plain(scalars.truth),
    "not": _plain(scalars.negation),
    "positive": _plain(scalars.positive),
    "map": scalars.mapped,
    "date": scalars.dated,
    "abs_url": _address,
    "query": _query,
    "strip": _plain(_text(_strip)),
    "unescape": _plain(_text(html.unescape)),
    "tags": _plain(_text(_tags)),
    "split": _split,
    "cut": _cut,
    "re": _re,
    "json": _json,
    "cdata": _plain(_cdata),
    "tiers": scalars.tiers,
    "suffix": _suffix,
    "model": _plain(_text(_model)),
}

_WHOLE: dict[str, Factory] = {
    "first": _plain(_listed(lambda values: values[0])),
    "least": _plain(_listed(_least)),
    "unique": _plain(_listed(_unique)),
    "join": _join,
    "all": _plain(_truths(all)),
    "any": _plain(_truths(any)),
    "same": _plain(_listed(_same)),
    "list": _list,
    "entries": _plain(_entries),
}

NAMES = frozenset({*_SINGLE, *_WHOLE})
