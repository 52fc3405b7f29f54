"""What a shop asks for: the first pages for a target, further pages, the pages of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.connectors.sources.declared.stream import FromList, FromTarget, Stream
from bobusang.kit.errors import Invalid
from bobusang.stages.collect.source import FRESH, Ask, Kind, Page, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from bobusang.connectors.sources.declared.paging import Further

# What a page hands to the next one besides the variables of its stream.
TARGET, PAGE, LAST, BEFORE, COUNT = "target", "page", "last", "before", "count"
# What only the request of a page needs.
CURSOR, SIZE = "cursor", "size"

_NOWHERE = Document(Page(Ask(""), b""))


def first(stream: Stream, base: str, target: Target) -> Ask:
    """The first page of a list, or the one page of an index, for a target."""
    given: dict[str, Any] = {TARGET: target.name}
    for variable in stream.variables:
        for origin in variable.origins:
            if isinstance(origin, FromTarget) and origin.kind == target.kind:
                given[variable.name] = _told(target, origin)
    start = stream.paging.start if stream.paging else 1
    return _page(stream, base, given, start)


def _told(target: Target, origin: FromTarget) -> Any:
    name = origin.data
    if name and name not in target.data:
        raise Invalid(f"the target {target.name} has no {name}", hint="add it to the target's data", field=name)
    value = target.data[name] if name else target.key
    if origin.change is None:
        return value
    found = origin.change(value, _NOWHERE)
    if found is NOTHING or found is UNCLEAR:
        raise Invalid(
            f"the target {target.name} is not of the form that is wanted", hint="look at `for_each` of the shop"
        )
    return found


def further(stream: Stream, base: str, given: Mapping[str, Any], page: Further) -> Ask:
    """Another page of a list."""
    kept = {name: value for name, value in given.items() if name not in (PAGE, LAST, BEFORE, COUNT)}
    notes = {LAST: page.last, BEFORE: page.before, COUNT: page.count}
    kept |= {name: value for name, value in notes.items() if value}
    return _page(stream, base, kept, page.page, link=page.link, cursor=page.cursor)


def _page(stream: Stream, base: str, given: dict[str, Any], page: int, *, link: str = "", cursor: str = "") -> Ask:
    parameters = stream.paging.parameters(page, cursor) if stream.paging else {}
    values = {**given, PAGE: page}
    if stream.paging:
        values |= {CURSOR: cursor or None, SIZE: stream.paging.size}
    return Ask(
        link or base + stream.request.url(values, parameters),
        stream.kind,
        stream.name,
        stream.request.method,
        stream.request.sent_headers(values),
        stream.request.sent_body(values),
        {**given, PAGE: page},
        key=f"{stream.name}:{given.get(TARGET, '')}:{page}",
        when=FRESH if stream.paging and stream.paging.known and page > stream.paging.start else "",
    )


def item(stream: Stream, base: str, key: str, given: Mapping[str, Any], when: str = "") -> Ask:
    """A page of one item."""
    return Ask(
        base + stream.request.url(given),
        stream.kind,
        stream.name,
        stream.request.method,
        stream.request.sent_headers(given),
        stream.request.sent_body(given),
        given,
        item=key,
        when=when,
    )


@dataclass(frozen=True, slots=True)
class Child:
    """A stream that is asked for each item of a list: its variables, each with the field that gives it (or the key)."""

    stream: Stream
    when: str
    wanted: tuple[tuple[str, str], ...]


def children(streams: Iterable[Stream], origin: str) -> tuple[Child, ...]:
    """The streams that are asked for each item of this list."""
    found = []
    for stream in streams:
        if origin not in stream.lists:
            continue
        wanted = {
            variable.name: each.field
            for variable in stream.variables
            for each in variable.origins
            if isinstance(each, FromList) and each.stream == origin
        }
        if len(wanted) == len(stream.variables):
            found.append(Child(stream, stream.when, tuple(wanted.items())))
    return tuple(found)


def items(
    asked: tuple[Child, ...], home: Callable[[Stream], str], target: str, key: str, fields: Mapping[str, Any]
) -> Iterator[Ask]:
    """The pages of one item that a list has shown; one whose variable the list does not tell is not asked for."""
    for child in asked:
        given: dict[str, Any] = {TARGET: target}
        for name, field in child.wanted:
            given[name] = fields.get(field) if field else key
        if None not in given.values():
            yield item(child.stream, home(child.stream), key, given, child.when)


def of_item(streams: Iterable[Stream], home: Callable[[Stream], str], target: Target, key: str) -> Iterator[Ask]:
    """The pages of an item that is known by its key, whatever their condition, with what the target's data tell."""
    for stream in streams:
        if stream.kind not in (Kind.ITEM, Kind.PART):
            continue
        given: dict[str, Any] = {TARGET: target.name}
        for variable in stream.variables:
            by_key = any(isinstance(each, FromList) and not each.field for each in variable.origins)
            given[variable.name] = key if by_key else target.data.get(variable.name)
        if all(given[variable.name] is not None for variable in stream.variables):
            yield item(stream, home(stream), key, given)
