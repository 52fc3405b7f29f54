"""The options of a product: kept by the mall's own code, set unavailable when they vanish, never deleted."""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from bobusang.catalog.model import FieldChange

Option = dict[str, Any]

PREFIX = "options."
PRICES = frozenset({"price", "list_price", "extra_price"})
COLOURS = frozenset({"color", "colour", "컬러", "색상"})
"""What a choice of colours is called where a source keeps the mall's own names of choices (`groups`)."""


def merge(
    before: Sequence[Mapping[str, Any]] | None, said: Sequence[Mapping[str, Any]] | None, *, complete: bool
) -> list[Option]:
    """The options after a page has named some of them.

    The order of old ones stays and new ones follow, so that an order which changes is no change. An option that is not
    named any more is gone, and so unavailable, if the page names all there are; one that comes back revives. What the
    page does not say of an option stays, but for whether a revived one is available: that is then not known.
    """
    named = by_code(said or ())
    if not before:
        return list(named.values())
    known = by_code(before)
    merged = [_renewed(option, named.get(code), complete=complete) for code, option in known.items()]
    return merged + [option for code, option in named.items() if code not in known]


def _renewed(option: Option, said: Option | None, *, complete: bool) -> Option:
    if said is None:
        return {**option, "available": False, "gone": True} if complete else option
    if option.get("gone"):
        return {**option, "available": None, **said, "gone": False}
    return {**option, **said}


def by_code(options: Iterable[Mapping[str, Any]]) -> dict[str, Option]:
    """Options by their code; a code that comes twice is numbered, because losing an option would be worse.

    They are the options themselves, not copies, wherever their code stands as it is.
    """
    found: dict[str, Option] = {}
    times: dict[str, int] = {}
    for option in options:
        code = name = _code(option)
        if name not in found and option.get("code") == name and type(option) is dict:
            found[name] = option
            continue
        while name in found:
            times[code] = times.get(code, 1) + 1
            name = f"{code}#{times[code]}"
        found[name] = {**option, "code": name}
    return found


def colours(options: Sequence[Mapping[str, Any]] | None) -> Iterator[str]:
    """The colours of options that are still there, as the mall writes them."""
    for option in options or ():
        if option.get("gone"):
            continue
        own, groups = option.get("color"), option.get("groups")
        if isinstance(own, str):
            yield own
        if isinstance(groups, dict):
            told = [text for name, text in groups.items() if name.casefold() in COLOURS]
            yield from (text for text in told if isinstance(text, str))


def _code(option: Mapping[str, Any]) -> str:
    """The mall's code, or the text as read when there is none."""
    code = option.get("code")
    if code is not None:
        return str(code)
    return "/".join(str(option[name]) for name in ("color", "size") if option.get(name) is not None)


def diff(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """(path, old, new) of each attribute that differs, and of each option that only one side has."""
    known, now = by_code(before), by_code(after)
    yield from ((f"{PREFIX}{code}", option, None) for code, option in known.items() if code not in now)
    for code, option in now.items():
        old = known.get(code)
        if old is None:
            yield f"{PREFIX}{code}", None, option
        elif old != option:
            names = sorted({*old, *option})
            yield from (
                (f"{PREFIX}{code}.{name}", old.get(name), option.get(name))
                for name in names
                if old.get(name) != option.get(name)
            )


def replay(before: Sequence[Mapping[str, Any]] | None, changes: Iterable[FieldChange]) -> list[Option]:
    """The options after these changes."""
    after = {code: dict(option) for code, option in by_code(before or ()).items()}
    for change in changes:
        path = change.field.removeprefix(PREFIX)
        if _is_whole(change.new, path):
            after[path] = dict(change.new)
        elif _is_whole(change.old, path):
            del after[path]
        else:
            code, _, attribute = path.rpartition(".")
            after.setdefault(code, {"code": code})[attribute] = change.new
    return list(after.values())


def _is_whole(value: object, code: str) -> bool:
    return isinstance(value, dict) and value.get("code") == code


def split(options: Sequence[Mapping[str, Any]]) -> tuple[list[Any], list[Any]]:
    """What belongs to stock, and what belongs to price, as plain values to be hashed: names, then values by name.

    Names are told once for all options that have the same; nothing is told of prices when none has one of its own.
    """
    names = options[0].keys()
    if len(options) == 1 or all(option.keys() == names for option in options):
        told = _columns(tuple(names))
        return [told.stock, *map(told.stock_of, options)], _prices(told, options)
    alone = [split([option]) for option in options]
    prices = [one for _, priced in alone for one in priced]
    return [one for stock, _ in alone for one in stock], prices


def _prices(told: _Columns, options: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [] if told.prices_of is None else [told.prices, *map(told.prices_of, options)]


class _Columns(NamedTuple):
    stock: tuple[str, ...]
    stock_of: Callable[[Any], Any]
    prices: tuple[str, ...]
    prices_of: Callable[[Any], Any] | None


@lru_cache(maxsize=256)
def _columns(names: tuple[str, ...]) -> _Columns:
    """How the attributes of an option with these names, in whatever order, are taken apart: in that of the alphabet."""
    stock = tuple(sorted(name for name in names if name not in PRICES))
    prices = tuple(sorted(PRICES.intersection(names)))
    named = ("code", *prices) if "code" in names and prices else prices
    return _Columns(stock, itemgetter(*stock) if stock else tuple, named, itemgetter(*named) if prices else None)


def availability(options: Sequence[Mapping[str, Any]] | None) -> bool | None:
    """Whether anything can be bought: one is enough; all must be known not to be for a no."""
    denied = bool(options)
    for option in options or ():
        said = option.get("available")
        if said is True:
            return True
        denied = denied and said is False
    return False if denied else None
