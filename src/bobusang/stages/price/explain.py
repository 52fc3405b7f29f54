"""A price as a table: one row a step, in the order in which it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bobusang.stages.price.model import Priced


@dataclass(frozen=True, slots=True)
class ExplainRow:
    """One line of the table, as text."""

    step: str
    amount: str
    local: str
    basis: str
    source: str
    dated: str


HEADING = ExplainRow("step", "amount", "in the market's currency", "basis", "source", "date")


def explain(result: Priced) -> list[ExplainRow]:
    """The steps of a price; of a hold without steps, its reason."""
    if not result.steps:
        return [ExplainRow("hold", "", "", f"{result.reason}: {result.detail}", "", "")]
    return [
        ExplainRow(
            step.name,
            "" if step.amount is None else str(step.amount),
            "" if step.local is None else str(step.local),
            step.basis,
            step.source,
            step.dated[:16].replace("T", " "),
        )
        for step in result.steps
    ]
