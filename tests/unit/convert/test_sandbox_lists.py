"""The sandbox's market: its lists are read, and what its malls sell is found in them."""

from __future__ import annotations

from bobusang.catalog.brands import MallBrand
from bobusang.catalog.model import Review
from bobusang.sandbox.buyma.downloads import download
from bobusang.sandbox.buyma.masters import MISSING
from bobusang.sandbox.words import BRANDS, COLOURS
from bobusang.stages.convert import mapping, masters
from bobusang.stages.convert.masters import Kind, Masters


def lists() -> Masters:
    return Masters({kind: masters.parse(kind, download(kind.value) or b"") for kind in Kind})


def test_every_colour_of_the_malls_has_a_number_in_both_languages() -> None:
    found = lists()

    assert all(found.color(name) is not None and found.color(name) == found.color(ko) for name, ko in COLOURS)


def test_every_brand_is_proposed_but_those_that_the_market_lacks() -> None:
    brands = [
        MallBrand(one.index, "okmall", one.name, one.ko, one.en, None, Review.PROPOSED, None, None) for one in BRANDS
    ]

    proposed = mapping.sure(mapping.propose_brands(brands, lists(), {}))

    assert {one.market_name for one in proposed} == {one.en for one in BRANDS} - MISSING
