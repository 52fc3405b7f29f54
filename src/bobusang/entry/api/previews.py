"""What a run would send: exact payloads and differences, and nothing is sent."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from bobusang.entry.api.batches import Key, Stages
from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import Capitals, Form, Name, Numeric
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import Sku
from bobusang.flows.conveyor import choosing, previewing
from bobusang.flows.conveyor.model import Mode
from bobusang.kit.errors import Missing
from bobusang.views import skus

router = Resource("batches", "/previews")

MOST_LINES = 2_000


class PreviewForm(Form):
    """Of which run, as for starting a batch."""

    mode: Annotated[Mode, Capitals] = Mode.FULL
    malls: Annotated[list[Name], Field(max_length=100, examples=[["okmall"]])] = Field(default_factory=list)
    brands: Annotated[list[Key], Field(max_length=500, examples=[["나이키(NIKE)"]])] = Field(default_factory=list)
    stages: Stages = Field(default_factory=list)
    limit: Annotated[int | None, Field(ge=1, le=1_000_000, description="at most so many products a brand"), Numeric] = (
        None
    )


class SkuQuery(Form):
    """Which product."""

    sku: Sku


class PreviewLine(BaseModel):
    """A product on an account: the call that would be made with the fields it changes (before, after), or why none."""

    sku: str
    account: str
    kind: str
    path: str
    body: str
    changes: dict[str, list[Any]]
    why: str
    doubts: str
    """Options that keep their stock, for their codes name something else than was converted."""


class Previewed(BaseModel):
    """The first lines, and what all of them together would cost; `idle` are products that need no call."""

    items: list[PreviewLine]
    calls: dict[str, int]
    """By the market's budget: product and stock calls."""
    kinds: dict[str, int]
    held: int
    idle: int
    more: int
    """Calls and holds that are counted and not shown."""


@router.post("", summary="Preview a run")
async def preview_run(desk: Viewer, form: PreviewForm) -> Previewed:
    """What such a run would send by what is known now: no mall is asked, no rival is searched, nothing is written.
    PARTIAL takes nothing new and raises no price; without COLLECT what the market sold stays sold; without REGISTER
    nothing is sent."""
    trial = previewing.Trial.of(form.mode, form.stages)
    async with desk.read() as tx:
        brands = await choosing.chosen(tx, desk.app.collector, form.malls, form.brands)
    found = Previewed(items=[], calls={}, kinds={}, held=0, idle=0, more=0)
    async for line in previewing.preview(desk.app.belt, brands, trial, limit=form.limit):
        if line.kind:
            found.calls[line.family] = found.calls.get(line.family, 0) + 1
            found.kinds[line.kind] = found.kinds.get(line.kind, 0) + 1
        elif line.why in previewing.RIGHT and not line.doubts:
            found.idle += 1
            continue
        else:
            found.held += 1
        if len(found.items) < MOST_LINES:
            found.items.append(_shown(line))
        else:
            found.more += 1
    return found


@router.get("/of", summary="Preview a product")
async def preview_product(desk: Viewer, query: Annotated[SkuQuery, Query()]) -> Page[PreviewLine]:
    """What would be sent of it now, for each account, or why nothing would; nothing is sent."""
    async with desk.read() as tx:
        known = await skus.of_sku(tx, query.sku)
        if known is None:
            raise Missing(f"there is no product '{query.sku}'", hint="a SKU is the mall and its number", field="sku")
        lines = await previewing.of_product(desk.app.belt, tx, known.mall, known.key)
    return Page(items=[_shown(line) for line in lines], next=None)


def _shown(line: previewing.Line) -> PreviewLine:
    changes = {name: [before, after] for name, (before, after) in line.changes.items()}
    return PreviewLine(
        sku=line.sku,
        account=line.account,
        kind=line.kind,
        path=line.path,
        body=line.body,
        changes=changes,
        why=line.why,
        doubts=line.doubts,
    )
