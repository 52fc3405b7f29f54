"""The master lists as the files that BUYMA offers: UTF-8 with a BOM, everything quoted."""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import TYPE_CHECKING

from bobusang.sandbox.buyma.masters import Row, masters

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = (
    *("areas", "brands", "categories", "colors", "sizes", "size_details", "seasons"),
    *("themes", "tags", "units", "models", "shipping_services"),
)


@cache
def download(name: str) -> bytes | None:
    """A list's file; None when there is no such list."""
    if name not in NAMES:
        return None
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows(rows(name))
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def rows(name: str) -> Iterable[Row]:
    """The head of a list, then its lines."""
    lists = masters()
    match name:
        case "areas":
            return [("id", "continent", "country", "city"), *((id, *where) for id, where in lists.areas.items())]
        case "brands":
            named = ((id, name, int(limited)) for id, (name, limited) in lists.brands.items())
            return [("id", "brand_name", "limited"), *named]
        case "categories":
            found = ((one.id, one.path, one.name, int(one.limited)) for one in lists.categories.values())
            return [("id", "paths", "name", "limited"), *found]
        case "sizes" | "size_details":
            return _of_categories(name)
        case "tags":
            return [("id", "name", "category_id"), *((id, *tag) for id, tag in lists.tags.items())]
        case "units":
            return [("name",), *((unit,) for unit in lists.units)]
        case "models":
            return [("id", "brand_id", "name"), *((id, *model) for id, model in lists.models.items())]
        case "shipping_services":
            return [("id", "name", "anonymous_delivery"), *((id, *one) for id, one in lists.services.items())]
    plain = {"colors": lists.colors, "seasons": lists.seasons, "themes": lists.themes}[name]
    return [("id", "name"), *plain.items()]


def _of_categories(name: str) -> list[Row]:
    every = masters().categories.values()
    if name == "sizes":
        sized = ((id, size, one.id) for one in every for id, size in one.sizes.items())
        return [("id", "name", "category_id"), *sized]
    measured = ((key, "サイズ詳細", one.id) for one in every for key in one.measures)
    return [("name", "group_name", "category_id"), *measured]
