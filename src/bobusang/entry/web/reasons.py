"""Why a product cannot be listed yet, in words, and where that is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.entry.web.languages import N_
from bobusang.stages.convert.gates import Rule
from bobusang.stages.convert.model import Why

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Said:
    """A reason, to be translated, and the page on which a person mends it, if there is one."""

    label: str
    page: str = ""


_BRANDS, _CATEGORIES, _MAPPING = "/held/brands", "/held/categories", "/held/mapping"

WORDS: Mapping[Why, Said] = {
    Why.BRAND_UNKNOWN: Said(N_("The mall's index does not have the brand"), _MAPPING),
    Why.BRAND_UNREVIEWED: Said(N_("Nobody has reviewed the brand"), _BRANDS),
    Why.BRAND_BLOCKED: Said(N_("The brand is blocked"), _MAPPING),
    Why.BRAND_UNMAPPED: Said(N_("The brand has no brand of the market"), _BRANDS),
    Why.CATEGORY_UNKNOWN: Said(N_("The mall's category is not known"), _MAPPING),
    Why.CATEGORY_UNREVIEWED: Said(N_("Nobody has reviewed the category"), _CATEGORIES),
    Why.CATEGORY_BLOCKED: Said(N_("The category is blocked"), _MAPPING),
    Why.CATEGORY_UNMAPPED: Said(N_("The category has no category of the market"), _CATEGORIES),
    Why.SOURCE_BLOCKED: Said(N_("Nothing may be bought from this mall")),
    Why.BULK_ONLY: Said(N_("It is sold in larger lots only")),
    Why.IMAGES_UNUSABLE: Said(N_("Its pictures may not be used")),
    Why.MASTER_VANISHED: Said(N_("The market no longer has its brand or category"), _MAPPING),
    Why.NAME_MISSING: Said(N_("The mall gives it no name")),
    Why.TEXT_UNTRANSLATED: Said(N_("A text is not translated")),
    Why.TEXT_REFUSED: Said(N_("A text would be refused")),
    Why.OPTIONS_UNKNOWN: Said(N_("Its options are not known")),
    Why.OPTION_UNREADABLE: Said(N_("An option cannot be read")),
    Why.OPTION_DOUBLED: Said(N_("Two options would be the same")),
    Why.OPTION_RELABELED: Said(N_("An option was renamed by the mall")),
    Why.OPTIONS_MANY: Said(N_("Its options make too many combinations")),
    Why.AXES_UNCLEAR: Said(N_("It is not clear what its options choose")),
    Why.AXES_CHANGED: Said(N_("Its options choose something else than before")),
    Why.DECIDED: Said(N_("Somebody has decided on its options: the next full run makes it")),
    Why.FREE_MIXED: Said(N_("One size is mixed with sizes")),
    Why.COLOR_UNMAPPED: Said(N_("A colour has no colour of the market")),
    Why.SIZE_UNMAPPED: Said(N_("A size has no size of the market")),
    Why.MODEL_REFUSED: Said(N_("The model number is not told to the market")),
    Why.MEASURE_DROPPED: Said(N_("Measurements are not told to the market")),
    Why.MATERIAL_UNCLEAR: Said(N_("The materials do not make 100 percent")),
}

TEXTS: Mapping[Rule, Said] = {
    Rule.HANGUL: Said(N_("Korean is left in a translated text")),
    Rule.WORD: Said(N_("A text has a forbidden word")),
    Rule.LENGTH: Said(N_("A text is too long")),
    Rule.HTML: Said(N_("A text has markup in it")),
    Rule.UNSEEN: Said(N_("A text has signs that nobody sees")),
    Rule.BROKEN: Said(N_("A text has broken signs")),
    Rule.EMPTY: Said(N_("A text is missing")),
    Rule.BLANKS: Said(N_("A text has stray blanks")),
}
"""What would be refused in a text, by its rule."""


def of(why: Why, rule: Rule | None) -> Said:
    """The words for a reason; of a text by the rule that it breaks, if that is known."""
    return TEXTS.get(rule, WORDS[why]) if rule else WORDS[why]
