"""What the tests of declared sources share: shops written in place, pages made in place."""

from __future__ import annotations

import json
from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import Declared, load_shop
from bobusang.kit.lined.located import BadText
from bobusang.stages.collect.source import Ask, Page

if TYPE_CHECKING:
    from pathlib import Path

SHOPS = sorted(path.parent for path in SHIPPED.glob("*/shop.yaml"))


def shipped(name: str) -> Declared:
    return load_shop(SHIPPED / name)


def written(folder: Path, text: str, name: str = "acme") -> Path:
    """A shop's folder with this `shop.yaml`."""
    shop = folder / name
    shop.mkdir(parents=True, exist_ok=True)
    (shop / "shop.yaml").write_text(dedent(text), "utf-8")
    return shop


def compiled(folder: Path, text: str) -> Declared:
    return load_shop(written(folder, text))


def problems(folder: Path, text: str) -> list[str]:
    """What is wrong with a shop, as a person reads it."""
    try:
        compiled(folder, text)
    except BadText as error:
        return [
            problem.said("shop.yaml") + (f" ({problem.hint})" if problem.hint else "") for problem in error.problems
        ]
    return []


def wholly(shop: Declared) -> Declared:
    """The same shop, reading whole pages."""
    return Declared(
        shop.name,
        shop.base,
        shop.version,
        shop.policy,
        tuple(replace(stream, within=()) for stream in shop.streams.values()),
        shop.contract,
    )


def page(ask: Ask, content: Any) -> Page:
    """An answer: text is HTML, bytes are as they are, anything else becomes JSON."""
    if isinstance(content, str):
        return Page(ask, content.encode(), url=ask.url, text=content)
    return Page(ask, content if isinstance(content, bytes) else json.dumps(content).encode(), url=ask.url)
