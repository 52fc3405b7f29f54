"""The sandbox's market: its lists are read, and what its malls sell is found in them."""

from __future__ import annotations

from bobusang.catalog.brands import MallBrand
from bobusang.catalog.categories import SEPARATOR, MallCategory
from bobusang.catalog.model import Review
from bobusang.sandbox.buyma.downloads import download
from bobusang.sandbox.buyma.masters import MISSING
from bobusang.sandbox.words import BRANDS, COLOURS, KINDS
from bobusang.stages.convert import mapping, masters
from bobusang.stages.convert.glossary import Glossary, shipped
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


def test_most_categories_of_the_malls_have_a_proposal_and_those_of_one_gender_a_sure_one() -> None:
    """Names are Korean here and Japanese there: without the glossary's words none was ever found."""
    leaves = sorted({kind.path[-1] for kind in KINDS})
    said = [SEPARATOR.join(("SHOP", *above, leaf)) for above in ((), ("여성",)) for leaf in leaves]
    rows = [MallCategory(id, "okmall", path, None, None, None, Review.PROPOSED, None) for id, path in enumerate(said)]

    found = mapping.propose_categories(rows, lists(), Glossary(shipped()))

    everyone, women = ({leaf: found[id + first] for id, leaf in enumerate(leaves)} for first in (0, len(leaves)))
    assert sum(map(bool, everyone.values())) == 10
    assert {leaf: one[0].name for leaf, one in women.items() if one and one[0].sure} == {
        "반지갑": "レディースファッション > 財布・小物 > 二つ折り財布",
        "셔츠": "レディースファッション > トップス > シャツ",
        "스니커즈": "レディースファッション > 靴・シューズ > スニーカー",
        "코트": "レディースファッション > アウター > コート",
    }
    assert not any(match.sure for matches in everyone.values() for match in matches)
