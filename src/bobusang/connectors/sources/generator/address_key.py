"""A key that stands only in addresses: a parameter, a number or the last part of the path."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bobusang.connectors.sources.generator.guess import Guess, Sure

NUMBER = r"/([0-9]{2,15})(?:[/?#.]|$)"
LAST = r"/([^/?#]{1,200})/?(?:[?#]|$)"

_OWN = re.compile(r"(?:product|item|goods|prd|prod)?_?(?:no|id|code|seq|idx|num)|sku", re.IGNORECASE)


def key_of(path: str, addresses: list[Any]) -> Guess | None:
    """The key inside of addresses that `path` leads to."""
    texts = [each for each in addresses if isinstance(each, str)]
    if len(texts) != len(addresses) or not texts:
        return None
    queries = [parse_qs(urlsplit(text).query) for text in texts]
    for name in sorted(set.intersection(*(set(query) for query in queries)), key=lambda name: not _OWN.fullmatch(name)):
        values = [query[name][0] for query in queries]
        if len(set(values)) == len(values) and _OWN.fullmatch(name):
            return Guess("key", f"{path} | query{{{name}}}", Sure.SURE, f"a parameter of its address, as {values[0]}")
    for pattern, sure in ((NUMBER, Sure.LIKELY), (LAST, Sure.GUESS)):
        found = [match[1] if (match := re.search(pattern, text)) else "" for text in texts]
        if all(found) and len(set(found)) == len(found):
            return Guess("key", f"{path} | re{{{pattern}}}", sure, f"part of its address, as {found[0]}")
    return None
