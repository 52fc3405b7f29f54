"""Options that the mall spells anew under the same codes: they stay what they were, on the market too.

A mall's codes name variants, so an option is known by all codes of its variants: if they say one new text now, which no
other option has or had, it is the same option under another name. Where one code of a product names something else than
before (a mall that replaces its options in order gives old codes to new things), no code of it is believed, and texts
alone decide.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from bobusang.catalog.tables.variants import Axis
from bobusang.stages.convert import colors, sizes
from bobusang.stages.convert.options import text_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bobusang.catalog.variants import Goods, Option
    from bobusang.stages.convert.options import Source

Names = dict[Axis, dict[str, str]]
"""By axis and text, the key of the option that it names; a text that is not there names itself."""
_WORDS = (re.compile(r"[a-z]+"), re.compile(r"[가-힣]+"), re.compile(r"[ぁ-ヿ㐀-鿿]+"))
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def named(goods: Goods) -> Names:
    """The options by what the mall last called them: an option that was spelled anew has its first text as key."""
    found: Names = {axis: {} for axis in Axis}
    for option in goods.options:
        if option.key and option.text:
            found[option.axis][text_key(option.axis, option.text)] = option.key
    return found


def respelled(sources: Sequence[Source], before: Goods, told: Callable[[Axis, str], str]) -> Names:
    """`named`, and the texts that are new for options that were there."""
    names = named(before)
    if strangers(sources, before, told):
        return names
    owners = _owners(before)
    known = {(option.axis, option.key) for option in before.options}
    new: dict[Axis, dict[str, set[str]]] = {axis: {} for axis in Axis}
    for one in sources:
        for axis in one.texts if one.code in owners else ():
            new[axis].setdefault(owners[one.code or ""][axis], set()).add(_key(one, axis, names))
    for axis in Axis:
        said = {_key(one, axis, names) for one in sources if axis in one.texts}
        times = Counter(text for texts in new[axis].values() for text in texts)
        for key, texts in new[axis].items():
            text = next(iter(texts))
            if len(texts) == 1 and times[text] == 1 and key not in said and (axis, text) not in known:
                names[axis][text] = key
    return names


def strangers(sources: Sequence[Source], before: Goods, told: Callable[[Axis, str], str]) -> list[Source]:
    """Those whose codes named something else before: where there is one, no code of the product is believed."""
    names, owners = named(before), _owners(before)
    known = {(option.axis, option.key): option for option in before.options}

    def is_other(one: Source, axis: Axis, text: str) -> bool:
        key = owners[one.code or ""][axis]
        return _key(one, axis, names) != key and not _is_same(known[axis, key], text, told)

    mine = (one for one in sources if one.code in owners)
    return [one for one in mine if any(is_other(one, axis, text) for axis, text in one.texts.items())]


def _key(one: Source, axis: Axis, names: Mapping[Axis, Mapping[str, str]]) -> str:
    key = one.key(axis)
    return names[axis].get(key, key)


def _owners(goods: Goods) -> dict[str, dict[Axis, str]]:
    """By code, the option of each axis that it named; a code that named two cells names none."""
    found: dict[str, dict[Axis, str]] = {}
    times = Counter(code for one in goods.variants if not one.filler for code in one.codes)
    for one in goods.variants:
        for code in one.codes if not one.filler else ():
            if times[code] == 1:
                found[code] = {Axis.COLOR: one.color_key, Axis.SIZE: one.size_key}
    return found


def _is_same(option: Option, text: str, told: Callable[[Axis, str], str]) -> bool:
    """Whether a new text may mean what the option is: nothing that is understood of both speaks against it."""
    if option.market_text.casefold() == told(option.axis, text).casefold():
        return True
    was, now = (sizes.plain(one).casefold() for one in (option.text, text))
    if not _agree(_NUMBER.findall(was), _NUMBER.findall(now)):
        return False
    if option.axis is Axis.SIZE:
        marks = sizes.letters(was), sizes.letters(now)
        if sizes.is_free(was) or sizes.is_free(now):
            return sizes.is_free(was) and sizes.is_free(now)
    else:
        marks = sorted(colors.families(was)), sorted(colors.families(now))
    if all(marks):
        return _agree(*marks)
    return all(_agree(words.findall(was), words.findall(now)) for words in _WORDS)


def _agree(was: Iterable[str], now: Iterable[str]) -> bool:
    """Whether one says what the other says, or more of it; who says nothing agrees."""
    one, other = Counter(was), Counter(now)
    return one <= other or other <= one
