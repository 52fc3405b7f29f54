"""A supplier that no shop describes: what it lists comes in files, and its settings say which column is what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.stages.collect.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.stages.collect.source import Ask, Page, Reads, Target


class Supplied(Source):
    """It is never asked; it stands for the careful policy that its records are kept by."""

    def __init__(self, name: str) -> None:
        self.name = name

    def seeds(self, target: Target) -> Iterable[Ask]:
        raise Invalid(f"{self.name} is not collected", hint="its files are read by `bobusang sheet import`")

    def read(self, page: Page) -> Iterable[Reads]:
        raise Invalid(f"{self.name} has no pages", hint="its files are read by `bobusang sheet import`")
