"""Shops that extend another: the parent's mapping with the child's written over it, each place with its own line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bobusang.kit.errors import Missing
from bobusang.kit.lined.fields import Notes
from bobusang.kit.lined.located import BadText, Located, Place, Problem, Unreadable, written
from bobusang.kit.lined.reading import read

FILE = "shop.yaml"
DEEPEST = 5
SHIPPED = Path(__file__).parent.parent / "shops"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}(?:/[a-z0-9][a-z0-9_-]{0,49})?")


@dataclass(slots=True)
class ShopNotes(Notes):
    """Notes that name the parent's file where the place is the parent's."""

    parents: tuple[tuple[str, Located], ...] = ()

    def add(self, place: Place, message: str, hint: str = "", near: Place | None = None) -> None:
        at = near or place
        for origin, located in self.parents:
            if _written_in(located, at) and not _written_in(self.source, at):
                message = f"{origin}:{located.line(at)}: {message}"
                self.problems.append(Problem(message, written(place), hint=hint))
                return
        Notes.add(self, place, message, hint, near)


def _written_in(located: Located, place: Place) -> bool:
    return place in located.lines or (len(place) > 1 and place[:-1] in located.lines)


@dataclass(frozen=True, slots=True)
class Merged:
    """A shop's mapping with all that it extends, and where to note what is wrong with it."""

    values: dict[str, Any]
    notes: ShopNotes


def read_shop(folder: Path) -> Merged:
    """Read `shop.yaml` of a folder and what it extends; `BadText` where that cannot be."""
    own = _located(folder / FILE, folder.name)
    chain: list[tuple[str, Located]] = []
    here, seen, parent = folder, {folder.resolve()}, own
    while (name := _mapping(parent, folder.name).get("extends")) is not None:
        here = _found(here, name, folder.name, own)
        if here.resolve() in seen or len(chain) >= DEEPEST:
            problem = Problem(f"'{name}' leads in a circle, or too far", "extends", own.line(("extends",)))
            raise BadText(origin(folder.name), [problem])
        seen.add(here.resolve())
        parent = _located(here / FILE, here.name)
        chain.append((origin(str(name)), parent))
    values: dict[str, Any] = {}
    for located in (*(each for _, each in reversed(chain)), own):
        values = _over(values, _mapping(located, folder.name))
    return Merged(
        {name: value for name, value in values.items() if name != "extends"}, ShopNotes(own, [], tuple(chain))
    )


def origin(name: str) -> str:
    """How a shop's file is called in messages."""
    return f"{name}/{FILE}"


def _located(path: Path, name: str) -> Located:
    try:
        return read(path.read_text("utf-8"))
    except OSError:
        raise Missing(f"{origin(name)} is not there", hint="`bobusang source new` makes a shop folder") from None
    except UnicodeDecodeError:
        raise BadText(origin(name), [Problem("the file is not UTF-8", hint="save it as UTF-8")]) from None
    except Unreadable as error:
        raise BadText(origin(name), [error.problem]) from None


def _mapping(located: Located, name: str) -> dict[str, Any]:
    if not isinstance(located.value, dict):
        raise BadText(origin(name), [Problem("names with values are expected", line=1, hint="begin with shop:")])
    return located.value


def _found(folder: Path, name: object, shop: str, own: Located) -> Path:
    if isinstance(name, str) and _NAME.fullmatch(name):
        for place in (folder.parent, SHIPPED):
            if (place / name / FILE).exists():
                return place / name
    problem = Problem(f"there is no shop '{str(name)[:100]}' to extend", "extends", own.line(("extends",)))
    raise BadText(origin(shop), [problem])


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Mappings are merged, anything else is replaced, null takes away."""
    merged = dict(below)
    for name, value in above.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = _over(merged[name], value)
        else:
            merged[name] = value
    return merged
