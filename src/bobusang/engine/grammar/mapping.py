"""Input and output mappings: names, each with a path into what is at hand, or with a value of its own.

`{url: $.url, page: 1, shop: $target.key, note: $.note?, price: $$5}` takes `url` and, where there is one, `note` from
the value handed over, `shop` from the target, and the rest as it stands; `$$` begins a text that begins with `$`.
Mappings and lists inside are mapped too. An empty mapping hands over what it gets.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bobusang.engine.grammar import path
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.engine.grammar.path import Scope

    Reader = Callable[[Scope], object]

DEEPEST = 20
MOST = 1000

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Mapping:
    """A compiled mapping, to be applied any number of times."""

    spec: abc.Mapping[str, object]
    _readers: tuple[tuple[str, Reader], ...] = field(repr=False, compare=False)

    def apply(self, scope: Scope) -> dict[str, object]:
        """The mapped value. The scope has `$`, and by name `job`, `target`, `config`, `results`."""
        if not self._readers:
            return _handed_over(scope.get("$"))
        mapped = ((name, read(scope)) for name, read in self._readers)
        return {name: value for name, value in mapped if value is not _ABSENT}


def compile_mapping(spec: object) -> Mapping:
    """Check a mapping and make it ready; what is wrong is found here, not when a task runs."""
    if spec is None:
        spec = {}
    if not isinstance(spec, abc.Mapping):
        raise Invalid("a mapping is names with values", hint="as {url: $.url, page: 1}")
    _check_size(spec)
    return Mapping(dict(spec), tuple((_name(name), _reader(str(name), value)) for name, value in spec.items()))


def _reader(key: str, value: object) -> Reader:
    match value:
        case str() if value.startswith("$$"):
            return _fixed(value[1:])
        case str() if value.startswith("$"):
            return _found(key, value)
        case abc.Mapping():
            fields = [(_name(name), _reader(f"{key}.{name}", each)) for name, each in value.items()]
            return lambda scope: {name: it for name, read in fields if (it := read(scope)) is not _ABSENT}
        case list() | tuple():
            items = [_reader(f"{key}[{at}]", each) for at, each in enumerate(value)]
            return lambda scope: [it for read in items if (it := read(scope)) is not _ABSENT]
    return _fixed(value)


def _fixed(value: object) -> Reader:
    return lambda _: value


def _found(key: str, text: str) -> Reader:
    try:
        way = path.parse(text)
    except Invalid as error:
        raise Invalid(f"{key}: {error.message}", hint=error.hint, field=key) from error

    def read(scope: Scope) -> object:
        try:
            return way.read(scope)
        except path.Absent as absent:
            if way.optional:
                return _ABSENT
            hint = f"if it may be missing, write {text}?"
            raise Invalid(f"{key}: {way.explain(absent)}", hint=hint, field=key) from None

    return read


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise Invalid(f"a name in a mapping is a text, not {name!r}", hint="put it in quotes")
    return name


def _handed_over(value: object) -> dict[str, object]:
    match value:
        case None:
            return {}
        case abc.Mapping():
            return dict(value)
    raise Invalid(
        f"what is handed over is a {type(value).__name__}, not names with values", hint="map it, as {items: $}"
    )


def _check_size(spec: abc.Mapping[str, object]) -> None:
    """Level by level, so that no nesting is deep enough to exhaust the stack."""
    level: list[object] = [spec]
    count = 0
    for _ in range(DEEPEST):
        level = [each for value in level for each in _inside(value)]
        count += len(level)
        if not level:
            return
        if count > MOST:
            raise Invalid(f"a mapping has at most {MOST} values")
    raise Invalid(f"a mapping is nested at most {DEEPEST} deep")


def _inside(value: object) -> abc.Iterable[object]:
    match value:
        case abc.Mapping():
            return value.values()
        case list() | tuple():
            return value
    return ()
