"""What a batch was asked for: to be seen, and to be asked for again."""

from collections.abc import Iterable
from dataclasses import dataclass

from bobusang.flows.conveyor.model import STAGES, Mode, Stage
from bobusang.flows.conveyor.retrying import INPUT
from bobusang.flows.conveyor.watching import BatchDetail
from bobusang.kit import json
from bobusang.kit.db import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """As it is asked for: `stages` empty means all of the mode, `limit` null means all products of a brand."""

    mode: Mode
    malls: list[str]
    brands: list[str]
    stages: list[Stage]
    limit: int | None


async def asked(tx: Tx, batch: BatchDetail) -> Asked:
    """Brands and stages are told by the batch's rows, the limit by the input of its first job."""
    cells = [cell for brand in batch.brands for cell in brand.stages]
    first = min((cell.job_id for cell in cells if cell.job_id is not None), default=None)
    said = None if first is None else await tx.value(INPUT, id=first)
    had = {cell.stage for cell in cells}
    stages = [stage for stage in STAGES[batch.mode] if stage in had]
    return Asked(
        mode=batch.mode,
        malls=_each(brand.mall for brand in batch.brands),
        brands=_each(brand.brand for brand in batch.brands),
        stages=[] if tuple(stages) == STAGES[batch.mode] else stages,
        limit=json.loads(said).get("limit") if said else None,
    )


def _each(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
