"""A batch as the screen shows it: brands by five stages, each row with an id of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.flows.conveyor.model import Stage, StageStatus

if TYPE_CHECKING:
    from bobusang.flows.conveyor.watching import BrandRow, StageCell


def row_id(batch_id: str, mall: str, brand: str) -> str:
    """The id of a brand's row; of letters that an id may have."""
    return f"belt-{batch_id}-{mall.encode().hex()}-{brand.encode().hex()}"


def stages_of(brand: BrandRow) -> list[StageCell | None]:
    """The five stages in their order; None where a batch leaves one out."""
    found = {cell.stage: cell for cell in brand.stages}
    return [found.get(stage) for stage in Stage]


def status_of(brand: BrandRow) -> StageStatus:
    """How a brand is doing: failed if any stage is, done when all are."""
    states = {cell.status for cell in brand.stages}
    if StageStatus.ERROR in states:
        return StageStatus.ERROR
    if states <= {StageStatus.DONE}:
        return StageStatus.DONE
    return StageStatus.PENDING if states <= {StageStatus.PENDING} else StageStatus.RUNNING


def failed_first(brands: list[BrandRow]) -> list[BrandRow]:
    """Those that need somebody stand above those that run, and what is done below."""
    order = (StageStatus.ERROR, StageStatus.RUNNING, StageStatus.PENDING, StageStatus.DONE)
    return sorted(brands, key=lambda brand: (order.index(status_of(brand)), brand.mall, brand.brand))


KNOWN = {"row_id": row_id, "stages_of": stages_of, "status_of": status_of, "failed_first": failed_first}
"""What templates call."""
