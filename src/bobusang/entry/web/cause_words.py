"""Why something failed or was left out, in the visitor's language: engine and stages write it down in English, once for
all. What nobody has words for stays as it is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.entry.web.languages import N_

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], str]

SAID = tuple(
    (re.compile(pattern, re.DOTALL), text)
    for pattern, text in (
        (r"not all of its pages are read yet", N_("not all of its pages are read yet")),
        (r"this version is made already: another of its pages came first", N_("another of its pages made it already")),
        (r"the product is not known any more", N_("the product is not known any more")),
        (r"the product was never converted", N_("the product was never converted")),
        (r"the mall's category '(?P<name>.+)' is proposed", N_("nobody has reviewed the category '%(name)s'")),
        (r"the mall's category '(?P<name>.+)' was never proposed", N_("the category '%(name)s' is new")),
        (r"the mall's category '(?P<name>.+)' is blocked", N_("the category '%(name)s' is blocked")),
        (
            r"the mall's category '(?P<name>.+)' has no market category",
            N_("the category '%(name)s' has no category of the market"),
        ),
        (r"the mall's index has no brand (?P<name>.+)", N_("the mall's index has no brand %(name)s")),
        (r"the mall's brand '(?P<name>.+)' is proposed", N_("nobody has reviewed the brand '%(name)s'")),
        (r"the mall's brand '(?P<name>.+)' is blocked", N_("the brand '%(name)s' is blocked")),
        (
            r"the mall's brand '(?P<name>.+)' has no market brand",
            N_("the brand '%(name)s' has no brand of the market"),
        ),
        (
            r"the market's list has nothing for the colou?r '(?P<name>.*)'",
            N_("the market has no colour for '%(name)s'"),
        ),
        (r"the market's list has nothing for the size '(?P<name>.*)'", N_("the market has no size for '%(name)s'")),
        (r"its pictures or its conversion are missing", N_("its pictures or its conversion are missing")),
        (r"its pictures cannot be had: (?P<why>.+)", N_("its pictures cannot be had: %(why)s")),
        (r"its cover cannot be had: (?P<why>.+)", N_("its cover cannot be had: %(why)s")),
        (r"it has no pictures yet", N_("it has no pictures yet")),
        (r"no account sells it any more", N_("no account sells it any more")),
        (r"no account sells on (?P<name>\S+)", N_("no account sells on %(name)s")),
        (
            r"there is no account to sell with: `bobusang account add` opens one",
            N_("there is no account to sell with: `bobusang account add` opens one"),
        ),
        (r"the market would refuse it: (?P<why>.+)", N_("the market would refuse it: %(why)s")),
        (r"held: (?P<why>.+)", N_("held: %(why)s")),
        (r"(?P<name>\S+/\S+) cannot send: (?P<why>.+)", N_("%(name)s cannot send: %(why)s")),
        (r"the secret (?P<ref>\S+) is not there( \(.+\))?", N_("the secret %(ref)s is not there")),
        (r"(?P<why>its price was .+): priced anew", N_("%(why)s: priced anew")),
        (r"(?P<why>.+): left to the next run", N_("%(why)s: left to the next run")),
        (
            r"its price was decided (?P<age>\d+) hours ago, and is good for (?P<most>\d+)",
            N_("its price was decided %(age)s hours ago, and is good for %(most)s"),
        ),
        (
            r"its price was made of (?P<then>.+), and the mall asks (?P<now>.+) now",
            N_("its price was made of %(then)s, and the mall asks %(now)s now"),
        ),
        (
            r"its price was (?P<then>\S+), and (?P<now>.+) was decided since",
            N_("its price was %(then)s, and %(now)s was decided since"),
        ),
        (r"the translation failed: (?P<why>.+)", N_("the translation failed: %(why)s")),
        (r"cancelled: nobody said why", N_("cancelled")),
        (r"cancelled: (?P<why>.+)", N_("cancelled: %(why)s")),
        (r"not finished within (?P<time>.+)", N_("not finished within %(time)s")),
        (r"timed out", N_("timed out")),
        (r"HTTP (?P<status>\d+): they do not want us here", N_("HTTP %(status)s: they do not want us here")),
        (r"HTTP (?P<status>\d+): the item is no more", N_("HTTP %(status)s: the item is no more")),
        (r"HTTP (?P<status>\d+): their fault", N_("HTTP %(status)s: their fault")),
        (
            r"HTTP (?P<status>\d+): this request will not be answered",
            N_("HTTP %(status)s: this request will not be answered"),
        ),
        (r"HTTP (?P<status>\d+): the session is over", N_("HTTP %(status)s: the session is over")),
        (r"HTTP (?P<status>\d+): our key is refused", N_("HTTP %(status)s: our key is refused")),
        (r"HTTP (?P<status>\d+): they want to know who we are", N_("HTTP %(status)s: they want to know who we are")),
        (r"no page came: (?P<why>.+)", N_("no page came: %(why)s")),
        (r"(?P<place>\S+): the answer is not JSON", N_("%(place)s: the answer is not JSON")),
        (r"(?P<place>\S+): the answer is cut off, or is no JSON", N_("%(place)s: the answer is cut off")),
        (r"(?P<place>\S+): there is no list on the page", N_("%(place)s: there is no list on the page")),
        (r"(?P<place>\S+): the page is cut off: .+", N_("%(place)s: the page is cut off")),
        (r"(?P<place>\S+): nothing could be read of (?P<name>.+)", N_("%(place)s: nothing could be read of %(name)s")),
        (r"(?P<place>\S+) does not answer: (?P<why>.+)", N_("%(place)s does not answer: %(why)s")),
    )
)
NESTED = "why"
"""The part of a cause that is one itself."""


@lru_cache(maxsize=1024)
def said(text: str, say: Say) -> str:
    """A cause in the language that `say` speaks; of several, each."""
    return "; ".join(_piece(piece, say) for piece in text.split("; "))


def _piece(text: str, say: Say) -> str:
    for pattern, words in SAID:
        if (found := pattern.fullmatch(text)) is not None:
            translated, values = say(words), found.groupdict()
            if translated == words:
                break  # English: as it was written
            if NESTED in values:
                values[NESTED] = _piece(values[NESTED], say)
            return translated % values
    return text
