"""What a run would send, and nothing is sent: the exact differences and calls of brands as they are known now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.flows.conveyor import goods, wanting
from bobusang.flows.conveyor.pricing import said
from bobusang.flows.conveyor.sifting import OF_BRAND
from bobusang.stages.convert import store
from bobusang.stages.price.model import Hold
from bobusang.stages.register import accounts, listings
from bobusang.stages.register.deciding import Chosen, Faulty, Stopped, Waiting
from bobusang.stages.register.diffing import Idle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from bobusang.flows.conveyor.belt import Belt
    from bobusang.flows.conveyor.goods import Known
    from bobusang.flows.conveyor.model import Brand
    from bobusang.kit.db import Tx
    from bobusang.stages.register.model import Account, Wanted
    from bobusang.stages.register.service import Preview

CHUNK = 100
AS_CONFIRMED = "as confirmed"
"""Why nothing would be sent of what is right already."""


@dataclass(frozen=True, slots=True)
class Line:
    """What would become of a product on an account: a call with its differences, or why there is none."""

    sku: str
    account: str
    kind: str = ""
    """CREATE, EDIT, STOCK, CLOSE, REVIVE or EXTEND; empty: no call."""
    family: str = ""
    """Which of the market's budgets the call uses."""
    path: str = ""
    body: str = ""
    """The exact payload."""
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Field by field, what is there and what would be."""
    why: str = ""
    """Why nothing would be sent."""


async def preview(belt: Belt, brands: Sequence[Brand], *, limit: int | None = None) -> AsyncIterator[Line]:
    """Line by line for every product of these brands that was converted. It only reads: no mall is asked, no rival is
    searched, and run and budget are not judged."""
    for brand in brands:
        async with belt.db.read() as tx:
            rows = await tx.fetch(OF_BRAND, mall=brand.mall, brand=brand.name)
        keys = [row["product_id"] for row in rows][:limit]
        for start in range(0, len(keys), CHUNK):
            async with belt.db.read() as tx:
                lines = await _lines(belt, tx, brand.mall, keys[start : start + CHUNK])
            for line in lines:
                yield line


async def of_product(belt: Belt, tx: Tx, mall: str, key: str) -> list[Line]:
    """The same for one product: a line for each account."""
    return await _lines(belt, tx, mall, [key])


async def _lines(belt: Belt, tx: Tx, mall: str, keys: Sequence[str]) -> list[Line]:
    known = {one.id: one for one in (await goods.load(tx, mall, keys)).values()}
    made = {id: one for id, one in (await store.load(tx, belt.market, list(known))).items() if one.data is not None}
    found: list[Line] = []
    for account in await accounts.every(tx):
        if account.market == belt.market and account.enabled and made:
            found += await _of_account(belt, tx, account, known, {id: one.data for id, one in made.items()})
    return found


async def _of_account(
    belt: Belt, tx: Tx, account: Account, known: Mapping[int, Known], made: Mapping[int, Any]
) -> list[Line]:
    currency = belt.register.market.abilities.currency
    there = await listings.known(tx, account.id, list(made))
    asked = [
        wanting.priced(
            known[id],
            data,
            wanting.stocked(known[id], data),
            account,
            there.get(id),
            currency=currency,
            may_raise=True,
        )
        for id, data in made.items()
    ]
    quoted = {one.wanted.product_id: one for one in await belt.pricing.look(tx, asked)}
    pictures = await belt.picturing.pictures(tx, list(made), belt.recipe)
    wanted: list[Wanted] = []
    lines: list[Line] = []
    for id, data in made.items():
        result = quoted[id].result
        if isinstance(result, Hold) and id not in there:
            lines.append(Line(known[id].sku, account.name, why=f"its price is held: {result.reason}, {result.detail}"))
        elif id not in pictures:
            lines.append(Line(known[id].sku, account.name, why="it has no pictures yet"))
        else:
            shown = [belt.shown(picture) for picture in pictures[id]]
            told = said(quoted[id])
            wanted.append(
                wanting.registered(
                    known[id], data, shown, told, cap=account.policy.most, seen_at=None, decided_at=tx.now
                )
            )
    previews = await belt.register.preview(tx, account, wanted)
    return [*lines, *(_line(known[one.product_id].sku, account, one) for one in previews)]


def _line(sku: str, account: Account, one: Preview) -> Line:
    match one.decision:
        case Chosen(step, _):
            assert one.request is not None
            call = one.request
            return Line(sku, account.name, step.kind.value, call.family.value, call.path, call.body, one.changes)
        case Waiting():
            return Line(sku, account.name, why="the market has not judged the last call yet")
        case Stopped(trip, _):
            return Line(sku, account.name, why=f"held: {trip.reason}")
        case Faulty(problems):
            words = "; ".join(problem.words for problem in problems)
            return Line(sku, account.name, why=f"the market would refuse it: {words}")
        case Idle(reason):
            return Line(sku, account.name, why=reason)
