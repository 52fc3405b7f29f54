"""How things of ours are called on a server that others use too: all begin with the prefix."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from bobusang.platform.searches.opensearch.schema import SHAPE


@dataclass(frozen=True, slots=True)
class Names:
    """`bobusang-products-2` is the alias that serves, `bobusang-products-2-…` the indices, one of which it stands for.

    The shape is part of the name: a program that keeps something else finds no index of its own, and says so.
    """

    prefix: str

    @property
    def template(self) -> str:
        return f"{self.prefix}-products"

    @property
    def serving(self) -> str:
        return f"{self.prefix}-products-{SHAPE}"

    @property
    def building(self) -> str:
        return f"{self.serving}-building"

    @property
    def indices(self) -> str:
        """A pattern that all indices have, those of other shapes too."""
        return f"{self.prefix}-products-*"

    @property
    def writer(self) -> str:
        return f"{self.prefix}-writer"

    def fresh(self) -> str:
        """A new index."""
        return f"{self.serving}-{secrets.token_hex(6)}"

    def is_serving(self, alias: str) -> bool:
        """Whether an alias is the one of some shape that serves."""
        return re.fullmatch(rf"{re.escape(self.template)}-\d+", alias) is not None
