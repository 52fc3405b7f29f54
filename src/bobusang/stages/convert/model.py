"""What converting gives: the product as the market is told it, or the reasons why it is held."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from bobusang.catalog.variants import Goods


class Why(StrEnum):
    """Why a product is held, or what a person may like to know of one that is not."""

    BRAND_UNKNOWN = "brand_unknown"
    BRAND_UNREVIEWED = "brand_unreviewed"
    BRAND_BLOCKED = "brand_blocked"
    BRAND_UNMAPPED = "brand_unmapped"
    CATEGORY_UNKNOWN = "category_unknown"
    CATEGORY_UNREVIEWED = "category_unreviewed"
    CATEGORY_BLOCKED = "category_blocked"
    CATEGORY_UNMAPPED = "category_unmapped"
    SOURCE_BLOCKED = "source_blocked"
    BULK_ONLY = "bulk_only"
    IMAGES_UNUSABLE = "images_unusable"
    MASTER_VANISHED = "master_vanished"
    NAME_MISSING = "name_missing"
    TEXT_UNTRANSLATED = "text_untranslated"
    TEXT_REFUSED = "text_refused"
    OPTIONS_UNKNOWN = "options_unknown"
    OPTION_UNREADABLE = "option_unreadable"
    OPTION_DOUBLED = "option_doubled"
    OPTION_RELABELED = "option_relabeled"
    OPTIONS_MANY = "options_many"
    AXES_UNCLEAR = "axes_unclear"
    AXES_CHANGED = "axes_changed"
    DECIDED = "decided"
    FREE_MIXED = "free_mixed"
    COLOR_UNMAPPED = "color_unmapped"
    SIZE_UNMAPPED = "size_unmapped"
    MODEL_REFUSED = "model_refused"
    MEASURE_DROPPED = "measure_dropped"
    MATERIAL_UNCLEAR = "material_unclear"


class Reason(msgspec.Struct, frozen=True):
    """Why, in words for a person, and of which field."""

    why: Why
    text: str
    field: str = ""


class Converted(msgspec.Struct, frozen=True):
    """A product in the market's own words, ready to be pictured, priced and registered."""

    name: str
    comments: str
    brand_id: int
    brand_name: str
    """Told only where `brand_id` is 0: the market lacks the brand."""
    category_id: int
    axes: tuple[str, ...]
    goods: Goods
    model: str = ""
    """The mall's model number if it is one: what rivals are found by."""
    style_number: str = ""
    """The same as it is told to the market; a brand that it lacks must have none."""
    season_id: int | None = None
    size_unit: str | None = None
    materials: tuple[dict[str, Any], ...] = ()
    construction: str = "unknown"
    notes: tuple[Reason, ...] = ()


class Held(msgspec.Struct, frozen=True):
    """A product that a person, or a later version, has to help."""

    reasons: tuple[Reason, ...]
