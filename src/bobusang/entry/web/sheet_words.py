"""Suppliers' spreadsheets in words: what a field is called, and what is wrong with a cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.sheet import OPTION
from bobusang.entry.web.languages import N_

if TYPE_CHECKING:
    from bobusang.entry.web.visit import Visit

FIELDS = {
    "key": N_("Product code"),
    "name": N_("Product name"),
    "brand": N_("Brand"),
    "model": N_("Model number"),
    "price": N_("Price that we pay"),
    "list_price": N_("List price"),
    "sold_out": N_("Sold out or not"),
    "stock": N_("Stock"),
    "option_key": N_("Option code"),
    "color": N_("Colour"),
    "size": N_("Size, as S or 240"),
    "option": N_("Option"),
    "images": N_("Pictures"),
    "category": N_("Category"),
    "gender": N_("Gender"),
    "season": N_("Season"),
    "origin": N_("Origin"),
    "url": N_("Address of its page"),
    "shipping_fee": N_("Shipping fee"),
    "minimum_resale_price": N_("Least resale price"),
    "description": N_("Description"),
    "seller": N_("Seller"),
}
OF_OPTIONS = {"key": "option_key", "available": "stock"}

_PROBLEMS = (
    (re.compile(r"an amount of won is expected, as 12,900"), N_("an amount of won is expected, as 12,900")),
    (re.compile(r"a whole number is expected"), N_("a whole number is expected")),
    (re.compile(r"an address is expected"), N_("an address is expected")),
    (re.compile(r"this word is not known"), N_("this word is not known")),
    (re.compile(r"this cannot be read with certainty"), N_("this cannot be read with certainty")),
    (re.compile(r"the cell is empty"), N_("the cell is empty")),
    (re.compile(r"(?P<count>\d+) rows of this code say different things"), N_("%(count)s rows of this code differ")),
    (re.compile(r"rows of this code say different things"), N_("rows of one code differ")),
    (re.compile(r"nothing tells this option apart"), N_("nothing tells this option apart")),
    (
        re.compile(r"row (?P<row>\d+) is the same option, and says otherwise"),
        N_("row %(row)s is the same option, and says otherwise"),
    ),
    (
        re.compile(r"row is the same option, and says otherwise"),
        N_("another row is the same option, and says otherwise"),
    ),
    (re.compile(r"there is no code"), N_("there is no code")),
    (re.compile(r"the code cannot be read with certainty"), N_("the code cannot be read with certainty")),
)


def field(visit: Visit, name: str) -> str:
    """What a field is called; one that only a shop of its own knows stays as it is."""
    bare = name.removeprefix(OPTION)
    found = FIELDS.get(OF_OPTIONS.get(bare, bare) if bare != name else name)
    return visit.say(found) if found else name


def problem(visit: Visit, text: str) -> str:
    """What is wrong with a cell, in the visitor's language."""
    for pattern, said in _PROBLEMS:
        if found := pattern.fullmatch(text):
            return visit.say(said, **found.groupdict())
    return text
