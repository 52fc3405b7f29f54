"""CONVERT itself: a record, what people have mapped, the market's lists and translations make a product, or a hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.tables.variants import Axis
from bobusang.stages.convert import customs, grid, measurements, model_number, options, wording
from bobusang.stages.convert.gates import Field, Rule
from bobusang.stages.convert.masters import Kind
from bobusang.stages.convert.model import Converted, Held, Reason, Why
from bobusang.stages.convert.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from bobusang.catalog.brands import MallBrand
    from bobusang.catalog.categories import MallCategory
    from bobusang.catalog.variants import Goods
    from bobusang.stages.convert.gates import Gate, Problem
    from bobusang.stages.convert.mapping import Mapped
    from bobusang.stages.convert.masters import Masters
    from bobusang.stages.convert.materials import Part
    from bobusang.stages.convert.wording import Texts

VERSION = "4"
"""Grows when the same inputs would make another product, so that old conversions are made anew."""
UNWANTED = {Rule.BRAND: Why.BRAND_BLOCKED, Rule.SOURCE: Why.SOURCE_BLOCKED}


@dataclass(frozen=True, slots=True)
class Read:
    """A record as it is understood before anything is known of the market."""

    fields: Mapping[str, Any]
    options: options.Sorted
    parts: tuple[Part, ...]
    wanted: tuple[str, ...]
    """Its texts that need a translation before it can be converted."""


@dataclass(frozen=True, slots=True)
class Sayable:
    """Translations, and how they are put into words that may be said on the market that day."""

    texts: Texts
    gate: Gate
    on: date

    def reworded(self, text: str) -> str:
        """In words that may be said."""
        return self.gate.reworded(text, self.on)

    def name(self, fields: Mapping[str, Any], brand: str) -> str:
        """The listing's name; what it is gets its words before it is cut to what is left beside the brand."""
        return self.reworded(wording.name(fields, brand, self.texts, self.reworded) or "")

    def comments(self, fields: Mapping[str, Any], title: str, brand: str, style: str, parts: tuple[Part, ...]) -> str:
        """The listing's text."""
        return self.reworded(wording.comments(fields, title, brand, style, parts, self.texts))

    def option(self, source: str) -> str:
        """A colour or a size, before two that became the same are told apart; empty: nothing of it may be said."""
        return self.reworded(wording.told(source, self.texts) or "")


def read(fields: Mapping[str, Any], found: options.Sorted | None = None) -> Read:
    """Understand a record; `found` are its options where they have been read already."""
    found = found or read_options(fields)
    parts = wording.read_parts(fields)
    return Read(fields, found, parts, tuple(wording.wanted(fields, found.sources, parts)))


def read_options(fields: Mapping[str, Any]) -> options.Sorted:
    """A record's options; a thing without any is one thing, of which the page says whether it can be bought."""
    listed = fields.get("options")
    sold_out = fields.get("sold_out")
    if isinstance(listed, list) and listed:
        return options.read(_priced(listed, fields.get("price")), sold_out=sold_out is True)
    return options.read([{"available": not sold_out if isinstance(sold_out, bool) else None}])


def _priced(listed: list[Any], price: Any) -> list[Any]:
    """The options with their own prices: some malls tell what one costs beyond the product."""
    if type(price) is not int or not any(isinstance(one, dict) and one.get("extra_price") for one in listed):
        return listed
    return [
        {"price": price + one["extra_price"], **one} if type(one.get("extra_price")) is int else one for one in listed
    ]


def convert(
    record: Read,
    mapped: Mapped,
    masters: Masters,
    texts: Texts,
    *,
    gate: Gate,
    on: date,
    before: Converted | None = None,
    unknown_color: int | None = None,
) -> Converted | Held:
    """The product as the market is told it, or every reason why it is not yet; `before` is what it was told last.

    A colour that the market's list has nothing for holds the product, unless `unknown_color` says what it is told as.
    """
    fields, found = record.fields, record.options
    brand, category = mapped.brand(fields), mapped.category(fields)
    problems = [one for one in (brand, category) if isinstance(one, Reason)]
    problems += _ruled(fields)
    problems += found.problems
    if not found.sources:
        problems.append(Reason(Why.OPTIONS_UNKNOWN, "none of its options says all that the others say", "options"))
    problems += _changed(found, before)
    if not clean(str(fields.get("name") or "")):
        problems.append(Reason(Why.NAME_MISSING, "the mall gives it no name", "name"))
    problems += _untranslated(record.wanted, texts)
    if problems or isinstance(brand, Reason) or isinstance(category, Reason):
        return Held(tuple(problems))
    gone = _vanished(brand, category, masters)
    sized = measurements.chart(fields.get("measurements"), masters.measures(category.buyma_category_id or 0))
    sayable = Sayable(texts, gate, on)
    words = _words(fields, sized, masters, category.buyma_category_id or 0, sayable, unknown_color)
    goods, notes = grid.build(found, words, before.goods if before else None)
    if not goods.variants:
        return Held((*gone, *notes))
    made = _made(record, brand, category, masters, sayable, (goods, notes))
    gone += _unmapped(made.goods, masters)
    made = msgspec.structs.replace(made, notes=(*made.notes, *_dropped(sized)))
    refused = [
        Reason(UNWANTED.get(one.rule, Why.TEXT_REFUSED), f"{one.message}: {one.advice}", one.field)
        for one in (*_unwanted(brand, masters, gate, on), *_gated(made, gate, on))
    ]
    return Held((*gone, *refused)) if gone or refused else made


def _ruled(fields: Mapping[str, Any]) -> list[Reason]:
    """What a wholesaler does not allow, or not as we sell: one piece at a time, by pictures that it lets us show."""
    found = []
    least = fields.get("minimum_order")
    if type(least) is int and least > 1:
        found.append(Reason(Why.BULK_ONLY, f"it is sold from {least} pieces on, and we buy one", "minimum_order"))
    if fields.get("images_usable") is False:
        found.append(Reason(Why.IMAGES_UNUSABLE, "its supplier does not let us use its pictures", "images"))
    return found


def _changed(found: options.Sorted, before: Converted | None) -> list[Reason]:
    if before is None:
        return []
    if before.axes != tuple(found.axes):
        was, now = (" and ".join(axes) or "no choice" for axes in (before.axes, found.axes))
        text = f"its options were a choice of {was} and are one of {now}: that is a new product"
        return [Reason(Why.AXES_CHANGED, text, "options")]
    return list(grid.relabeled(found, before.goods))


def _untranslated(wanted: Sequence[str], texts: Texts) -> list[Reason]:
    missing = [text for text in wanted if texts(text) is None]
    return [Reason(Why.TEXT_UNTRANSLATED, f"'{text[:50]}' is not translated", "text") for text in missing]


def _vanished(brand: MallBrand, category: MallCategory, masters: Masters) -> list[Reason]:
    """What was accepted may have left the market's lists since."""
    found = []
    if brand.buyma_brand_id and not masters.has(Kind.BRANDS, brand.buyma_brand_id):
        text = f"the market has no brand {brand.buyma_brand_id} any more"
        found.append(Reason(Why.MASTER_VANISHED, text, "brand"))
    if category.buyma_category_id and not masters.has(Kind.CATEGORIES, category.buyma_category_id):
        text = f"the market has no category {category.buyma_category_id} any more"
        found.append(Reason(Why.MASTER_VANISHED, text, "category"))
    return found


def _made(
    record: Read,
    brand: MallBrand,
    category: MallCategory,
    masters: Masters,
    sayable: Sayable,
    built: tuple[Goods, tuple[Reason, ...]],
) -> Converted:
    fields, parts = record.fields, record.parts
    brand_id, category_id = brand.buyma_brand_id or 0, category.buyma_category_id or 0
    told = masters.name(Kind.BRANDS, brand_id) if brand_id else ""
    brand_name = told or brand.buyma_brand_name or brand.name_en or brand.key
    goods, doubled = built
    model, refused = _model(fields)
    style = model if brand_id else ""
    title = sayable.name(fields, brand_name)
    said = fields.get("category")
    path = " > ".join(map(str, said)) if isinstance(said, list | tuple) else str(said or "")
    return Converted(
        name=title,
        comments=sayable.comments(fields, title, brand_name, style, parts),
        brand_id=brand_id,
        brand_name="" if brand_id else brand_name,
        category_id=category_id,
        axes=tuple(axis.value for axis in record.options.axes),
        goods=goods,
        model=model,
        style_number=style,
        season_id=masters.season(str(fields.get("season") or "")),
        size_unit=measurements.UNIT if any(one.details for one in goods.options) else None,
        materials=tuple(msgspec.to_builtins(part) for part in parts),
        construction=customs.construction(parts, (path, str(fields.get("name") or ""))).value,
        notes=(*record.options.notes, *doubled, *refused, *_unclear(parts)),
    )


def _words(
    fields: Mapping[str, Any],
    sized: measurements.Chart,
    masters: Masters,
    category_id: int,
    sayable: Sayable,
    unknown_color: int | None,
) -> grid.Words:
    def text(axis: Axis, source: str) -> str:
        if axis is Axis.COLOR:
            return sayable.option(wording.color_source(source)) or wording.ONE_COLOR
        return sayable.option(wording.size_source(source)) or source

    def master(axis: Axis, source: str) -> int | None:
        if axis is Axis.SIZE:
            return masters.size(category_id, source)
        found = masters.color(source)
        return unknown_color if found is None else found

    return grid.Words(
        text, master, lambda size: sized.by_size.get(measurements.key(size), ()), wording.one_color(fields)
    )


def _model(fields: Mapping[str, Any]) -> tuple[str, tuple[Reason, ...]]:
    said = fields.get("model")
    if not isinstance(said, str) or not said.strip():
        return "", ()
    number = model_number.without_season(said)
    why = model_number.refused(number)
    if why:
        return "", (Reason(Why.MODEL_REFUSED, f"'{number}' is not told as a model number: {why}", "model"),)
    return number, ()


def _unmapped(goods: Goods, masters: Masters) -> list[Reason]:
    """Options that the market would refuse, for its list has nothing for them."""
    lists = {Axis.COLOR: (Kind.COLORS, Why.COLOR_UNMAPPED), Axis.SIZE: (Kind.SIZES, Why.SIZE_UNMAPPED)}
    return [
        Reason(lists[one.axis][1], f"the market's list has nothing for the {one.axis} '{one.text}'", one.axis)
        for one in goods.options
        if one.master_id is None and masters.rows(lists[one.axis][0])
    ]


def _unclear(parts: tuple[Part, ...]) -> list[Reason]:
    names = ", ".join(part.name or "all of it" for part in parts if not part.whole)
    return [Reason(Why.MATERIAL_UNCLEAR, f"the shares of {names} do not make 100 %", "materials")] if names else []


def _dropped(sized: measurements.Chart) -> list[Reason]:
    labels = ", ".join(sized.dropped)
    return [Reason(Why.MEASURE_DROPPED, f"not told to the market: {labels}", "measurements")] if labels else []


def _unwanted(brand: MallBrand, masters: Masters, gate: Gate, on: date) -> tuple[Problem, ...]:
    """By every name that the brand has: a list of what is seized at customs is not written in a mall's spelling."""
    told = masters.name(Kind.BRANDS, brand.buyma_brand_id) if brand.buyma_brand_id else ""
    names = filter(None, (told, brand.buyma_brand_name, brand.name_en, brand.name_ko, brand.key))
    return tuple(dict.fromkeys(problem for name in names for problem in gate.names(name, brand.mall, on)))


def _gated(made: Converted, gate: Gate, on: date) -> list[Problem]:
    texts = [(Field.NAME, "name", made.name), (Field.COMMENTS, "comments", made.comments)]
    texts += [(Field.BRAND_NAME, "brand_name", made.brand_name)] if made.brand_name else []
    texts += [(Field.OPTION, f"{one.axis}[{one.position}]", one.market_text) for one in made.goods.options]
    return list(gate.problems(texts, on))
