"""What the doors of selling share: which market is meant."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from bobusang.kit.nearest import did_you_mean

MARKETS = ("buyma",)
"""Those with a connector; the first is meant where none is named."""


def _known(value: str) -> str:
    if value not in MARKETS:
        hint = did_you_mean(value, MARKETS)
        raise PydanticCustomError("market", "is no market that we know; {hint}", {"hint": hint})
    return value


Market = Annotated[
    str,
    Field(max_length=50, examples=[MARKETS[0]], json_schema_extra={"enum": list(MARKETS)}),
    AfterValidator(_known),
]
Sku = Annotated[str, Field(min_length=1, max_length=310, examples=["okmall-4711"])]
Account = Annotated[str, Field(min_length=1, max_length=100, examples=["main"])]
