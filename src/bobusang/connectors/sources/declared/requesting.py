"""What a stream asks for, compiled: its request, its variables, its paging."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared import asking
from bobusang.connectors.sources.declared.expression import Format, compile_filters, parse, piped
from bobusang.connectors.sources.declared.field import compile_field
from bobusang.connectors.sources.declared.known import Flaw
from bobusang.connectors.sources.declared.paging import MOST_PAGES, By, Paging
from bobusang.connectors.sources.declared.request import Request, check_names, texts
from bobusang.connectors.sources.declared.stream import FromList, FromTarget, Variable
from bobusang.connectors.sources.declared.when import compile_when
from bobusang.kit.lined.fields import named
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.source import WINDOW

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from bobusang.connectors.sources.declared.known import Change, Get
    from bobusang.connectors.sources.declared.section import Section

METHODS = ("get", "post", "put")
STOPS = ("empty", "no_new_ids", "known")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")

_RESERVED = {asking.TARGET, asking.LAST, asking.BEFORE, asking.COUNT, asking.PAGE, asking.CURSOR, asking.SIZE}


def compile_variables(stream: Section, name: str, siblings: Mapping[str, Any]) -> tuple[Variable, ...]:
    """The names of `for_each`: from targets, or from the items of a list among the siblings."""
    section = stream.inner("for_each")
    others = {each: spec for each, spec in siblings.items() if each != name}
    found = []
    for variable in section.values if section else ():
        assert section is not None
        inner = section.inner(variable)
        if not NAME.fullmatch(variable) or variable in _RESERVED:
            reserved = ", ".join(sorted(_RESERVED))
            section.refuse(variable, f"a variable is named by letters, digits and _, and not {reserved}")
        elif inner is not None:
            found.append(_variable(variable, inner, others))
    return tuple(found)


def _variable(name: str, section: Section, others: Mapping[str, Any]) -> Variable:
    section.required("from")
    origins = tuple(_origin(section, text, others) for text in section.words("from"))
    when = section.text("when", most=300) or ""
    try:
        compile_when(when)
    except Flaw as flaw:
        section.refuse("when", flaw.message, flaw.hint)
    section.refuse_others()
    return Variable(name, origins, when)


def _origin(section: Section, text: str, others: Mapping[str, Any]) -> FromTarget | FromList:
    """Where a variable comes from; one that comes from nowhere is noted, and taken for an item's."""
    head, *filters = piped(text)
    where, _, rest = head.partition(".")
    change = _change(section, filters)
    if where == WINDOW and rest:
        return FromTarget(WINDOW, rest)
    if where == "inputs" and rest:
        kind, _, data = rest.partition(".")
        return FromTarget(_singular(kind), data, change)
    if change is not None:
        section.refuse("from", "only what a target gives takes filters", "give the list a field")
    sibling = others.get(where)
    if not isinstance(sibling, dict):
        section.refuse(
            "from",
            f"there is no list '{where[:50]}'",
            did_you_mean(where, {"inputs", WINDOW, *others}),
        )
        return FromList(where)
    fields = {name.removesuffix("?") for told in ("fields", "hands") for name in _names(sibling.get(told))}
    if rest in fields:
        return FromList(where, rest)
    key = sibling.get("key")
    first = key[0] if isinstance(key, list) and key else key
    if rest == "key" or (isinstance(first, str) and rest == _bare(first)):
        return FromList(where)
    section.refuse("from", f"{where} has no '{rest[:50]}'", did_you_mean(rest, fields | {"key"}))
    return FromList(where)


def _names(value: object) -> Iterable[str]:
    return value if isinstance(value, dict) else ()


def _change(section: Section, filters: list[str]) -> Change | None:
    if not filters:
        return None
    try:
        return compile_filters(filters)
    except Flaw as flaw:
        section.refuse("from", flaw.message, flaw.hint)
        return None


def _bare(expression: str) -> str:
    try:
        return parse(expression, Format.JSON).what.removeprefix("@")
    except Flaw:
        return ""


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def compile_request(stream: Section, names: set[str], paging: Paging | None, hosts: Collection[str] = ()) -> Request:
    """What is sent, with names that the variables give, and {page}, {cursor} and {size} where there are pages."""
    stream.required("request")
    section = stream.inner("request")
    if section is None:
        return Request()
    given = [method for method in METHODS if section.values.get(method) is not None]
    paths = {method: section.text(method, most=1000) for method in METHODS}
    if len(given) != 1:
        section.notes.add(section.place, "a request has one method with its path", 'as in get: "/list"')
    method = given[0] if given else "get"
    body = section.anything("body")
    found = Request(
        method=method.upper(),
        path=paths[method] or "/",
        host=host_name(section, hosts),
        query=tuple(section.texts("query").items()),
        headers=tuple(section.texts("headers").items()),
        body=body,
        form=tuple(section.texts("form").items()),
    )
    if not found.path.startswith("/"):
        section.refuse(method, "a path begins with /", "hosts stand in intake.base and intake.hosts")
    if (body is not None or found.form) and method == "get":
        section.refuse("body" if body is not None else "form", "a GET has no body", "use post")
    if body is not None and found.form:
        section.refuse("form", "a body is either JSON or a form")
    _check_names(section, found, method, names | _paged_names(paging))
    section.refuse_others()
    return found


def _paged_names(paging: Paging | None) -> set[str]:
    if paging is None:
        return set()
    by = asking.CURSOR if paging.by is By.CURSOR else asking.PAGE
    return {by, asking.PAGE} | ({asking.SIZE} if paging.size else set())


def host_name(section: Section, hosts: Collection[str]) -> str:
    """Which of the shop's hosts a request goes to; empty: its base."""
    found = section.text("host", most=50) or ""
    if found and found not in hosts:
        section.refuse("host", f"unknown host '{found}'", did_you_mean(found, hosts) or "name it in intake.hosts")
        return ""
    return found


def _check_names(section: Section, request: Request, method: str, known: set[str]) -> None:
    def check(place: str, text: str) -> None:
        try:
            check_names(text, known, braces=place in ("body", "form", "query"))
        except Flaw as flaw:
            section.refuse(place, flaw.message, flaw.hint)

    check(method, request.path)
    for _, value in request.query:
        check("query", value)
    for _, value in request.form:
        check("form", value)
    for _, value in request.headers:
        check("headers", value)
    texts(request.body, lambda text: check("body", text))


def compile_paging(stream: Section, format: Format) -> Paging | None:
    """How a list goes on; None where it has one page."""
    section = stream.inner("pages")
    if section is None:
        return None
    by = section.choice("by", named(By), By.PAGE, what="paging")
    size_param, size = _size(section, stream)
    stop = section.words("stop")
    for word in stop:
        if word not in STOPS:
            section.refuse("stop", f"unknown stop '{word}'", did_you_mean(word, STOPS))
    found = Paging(
        by=by,
        param=section.text("param", most=100) or "",
        start=section.whole("start", 1, range(1000)),
        size_param=size_param,
        size=size,
        total=_get(section, format, "total"),
        next=_get(section, format, "next"),
        prefix=section.text("prefix", most=500) or "",
        empty=_get(section, format, "empty"),
        more=_get(section, format, "more"),
        counts_skipped=section.flag("counts_skipped", default=False),
        most=section.whole("max", 200, range(1, MOST_PAGES + 1)),
        no_new_ids=not stop or "no_new_ids" in stop,
        known="known" in stop,
    )
    if found.prefix and not found.prefix.startswith("/"):
        section.refuse("prefix", "a path begins with /")
    if by is not By.PAGE and found.next is None:
        section.refuse("next", "is missing: where does the page say what comes next?")
    if by is not By.NEXT and not found.param and not _in_path(stream, by):
        name = asking.PAGE if by is By.PAGE else asking.CURSOR
        section.refuse("param", f"is missing: which parameter is the {name}?", f"or put {{{name}}} into the request")
    section.refuse_others()
    return found


def _in_path(stream: Section, by: By) -> bool:
    return f"{{{asking.PAGE if by is By.PAGE else asking.CURSOR}}}" in str(stream.values.get("request"))


def _get(section: Section, format: Format, name: str) -> Get | None:
    spec = section.values.get(name)
    section.words(name)
    if not isinstance(spec, str | list):
        return None
    return compile_field(section.notes, section.at(name), spec, format, page=True)


def _size(section: Section, stream: Section) -> tuple[str, int]:
    inner = section.inner("size")
    if inner is None:
        return "", 0
    inner.required("value")
    if not inner.values.get("param") and f"{{{asking.SIZE}}}" not in str(stream.values.get("request")):
        inner.refuse("param", "is missing: which parameter is the size?", f"or put {{{asking.SIZE}}} into the request")
    found = inner.text("param", most=100) or "", inner.whole("value", 1, range(1, 10_001))
    inner.refuse_others()
    return found
