"""What a step of a price rests on, in the visitor's language: the stage writes it down in English, once for all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.entry.web.languages import N_
from bobusang.entry.web.product_words import PRICES
from bobusang.stages.price.model import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[..., str]

AMOUNT = r"\S*[\d,.]+"
SHARE = r"-?[\d.]+ ?%"
SAID = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"source price", N_("source price")),
        (rf"(?P<rate>{AMOUNT}), spread (?P<share>{SHARE})", N_("%(rate)s, spread %(share)s")),
        (
            rf"(?P<weight>{AMOUNT}) g, taken because nobody weighed it, row up to (?P<most>{AMOUNT}) g",
            N_("%(weight)s g is taken because nobody weighed it; row up to %(most)s g"),
        ),
        (rf"(?P<weight>{AMOUNT}) g, row up to (?P<most>{AMOUNT}) g", N_("%(weight)s g; row up to %(most)s g")),
        (rf"free up to (?P<amount>{AMOUNT})", N_("free up to %(amount)s")),
        (rf"(?P<share>{SHARE}), at least (?P<amount>{AMOUNT})", N_("%(share)s, at least %(amount)s")),
        (rf"taxable (?P<amount>{AMOUNT}), (?P<kind>.+)", N_("taxable %(amount)s (%(kind)s)")),
        (r"the dearest of (?P<count>\d+) rows that may hold", N_("the dearest of %(count)s rows that may hold")),
        (r"an order", N_("for each order")),
        (r"per parcel", N_("for each parcel")),
        (rf"(?P<share>{SHARE}) of purchase", N_("%(share)s of the purchase")),
        (rf"(?P<share>{SHARE}) of the price", N_("%(share)s of the price")),
        (r"sum of the lines above", N_("sum of the lines above")),
        (rf"least margin (?P<share>{SHARE}) of revenue", N_("least margin: %(share)s of the price")),
        (rf"most margin (?P<share>{SHARE}) of revenue", N_("most margin: %(share)s of the price")),
        (rf"(?P<share>{SHARE}) of revenue", N_("%(share)s of the price")),
        (rf"least margin (?P<share>{SHARE}) of cost", N_("least margin: %(share)s of the cost")),
        (rf"most margin (?P<share>{SHARE}) of cost", N_("most margin: %(share)s of the cost")),
        (rf"(?P<share>{SHARE}) of cost", N_("%(share)s of the cost")),
        (r"least resale price", N_("least resale price")),
        (r"the supplier allows no less", N_("the supplier allows no less")),
        (r"as the market has it", N_("as the market has it")),
        (r"beside the price", N_("beside the price")),
        (
            r"neither market nor account has told it: counted as free",
            N_("neither market nor account has told it: counted as free"),
        ),
        (
            r"found, (?P<count>\d+) of (?P<total>\d+) offers comparable",
            N_("a search found %(total)s offers; comparable: %(count)s"),
        ),
        (r"empty, .+ offers comparable", N_("a search found no comparable offer")),
        (
            r"unclear, 0 of (?P<total>[\d,]+) offers comparable",
            N_("a search showed %(total)s offers, and none could be compared"),
        ),
        (r"failed, .+ offers comparable", N_("the last search failed")),
        (r"never, .+ offers comparable", N_("nobody searched")),
        (r"a search found no comparable offer", N_("a search found no comparable offer")),
        (
            r"a search showed (?P<total>[\d,]+) offers, and none could be compared",
            N_("a search showed %(total)s offers, and none could be compared"),
        ),
        (r"without a model number nothing is comparable", N_("without a model number nothing is comparable")),
        (
            rf"the lowest comparable offer is (?P<amount>{AMOUNT}), below our floor",
            N_("the lowest comparable offer is %(amount)s, below our floor"),
        ),
        (rf"the lowest comparable offer is (?P<amount>{AMOUNT})", N_("the lowest comparable offer is %(amount)s")),
        (
            rf"the floor is more than (?P<share>{SHARE}) above the price",
            N_("the floor is more than %(share)s above the price"),
        ),
    )
)


def basis(text: str, say: Say) -> str:
    """What a step rests on; what nobody has words for stays as it is."""
    reason, colon, detail = text.partition(": ")
    if colon and reason in set(Reason):
        why = say(PRICES[Reason(reason)])
        return f"{why} ({basis(detail, say)})" if detail else why
    return "; ".join(_piece(piece, say) for piece in text.split("; "))


def _piece(text: str, say: Say) -> str:
    for pattern, words in SAID:
        if (found := pattern.fullmatch(text)) is not None:
            return say(words, **found.groupdict())
    return text
