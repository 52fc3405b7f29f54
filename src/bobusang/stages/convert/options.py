"""Options as the mall lists them, read into colour and size: the values of a group decide what the group is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.tables.variants import Axis
from bobusang.catalog.variants import Stock, source_key
from bobusang.stages.convert import colors, sizes, splitting, stock
from bobusang.stages.convert.model import Reason, Why
from bobusang.stages.convert.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Said = list[tuple[str, str]]
    """(group, text) of one option."""

NAMES = {
    **dict.fromkeys(("color", "colour", "색상", "컬러", "색", "칼라"), Axis.COLOR),
    **dict.fromkeys(("size", "사이즈", "치수", "크기"), Axis.SIZE),
}
"""What a group is called; believed only where its values say nothing."""
PLAIN = "옵션"
"""The group of an option that says one text and not of what."""


class Source(msgspec.Struct, frozen=True):
    """One option of the mall: its code, and its text for each axis as it was read (None: not said)."""

    code: str | None
    texts: Mapping[Axis, str]
    stock: Stock
    price: int | None
    gone: bool
    whole: str = ""
    """The one text that colour and size were read from, where they were."""

    def key(self, axis: Axis) -> str:
        """What the text of an axis is found again by."""
        return text_key(axis, self.texts.get(axis, ""))

    @property
    def text(self) -> str:
        """All that it says, for people."""
        return " / ".join(text for axis in Axis if (text := self.texts.get(axis)))

    def otherwise(self) -> list[Source]:
        """The same, read another way: what was read apart as one text, and one text as what it may be apart."""
        if self.whole:
            readings: list[dict[Axis, str]] = [{axis: self.whole} for axis in Axis]
        else:
            only = next(iter(self.texts.values())) if len(self.texts) == 1 else ""
            readings = [cell.texts for cell in splitting.apart(only)]
        return [msgspec.structs.replace(self, texts=texts) for texts in readings]


def text_key(axis: Axis, text: str) -> str:
    """What a text is found again by: as it was read, but for blanks and the names of the one size."""
    return source_key(sizes.FREE if axis is Axis.SIZE and sizes.is_free(text) else clean(text))


@dataclass(frozen=True, slots=True)
class Sorted:
    """The options of a product, the axes that they really choose along, and what speaks against listing them."""

    sources: tuple[Source, ...]
    axes: tuple[Axis, ...]
    problems: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()


def read(options: Sequence[Mapping[str, Any]], *, sold_out: bool = False) -> Sorted:
    """Sort a record's options along colour and size."""
    said = [_said(option) for option in options]
    apart, unclear = _apart(said)
    found, problems = _chosen(apart)
    axes = tuple(axis for axis in Axis if axis in found)
    sources = [
        _source(one, _along(texts, found), whole="" if texts is before else _chosen_text(before), sold_out=sold_out)
        for one, before, texts in zip(options, said, apart, strict=True)
    ]
    placed = tuple(one for one in sources if all(axis in one.texts for axis in axes))
    lost = len(sources) - len(placed)
    notes = (
        (Reason(Why.OPTION_UNREADABLE, f"{lost} of {len(sources)} options do not say all of {axes}"),) if lost else ()
    )
    return Sorted(placed, axes, (*unclear, *problems, *_mixed(placed), *_mute(placed)), notes)


def texts(options: Sequence[Mapping[str, Any]]) -> list[dict[Axis, str]]:
    """What each option says along colour and size, for whoever shows them."""
    said, _ = _apart([_said(option) for option in options])
    found, _ = _chosen(said)
    return [_along(texts, found) for texts in said]


def _apart(said: list[Said]) -> tuple[list[Said], list[Reason]]:
    """Options whose one text says colour and size, as if each were said by itself; and what is unclear about it."""
    choices = {name: values for name, values in _groups(said).items() if not all(map(sizes.is_free, values))}
    if len(choices) > 1:
        return said, _beside(choices)
    found = splitting.split(next(iter(choices.values()), ()))
    if found.unclear:
        text = f"'{found.unclear}' may be a colour and a size in one, and not all options surely are"
        return said, [Reason(Why.AXES_UNCLEAR, text, "options")]
    if not found.cells:
        return said, []
    cells = [found.cells.get(_chosen_text(texts)) for texts in said]
    return [[(axis.value, text) for axis, text in cell.texts.items()] if cell else [] for cell in cells], []


def _beside(choices: Mapping[str, Sequence[str]]) -> list[Reason]:
    """Colour and size in one, and something else to choose: that is one axis too many, unless the other is the size
    and what looks like one the colour's own."""
    sure = {name for name, values in choices.items() if by_values(values) is Axis.SIZE}
    double = next((name for name, values in choices.items() if not sure and splitting.split(values).cells), None)
    text = f"the group '{double}' says colour and size in one, and is not the only choice"
    return [Reason(Why.AXES_UNCLEAR, text, "options")] if double else []


def _chosen_text(said: Said) -> str:
    return next((text for _, text in said if not sizes.is_free(text)), "")


def _chosen(said: Sequence[Said]) -> tuple[dict[Axis, str], list[Reason]]:
    """The group of each axis, and what is unclear about it."""
    found: dict[Axis, str] = {}
    problems: list[Reason] = []
    for name, axis in classified(_groups(said)).items():
        if axis is None:
            continue
        if axis in found:
            problems.append(
                Reason(Why.AXES_UNCLEAR, f"the groups '{found[axis]}' and '{name}' both look like {axis}", axis)
            )
        found.setdefault(axis, name)
    return found, problems


def classified(groups: Mapping[str, Sequence[str]]) -> dict[str, Axis | None]:
    """Which axis each group is; None for one that offers no choice, because all it says is FREE."""
    sure = {name: by_values(values) for name, values in groups.items()}
    free = [name for name, values in groups.items() if all(map(sizes.is_free, values))]
    axes: dict[str, Axis | None] = {}
    for name in groups:
        if name in free:
            axes[name] = None
            continue
        left = [axis for axis in Axis if axis not in sure.values()]
        axes[name] = sure[name] or NAMES.get(name.strip().casefold()) or (left[0] if left else Axis.COLOR)
    # A thing whose only group says FREE is of one size, and that is a size.
    if free and Axis.SIZE not in axes.values():
        axes[free[-1]] = Axis.SIZE
    return axes


def by_values(values: Iterable[str]) -> Axis | None:
    """What a group is by what it holds; None where its values do not say."""
    count = Counter(_looks(value) for value in set(values) if not sizes.is_free(value))
    if count[Axis.SIZE] > count.total() / 2:
        return Axis.SIZE
    return Axis.COLOR if count[Axis.COLOR] > count.total() / 2 else None


def _looks(value: str) -> Axis | None:
    if sizes.is_size(value):
        return Axis.SIZE
    return Axis.COLOR if colors.is_color(value) else None


def _groups(said: Sequence[Said]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for texts in said:
        for name, text in texts:
            groups.setdefault(name, []).append(text)
    return groups


def _said(option: Mapping[str, Any]) -> Said:
    """(group, text) of an option: colour, size, the groups that a source could not name (`groups`), and its one text
    (`option`); what it is called (`name`) only where nothing else is said, for a name may repeat all of that."""
    more = option.get("groups")
    pairs = [("color", option.get("color")), ("size", option.get("size")), (PLAIN, option.get("option"))]
    pairs += list(more.items()) if isinstance(more, dict) else []
    return _texts(pairs) or _texts([(PLAIN, option.get("name"))])


def _texts(pairs: Iterable[tuple[Any, Any]]) -> Said:
    return [(str(name), plain) for name, text in pairs if isinstance(text, str) and (plain := text.strip())]


def _source(option: Mapping[str, Any], texts: Mapping[Axis, str], *, whole: str, sold_out: bool) -> Source:
    code, price = option.get("code"), option.get("price")
    return Source(
        None if code is None else str(code),
        texts,
        stock.OUT if sold_out else stock.claim(option),
        price if type(price) is int and price > 0 else None,
        option.get("gone") is True,
        whole,
    )


def _along(said: Said, found: Mapping[Axis, str]) -> dict[Axis, str]:
    texts = dict(said)
    return {axis: texts[name] for axis, name in found.items() if name in texts}


def _mixed(sources: Sequence[Source]) -> list[Reason]:
    """FREE beside other sizes is refused by the market (1,201 listings of one shop)."""
    told = {one.key(Axis.SIZE): one.texts[Axis.SIZE] for one in sources if Axis.SIZE in one.texts and not one.gone}
    if sizes.FREE not in told or len(told) == 1:
        return []
    others = ", ".join(sorted(text for key, text in told.items() if key != sizes.FREE)[:5])
    return [Reason(Why.FREE_MIXED, f"'{told[sizes.FREE]}' stands beside the sizes {others}", Axis.SIZE)]


def _mute(sources: Sequence[Source]) -> list[Reason]:
    """Options that say nothing cannot be told apart: together they would be sold as one thing."""
    codes = list(dict.fromkeys(one.code for one in sources if not one.texts and not one.gone))
    if len(codes) < 2:
        return []
    told = ", ".join(map(str, codes[:5]))
    return [Reason(Why.AXES_UNCLEAR, f"the options {told} do not say what they are", "options")]
