"""A shop in which something went wrong and somebody is waited for, so that every page has something to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import sellers, suppliers
from bobusang.catalog.brands import Proposal
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.sellers import NewSeller
from bobusang.catalog.suppliers import Supplier
from bobusang.engine.model import NewTask, ReasonClass, StepType
from bobusang.engine.outcome import Done, Park
from bobusang.flows.sheets import previewing, receiving
from bobusang.kit.sql import Statement
from bobusang.testing.workbook import Sheet, workbook
from bobusang.testing.workshop import Workshop, step
from bobusang.wiring import opened as opened_app
from tests.integration.api.door import settings
from tests.servers.server import wait_for
from tests.web import holding, shop

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.wiring import App

PAGE = Statement("select sha256 as value from raw_pages order by id desc limit 1")
STEP = step("parse", handler="demo.parse", type=StepType.PARSE)


def furnished(found: Path, folder: Path) -> Path:
    """A copy of a shop with dead letters, held prices, stopped sends and a rate that jumps."""
    home = shop.copied(found, folder)
    wait_for(_furnish(home))
    return home


async def _furnish(home: Path) -> None:
    async with opened_app(settings(f"sqlite:///{home / 'bobusang.db'}", home)) as app:
        await furnish(app)


async def furnish(app: App) -> None:
    """The same, of a shop that is open."""
    workshop = Workshop(app.engine)
    seeds = [NewTask({"page": f"/{key}", "html": "<h1>"}, key=key) for key in "abc"]
    await workshop.job(await workshop.workflow(STEP, workflow="pages"), seeds=seeds)
    await workshop.drain(lambda task: Park(ReasonClass.INVALID, f"page {task.id} breaks off"), handler="demo.parse")
    async with app.engine.db.read() as tx:
        page = await tx.value(PAGE)
    await workshop.job(await workshop.workflow(STEP, workflow="fetched"), "d")
    await workshop.drain(Done({"raw": page}), handler="demo.parse")
    await holding.prices(app.engine.db, 2)
    await holding.sends(app.engine.db)
    await holding.rate(app.engine.db)
    await holding.proposed(app.engine.db, Proposal("new-brand", "새 브랜드", "NEW BRAND"))
    await app.engine.db.transact(lambda tx: sellers.create(tx, NewSeller("mustit", "luxboy")))
    await app.engine.db.transact(lambda tx: suppliers.put(tx, Supplier("hanbit", SupplierKind.EXCEL)))
    sent, _ = await receiving.receive(app.collector, "hanbit", "단가표.xlsx", price_list(), by="the operator")
    await previewing.preview(app.collector, sent.id)


def price_list() -> bytes:
    """A supplier's spreadsheet with a wrong price, a row without a code and a column that nobody reads."""
    rows: list[list[Any]] = [
        ["상품코드", "상품명", "공급가", "색상", "재고", "담당"],
        ["H1", "울 코트", 129_000, "와인", 3, "김"],
        ["H2", "니트", "문의", "검정", 2, "김"],
        [None, "양말", 900, "", 1, ""],
    ]
    return workbook(Sheet("단가표", rows))
