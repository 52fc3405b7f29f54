"""Pages that cannot be read: refused, walled, behind a login, or drawn by scripts; each with what to do instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.kit.errors import Blocked, Drifted, Invalid

if TYPE_CHECKING:
    from bobusang.connectors.sources.generator.sample import Sample

CURL = (
    "open the list in a browser; in its developer tools: Network, the request that brings the goods, Copy as cURL; "
    "save that in a file and give the file to `bobusang source new`"
)

_WALL = re.compile(
    r"just a moment|cf-chl|human verification|captcha|access denied|are you a robot|비정상적인 접근|자동입력 ?방지",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"<input[^>]{0,300}type=[\"']?password", re.IGNORECASE)
_DRAWN = re.compile(
    r"<div[^>]{0,100}id=[\"'](?:root|app|__next|__nuxt|main-app)[\"'][^>]{0,100}>\s{0,20}</div>", re.IGNORECASE
)
_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1>", re.IGNORECASE | re.DOTALL)


def check_answer(sample: Sample) -> None:
    """Refuse an answer that is no page at all."""
    status = sample.status
    if status in (401, 407):
        raise Blocked(
            f"the shop asks who we are (status {status})",
            hint="it needs a key or a login: see identity in docs/shop-grammar.md",
        )
    if status in (403, 429, 430, 503):
        raise Blocked(f"the shop refuses us (status {status})", hint=CURL)
    if status == 404:
        raise Invalid("there is no such page (status 404)", hint="look at the address in a browser", field="url")
    if status >= 400:
        raise Invalid(
            f"the shop answers with status {status}", hint="try again later, or look at the address", field="url"
        )
    if not sample.content.strip():
        raise Drifted("the page is empty", hint=CURL)


def why_unreadable(sample: Sample) -> Drifted:
    """Why nothing was found on a page, as far as one can tell."""
    text = sample.text
    if sample.is_json:
        return Drifted(
            "it is JSON, and no list in it looks like goods: none has keys and names",
            hint="give the address whose answer lists them, or write it: `bobusang source new NAME --kind json`",
        )
    if len(text) < 200_000 and _WALL.search(text[:50_000]):
        return Drifted("it is a wall against robots, not the shop's page", hint=CURL)
    if _PASSWORD.search(text):
        return Drifted("it asks for a login, and shows no goods without one", hint=CURL)
    if "__NEXT_DATA__" in text:
        return Drifted(
            "no list of goods is in its scripts: they are asked for later, or it is the page of one product",
            hint=f"of one product give the list that leads to it; otherwise {CURL}",
        )
    seen = re.sub(r"<[^>]{0,2000}>", " ", _SCRIPTS.sub(" ", text))
    if _DRAWN.search(text) or (len(" ".join(seen.split())) < 300 and "<script" in text.lower()):
        return Drifted("its goods are drawn by scripts: the page itself holds none", hint=CURL)
    return Drifted(
        "no list of goods was recognised: no JSON-LD, no data in scripts, no known platform, no row of like boxes",
        hint="write the shop by hand: `bobusang source new NAME`, then `bobusang source try`",
    )
