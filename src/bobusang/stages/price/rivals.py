"""Which of the offers that a search shows is the lowest one we can be compared with."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.money import Money
    from bobusang.stages.price.model import Offer

_WORDS = re.compile(r"[^\w\-‐-―./]+")
LONGEST_RUN = 4
"""Of how many words of a title a model number may be made: `AB 123 45`."""


class Excluded(StrEnum):
    """Why an offer is not comparable."""

    OWN = "own"
    OTHER_MODEL = "other_model"
    USED = "used"
    CURRENCY = "currency"
    NO_PRICE = "no_price"
    OUTLIER = "outlier"


@dataclass(frozen=True, slots=True)
class Likeness:
    """What makes an offer comparable."""

    used_words: tuple[str, ...] = (
        "中古",
        "ユーズド",
        "USED",
        "ヴィンテージ",
        "VINTAGE",
        "美品",
        "REFURBISHED",
        "訳あり",
    )
    new_words: tuple[str, ...] = ("未使用", "新品")
    """`新品・未使用` is new, whatever else is in the title."""
    outlier_share: Decimal = Decimal("0.5")
    """Below this share of the median an offer is a mistake, a part or a fake; deviations need more offers than a
    search for one model has."""


NEW_ONLY = Likeness()


@dataclass(frozen=True, slots=True)
class Own:
    """By what our own offers are known: the names that buyers are shown, and the market's numbers of our listings. A
    name alone may be changed on the market, or never told here; a number alone is missing until a webhook tells it."""

    sellers: tuple[str, ...] = ()
    items: frozenset[str] = frozenset()


NOBODY = Own()


@dataclass(frozen=True, slots=True)
class Selection:
    """The lowest comparable offer, and how many fell out for which reason."""

    lowest: Offer | None
    total: Money | None
    offers: int
    comparable: int
    excluded: Mapping[Excluded, int]


def select(
    offers: Sequence[Offer],
    model: str,
    currency: str,
    own: Own,
    likeness: Likeness = NEW_ONLY,
) -> Selection:
    """The lowest total to the buyer of the same model, new, from someone who is not us."""
    sellers = {named(seller) for seller in own.sellers}
    ours = [offer.id in own.items or named(offer.seller) in sellers for offer in offers]
    reasons = [
        Excluded.OWN if is_ours else _excluded(offer, model_key(model), currency, likeness)
        for offer, is_ours in zip(offers, ours, strict=True)
    ]
    alike = [offer for offer, reason in zip(offers, reasons, strict=True) if reason is None]
    left = _plausible(alike, likeness.outlier_share)
    counts = Counter(reason for reason in reasons if reason is not None)
    if len(left) < len(alike):
        counts[Excluded.OUTLIER] = len(alike) - len(left)
    lowest = min(left, key=lambda offer: (total(offer).amount_minor, offer.seller, offer.title), default=None)
    return Selection(lowest, None if lowest is None else total(lowest), len(offers), len(left), dict(counts))


def model_key(model: str) -> str:
    """A model number without the ways of writing it: `ab-123 45` and `ＡＢ１２３/４５` are the same."""
    plain = unicodedata.normalize("NFKC", model).upper()
    return unicodedata.normalize("NFKC", "".join(sign for sign in plain if sign.isalnum()))


def named(seller: str) -> str:
    """A seller's name as it is compared."""
    return " ".join(unicodedata.normalize("NFKC", seller).casefold().split())


def total(offer: Offer) -> Money:
    """What the buyer pays; delivery that nobody tells the price of counts as free, so that it is not underestimated."""
    return offer.price if offer.shipping is None else offer.price + offer.shipping


def is_model(offer: Offer, key: str) -> bool:
    """Whether an offer is of the model: by its number, else by words of its title; never by a part of a word."""
    if not key:
        return False
    if offer.model:
        return model_key(offer.model) == key
    words = [model_key(word) for word in _WORDS.split(unicodedata.normalize("NFKC", offer.title)) if word]
    runs = ("".join(words[at : at + length]) for at in range(len(words)) for length in range(1, LONGEST_RUN + 1))
    return any(run == key for run in runs)


def _excluded(offer: Offer, key: str, currency: str, likeness: Likeness) -> Excluded | None:
    if not is_model(offer, key):
        return Excluded.OTHER_MODEL
    if _is_used(offer, likeness):
        return Excluded.USED
    delivered = offer.shipping
    if offer.price.currency != currency or (delivered is not None and delivered.currency != currency):
        return Excluded.CURRENCY
    if offer.price.amount_minor <= 0 or (delivered is not None and delivered.amount_minor < 0):
        return Excluded.NO_PRICE
    return None


def _is_used(offer: Offer, likeness: Likeness) -> bool:
    said = unicodedata.normalize("NFKC", f"{offer.condition} {offer.title}").upper()
    if offer.is_used:
        return True
    for word in likeness.new_words:
        said = said.replace(f"{word}に近い", "中古").replace(word, " ")
    return any(_says(said, word) for word in likeness.used_words)


def _says(said: str, word: str) -> bool:
    """Latin words stand alone (`UNUSED` is not `USED`), Japanese ones anywhere."""
    return word in said and re.search(rf"(?<![A-Z]){re.escape(word)}(?![A-Z])", said) is not None


def _plausible(offers: Sequence[Offer], share: Decimal) -> list[Offer]:
    if len(offers) < 2:
        return list(offers)
    middle = Fraction(median([Fraction(total(offer).amount_minor) for offer in offers]))
    return [offer for offer in offers if total(offer).amount_minor >= middle * Fraction(share)]
