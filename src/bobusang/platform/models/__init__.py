"""Who answers: rules without any network, or a vendor's or anybody's model behind an address, chosen by one name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.model import SETTING, Price
from bobusang.platform.models.later import Later
from bobusang.platform.models.rules import Rules

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.model import Model

VENDORS = ("openai", "anthropic")


def opened(
    choice: str, *, key: str | None = None, url: str | None = None, price: str | None = None, clock: Clock | None = None
) -> Model:
    """The model of a name: `rules` (or nothing), `openai:NAME`, `anthropic:NAME`.

    With `url` another server that speaks the same language is asked: `openai:qwen3` at `http://localhost:11434/v1`.
    Nothing is reached yet. A wrong choice raises Invalid, naming the setting.
    """
    if choice in {"", "rules"}:
        return Rules()
    vendor, _, name = choice.partition(":")
    if vendor not in VENDORS:
        known = ("rules", *VENDORS)
        raise Invalid(f"{SETTING}: no model is called {vendor}", hint=did_you_mean(vendor, known), field="model")
    if not name:
        raise Invalid(f"{SETTING}: which model of {vendor}?", hint=f"{vendor}:NAME", field="model")
    if url is not None and not url.startswith(("http://", "https://")):
        raise Invalid(f"{SETTING}_URL is no address", hint="https://host/v1", field="model_url")
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise Invalid(f"{SETTING}_KEY is no key: it has a space or a line break in it", field="model_key")
    if not key and url is None:
        raise Invalid(f"{SETTING} is {choice}, but there is no key", hint=f"set {SETTING}_KEY", field="model_key")
    if find_spec(vendor) is None:
        raise Invalid(
            f"{SETTING} is {choice}, but {vendor} is not installed",
            hint="pip install 'bobusang[models]'",
            field="model",
        )
    cost, now = Price.read(price) if price else None, clock or SystemClock()
    return Later(name, lambda: _vendor(vendor, name, key or "", url, cost, now))


def _vendor(vendor: str, name: str, key: str, url: str | None, price: Price | None, clock: Clock) -> Model:
    if vendor == "anthropic":
        from bobusang.platform.models.anthropic import Anthropic

        return Anthropic(name, key, url=url, price=price, clock=clock)
    from bobusang.platform.models.openai import OpenAI

    return OpenAI(name, key, url=url, price=price, clock=clock)
