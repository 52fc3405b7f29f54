"""Which of the market's brands and categories a record belongs to: only what a person has accepted passes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from bobusang.catalog.assigning import Assigned
from bobusang.catalog.categories import SEPARATOR
from bobusang.catalog.model import Review
from bobusang.stages.convert.market_categories import Categories
from bobusang.stages.convert.masters import Kind, name_of
from bobusang.stages.convert.model import Reason, Why
from bobusang.stages.convert.naming import LEVELS, Match, Names, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.catalog.brands import MallBrand
    from bobusang.catalog.categories import MallCategory
    from bobusang.stages.convert.glossary import Glossary
    from bobusang.stages.convert.masters import Masters

_BRAND = {Review.PROPOSED: Why.BRAND_UNREVIEWED, Review.BLOCKED: Why.BRAND_BLOCKED}
_CATEGORY = {Review.PROPOSED: Why.CATEGORY_UNREVIEWED, Review.BLOCKED: Why.CATEGORY_BLOCKED}


class Mapped:
    """The brands and categories of a mall with what a person said of them."""

    def __init__(self, brands: Iterable[MallBrand], categories: Iterable[MallCategory]) -> None:
        self._brands: defaultdict[str, list[MallBrand]] = defaultdict(list)
        self._categories = {category.full_path: category for category in categories}
        for brand in brands:
            for name in {folded(text) for text in (brand.name_en, brand.name_ko, brand.key) if text}:
                self._brands[name].append(brand)

    def brand(self, fields: Mapping[str, Any]) -> MallBrand | Reason:
        """The brand of a record, found by all the names that the record gives it."""
        called = [text for text in (fields.get("brand"), fields.get("brand_ko")) if isinstance(text, str) and text]
        found = [self._brands.get(folded(text), []) for text in called]
        rows = [one for one in found[0] if all(one in others for others in found[1:])] if found else []
        # One of the two names may be spelled otherwise in the mall's index; then each row that has one is a candidate.
        rows = rows or list({one.id: one for group in found for one in group}.values())
        if not rows:
            return Reason(Why.BRAND_UNKNOWN, f"the mall's index has no brand {' / '.join(called) or '(none)'}", "brand")
        return _accepted_brand(rows)

    def category(self, fields: Mapping[str, Any]) -> MallCategory | Reason:
        """The category of a record by its whole path."""
        said = fields.get("category")
        path = SEPARATOR.join(map(str, said)) if isinstance(said, list | tuple) else str(said or "")
        row = self._categories.get(path)
        if row is None:
            return Reason(Why.CATEGORY_UNKNOWN, f"the mall's category '{path}' was never proposed", "category")
        if row.review is not Review.ACCEPTED:
            return Reason(_CATEGORY[row.review], f"the mall's category '{path}' is {row.review}", "category")
        if not row.buyma_category_id:  # none, and 0, which is never a category
            return Reason(Why.CATEGORY_UNMAPPED, f"the mall's category '{path}' has no market category", "category")
        return row


def _accepted_brand(rows: Sequence[MallBrand]) -> MallBrand | Reason:
    row = min(rows, key=lambda one: (one.review is not Review.BLOCKED, one.review is Review.ACCEPTED, one.id))
    told = row.name_en or row.name_ko or row.key
    if row.review is not Review.ACCEPTED:
        return Reason(_BRAND[row.review], f"the mall's brand '{told}' is {row.review}", "brand")
    if len({one.buyma_brand_id for one in rows}) > 1:
        return Reason(Why.BRAND_UNMAPPED, f"rows of the mall's brand '{told}' stand for different brands", "brand")
    if row.buyma_brand_id is None:  # 0 is a value: the market lacks this brand
        return Reason(Why.BRAND_UNMAPPED, f"the mall's brand '{told}' has no market brand", "brand")
    return row


def aliases_of(brands: Iterable[MallBrand]) -> dict[str, str]:
    """Hangul names to Latin ones, as malls that know both write them; a name with two meanings is none."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for brand in brands:
        if brand.name_ko and brand.name_en:
            found[folded(brand.name_ko)].add(brand.name_en)
    return {name: next(iter(others)) for name, others in found.items() if len({folded(one) for one in others}) == 1}


def propose_brands(brands: Iterable[MallBrand], masters: Masters, aliases: Mapping[str, str]) -> dict[int, list[Match]]:
    """For each brand of a mall the market's brands that it may be, the best first."""
    names = Names((id, name_of(Kind.BRANDS, row)) for id, row in masters.numbered(Kind.BRANDS))
    return {
        brand.id: names.find([text for text in (brand.name_en, brand.name_ko, brand.key) if text], aliases)
        for brand in brands
    }


def propose_categories(
    categories: Iterable[MallCategory], masters: Masters, glossary: Glossary
) -> dict[int, list[Match]]:
    """For each category of a mall the market's that it may be, by the last step of its path in the glossary's words.

    A wrong category is a loss that cannot be mended, so a name that is found under several paths is no sure match.
    """
    named = Categories(masters, glossary)
    return {one.id: named.find(one.full_path, one.gender or "") for one in categories}


def sure(proposals: Mapping[int, Sequence[Match]]) -> list[Assigned]:
    """What is written beside its row for a person to accept: the one best match, if it is near enough."""
    best = {id: found[0] for id, found in proposals.items() if found}
    return [Assigned(id, one.id, one.name, LEVELS[one.how]) for id, one in sorted(best.items()) if one.sure]
