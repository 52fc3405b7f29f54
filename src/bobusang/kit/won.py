"""Korean money text: what is certainly an amount of won is read, everything else is unknown."""

from __future__ import annotations

import re
from fractions import Fraction

# A longer text is a sentence about money, not an amount.
LONGEST = 40

# A hundred trillion won; whoever sells for more has mistyped.
LARGEST = 10**14

# Full-width signs, the spaces that pages use, and what is invisible. (NFKC would do more: it makes 52 of "5²".)
_PLAIN = str.maketrans(
    "０１２３４５６７８９，．￦＼\u00a0\u2002\u2003\u2009\u202f\u3000\t\r\n",
    "0123456789,.₩\\         ",
    "\u200b\u200c\u200d\u2060\ufeff",
)

_NUMBER = r"(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)"
_USUAL = re.compile(r"([1-9][0-9]{0,2}(?:,[0-9]{3}){0,3})원?")
_AMOUNT = re.compile(rf"({_NUMBER})(?:\.0{{1,2}})?")
_TERM = re.compile(rf" ?({_NUMBER}(?:\.[0-9]{{1,4}})?) ?([천백십]?) ?")
_COUNTED = re.compile(r".*[억만천백십](?: ?[0-9,]+)?")
_BEFORE = re.compile(r"(?:₩|\\|KRW) ?", re.IGNORECASE)
_AFTER = re.compile(r" ?(?:원|won|KRW|₩)\Z", re.IGNORECASE)

_MYRIADS = (("억", 10**8), ("만", 10**4))
_UNITS = {"천": 1000, "백": 100, "십": 10, "": 1}


def won_text(text: str) -> int | None:
    """The amount that a text states in won, or None where it is not certain.

    Read: `129,000원` `₩129,000` `￦129,000` `129000` `12만9천원` `12만 9,000원` `1.5만원` `1억2천만원` and the same in
    full-width digits. Not read: `1만원대`, ranges, instalments, minus signs, a second number, any other word.
    """
    if len(text) > LONGEST:
        return None
    if usual := _USUAL.fullmatch(text):
        return int(usual[1].replace(",", ""))
    plain = " ".join(text.translate(_PLAIN).split())
    amount = _AFTER.sub("", _BEFORE.sub("", plain, count=1) if _BEFORE.match(plain) else plain)
    found = _AMOUNT.fullmatch(amount)
    value = int(found[1].replace(",", "")) if found else _counted(amount)
    return value if value is not None and value <= LARGEST else None


def _counted(text: str) -> int | None:
    """`1억2천만`: what stands before 억, before 만 and after it; each is less than the unit before it."""
    if not _COUNTED.fullmatch(text):
        return None
    total, above = Fraction(0), Fraction(LARGEST)
    for sign, unit in (*_MYRIADS, ("", 1)):
        head, found, rest = text.partition(sign) if sign else (text, text, "")
        if not found:
            continue
        part = _below_myriad(head)
        if part is None or part * unit >= above:
            return None
        total, above, text = total + part * unit, Fraction(unit), rest
    return int(total) if total.denominator == 1 else None


def _below_myriad(text: str) -> Fraction | None:
    """`2천5백`, `2,500` or `1.5`: terms of falling units, the first of any size."""
    total, above, at = Fraction(0), Fraction(LARGEST), 0
    while at < len(text):
        term = _TERM.match(text, at)
        amount = Fraction(term[1].replace(",", "")) * _UNITS[term[2]] if term else above
        if term is None or amount >= above:
            return None
        total, above, at = total + amount, Fraction(_UNITS[term[2]]), term.end()
    return total if text.strip() else None
