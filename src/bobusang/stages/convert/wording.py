"""What is told of a product in words: which of the mall's texts are translated, and how they make a listing's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bobusang.catalog.tables.variants import Axis
from bobusang.stages.convert import colors, materials, model_number, sizes
from bobusang.stages.convert.text import clean, cut, ending, has_hangul, width, without_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bobusang.stages.convert.materials import Part
    from bobusang.stages.convert.options import Source

    Texts = Callable[[str], str | None]
    """The translation of a cleaned text of the mall; None where there is none yet."""

ONE_COLOR = "画像参照"
"""What the only colour is called where the mall names none: look at the picture."""
NAME_WIDTH = 60
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")


def name_source(fields: Mapping[str, Any]) -> str:
    """A product's name without what is told elsewhere: model number, season and the mall's name of the brand."""
    name = clean(str(fields.get("name") or ""))
    for text in (fields.get("brand_ko"), fields.get("brand"), fields.get("model")):
        if isinstance(text, str) and clean(text):
            name = without_word(name, clean(text))
    shorter = clean(model_number.without_season(_BRACKETS.sub(" ", name)))
    return shorter or clean(name)


def one_color(fields: Mapping[str, Any]) -> str:
    """The colour of a thing that comes in one: said as such, or as a parenthesis of its name that is nothing else."""
    said = fields.get("color")
    if isinstance(said, str) and clean(said):
        return clean(said)
    inside = {clean(text[1:-1]) for text in _BRACKETS.findall(str(fields.get("name") or ""))}
    found = [text for text in inside if colors.is_color(text) and not re.search(r"\d", text)]
    return found[0] if len(found) == 1 else ""


def color_source(text: str) -> str:
    """A colour as it is translated."""
    return clean(text)


def size_source(text: str) -> str:
    """A size as it is told; translated only if Korean is left in it."""
    return sizes.written(clean(text))


def wanted(fields: Mapping[str, Any], sources: Sequence[Source], parts: Sequence[Part]) -> list[str]:
    """Every text that needs a translation, each once, in the order in which they are told."""
    found = [name_source(fields)]
    found += [color_source(one.texts[Axis.COLOR]) if Axis.COLOR in one.texts else one_color(fields) for one in sources]
    found += [size_source(one.texts[Axis.SIZE]) for one in sources if Axis.SIZE in one.texts]
    found += [word for part in parts for word in (part.name, *(share.word for share in part.shares))]
    found += [origin(fields)]
    return [text for text in dict.fromkeys(found) if has_hangul(text)]


def origin(fields: Mapping[str, Any]) -> str:
    """Where it is made, as the mall says."""
    said = fields.get("origin")
    return clean(said) if isinstance(said, str) else ""


def told(text: str, texts: Texts) -> str | None:
    """A text in the market's language."""
    return texts(text) if has_hangul(text) else text


def name(fields: Mapping[str, Any], brand: str, texts: Texts, reworded: Callable[[str], str] = str) -> str | None:
    """The listing's name: the brand, then what it is, in words that may be said, as long as the market allows."""
    words = told(name_source(fields), texts)
    if words is None:
        return None
    words = reworded(words)
    whole = words if brand.casefold() in words.casefold() else f"{brand} {words}"
    if width(whole) <= NAME_WIDTH:
        return cut(whole, NAME_WIDTH)
    rest = re.sub(re.escape(brand), " ", words, flags=re.IGNORECASE) if brand else words
    return f"{brand} {ending(rest, NAME_WIDTH - width(brand) - 1)}".strip()


def comments(fields: Mapping[str, Any], title: str, brand: str, style: str, parts: Sequence[Part], texts: Texts) -> str:
    """The listing's text: only what the mall says as a fact, never its own prose."""
    lines = [title, "", f"■ブランド：{brand}"]
    lines += [f"■品番：{style}"] if style else []
    made = [line for part in parts if (line := _part(part, texts))]
    lines += [f"■素材：{' / '.join(made)}"] if made else []
    place = told(origin(fields), texts)
    lines += [f"■原産国：{place}"] if place else []
    return "\n".join(lines)


def _part(part: Part, texts: Texts) -> str:
    words = list(_shares(part, texts))
    label = told(part.name, texts)
    if None in words or label is None:
        return ""
    return f"{label} {'・'.join(str(word) for word in words)}".strip()


def _shares(part: Part, texts: Texts) -> Iterator[str | None]:
    for share in part.shares:
        word = told(share.word, texts)
        yield None if word is None else word + (f"{share.percent.normalize():f}%" if share.percent is not None else "")


def read_parts(fields: Mapping[str, Any]) -> tuple[Part, ...]:
    """A record's materials."""
    return materials.parse(fields.get("materials"))
