"""What a run would send, and nothing is sent: the exact differences and calls of brands as they are known now."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bobusang.flows.conveyor import goods, marks, wanting
from bobusang.flows.conveyor.model import STAGES, Mode, Stage
from bobusang.flows.conveyor.pricing import said
from bobusang.flows.conveyor.sifting import OF_BRAND, first, sought, stamps_of
from bobusang.flows.conveyor.starting import passed, stages_asked
from bobusang.stages.convert import store
from bobusang.stages.price.model import Hold
from bobusang.stages.register import accounts, listings
from bobusang.stages.register.deciding import Chosen, Faulty, Outdated, Stopped, Waiting
from bobusang.stages.register.diffing import Idle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence
    from datetime import datetime

    from bobusang.flows.conveyor.belt import Belt
    from bobusang.flows.conveyor.goods import Known
    from bobusang.flows.conveyor.model import Brand
    from bobusang.kit.db import Tx
    from bobusang.stages.register.model import Account, Listing, Wanted
    from bobusang.stages.register.service import Preview

CHUNK = 100
AS_CONFIRMED = "as confirmed"
"""Why nothing would be sent of what is right already …"""
UNTOUCHED = "nothing has changed since it was last looked at"
"""… and of what a run would not even look at."""
RIGHT = frozenset({AS_CONFIRMED, UNTOUCHED})


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
    doubts: str = ""
    """Which options keep their stock whatever the mall says, and why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A run that is only tried: its mode, and the stages that it would go through."""

    mode: Mode = Mode.FULL
    stages: tuple[Stage, ...] = STAGES[Mode.FULL]

    @property
    def sends(self) -> bool:
        return Stage.REGISTER in self.stages

    @staticmethod
    def of(mode: Mode, stages: Sequence[Stage] | None) -> Trial:
        """The run that such a start would begin; without stages, all of its mode."""
        return Trial(mode, passed(stages_asked(mode, stages)) or STAGES[mode])


async def preview(
    belt: Belt, brands: Sequence[Brand], trial: Trial, *, limit: int | None = None
) -> AsyncIterator[Line]:
    """Line by line for every product of these brands that was converted, of PARTIAL for what is listed; none where
    the stages send nothing. It only reads: no mall is asked, no rival is searched, and run and budget are not judged.
    """
    for brand in brands if trial.sends else ():
        async with belt.db.read() as tx:
            rows = await tx.fetch(OF_BRAND, mall=brand.mall, brand=brand.name)
        keys = [row["product_id"] for row in rows][:limit]
        for start in range(0, len(keys), CHUNK):
            part = keys[start : start + CHUNK]
            async with belt.db.read() as tx:
                due = await _due(belt, tx, brand.mall, part, trial)
                lines = await _lines(belt, tx, brand.mall, part, trial, due)
            for line in lines:
                yield line


async def of_product(belt: Belt, tx: Tx, mall: str, key: str) -> list[Line]:
    """The same for one product, whether a run would look at it or not: a line for each account."""
    return await _lines(belt, tx, mall, [key], Trial(), {key})


async def _due(belt: Belt, tx: Tx, mall: str, keys: Sequence[str], trial: Trial) -> set[str]:
    """Of these, what a run would look at: the marks of the others still hold."""
    partial = trial.mode is Mode.PARTIAL
    stamp = await marks.stamp(tx, belt.market, belt.today(tx.now))
    rows = await sought(tx, belt.market, mall, keys, stamp, partial=partial)
    stamps = None if partial else await stamps_of(tx, belt, mall)
    return {key for key, row in rows.items() if first(trial.stages, row, stamps) is not None}


async def _lines(belt: Belt, tx: Tx, mall: str, keys: Sequence[str], trial: Trial, due: Collection[str]) -> list[Line]:
    known = {one.id: one for one in (await goods.load(tx, mall, keys)).values()}
    made = {
        id: one.data for id, one in (await store.load(tx, belt.market, list(known))).items() if one.data is not None
    }
    sellers = [one for one in await accounts.every(tx) if one.market == belt.market]
    there = {one.id: await listings.known(tx, one.id, list(made)) for one in sellers} if made else {}
    seen = None if Stage.COLLECT in trial.stages else await goods.seen(tx, list(made))
    found: list[Line] = []
    for account in (one for one in sellers if one.enabled and made):
        mine, is_full = there[account.id], trial.mode is Mode.FULL
        touched = {id: data for id, data in made.items() if is_full or wanting.is_there(mine.get(id))}
        now = {id: data for id, data in touched.items() if known[id].key in due}
        found += [Line(known[id].sku, account.name, why=UNTOUCHED) for id in touched if id not in now]
        found += await _of_account(belt, tx, account, known, now, mine, trial, seen) if now else []
    return found


async def _of_account(
    belt: Belt,
    tx: Tx,
    account: Account,
    known: Mapping[int, Known],
    made: Mapping[int, Any],
    there: Mapping[int, Listing],
    trial: Trial,
    seen: Mapping[int, datetime] | None,
) -> list[Line]:
    """`seen`: when a page last showed each; None where the run would look at the mall first."""
    currency = belt.register.market.abilities.currency
    stocked = {id: wanting.stocked(known[id], data) for id, data in made.items()}
    wishes = [
        wanting.priced(
            known[id],
            data,
            stocked[id].goods,
            account,
            there.get(id),
            currency=currency,
            may_raise=trial.mode is Mode.FULL,
        )
        for id, data in made.items()
    ]
    quoted = {one.wanted.product_id: one for one in await belt.pricing.look(tx, wishes, belt.today(tx.now))}
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
            at = tx.now if seen is None else seen.get(id)
            now: dict[str, Any] = {"seen_at": at, "decided_at": tx.now}
            goods = stocked[id].goods
            wanted.append(wanting.registered(known[id], data, goods, shown, told, cap=account.policy.most, **now))
    previews = await belt.register.preview(tx, account, wanted)
    return [
        *lines,
        *(
            replace(_line(known[id].sku, account, one), doubts=stocked[id].doubts)
            for one in previews
            for id in (one.product_id,)
        ),
    ]


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
        case Outdated(reason) | Idle(reason):
            return Line(sku, account.name, why=reason)
