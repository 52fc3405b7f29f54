"""Pricing in batches: load what is known, decide each product, write down what is news."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.platform.bus import Event, publish
from bobusang.stages.price import fxbook, policies, quotes, ratebook, watch
from bobusang.stages.price.model import Hold
from bobusang.stages.price.policy import CAREFUL, Policy
from bobusang.stages.price.quotes import Quoted
from bobusang.stages.price.rules import Facts, decide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from bobusang.kit.db import Tx
    from bobusang.stages.price.model import Fx, Rival, Wanted
    from bobusang.stages.price.policies import Policies
    from bobusang.stages.price.rates import Rates

DAY = timedelta(hours=24)
SHOWN = 50


class Pricing:
    """The price stage."""

    def __init__(self, default: Policy = CAREFUL) -> None:
        self._default = default

    async def quote(self, tx: Tx, wanted: Sequence[Wanted], day: date) -> list[Quoted]:
        """Price these, in their order, by the rows of a day of the market's; what differs from the last decision is
        written, new holds are told."""
        found = await self.look(tx, wanted, day)
        await self.keep(tx, found)
        return found

    async def keep(self, tx: Tx, found: Sequence[Quoted]) -> None:
        """Write down what `look` decided, as far as it is news, and tell of new holds."""
        news = [one for one in found if one.is_news]
        await quotes.write(tx, news)
        await publish(tx, *_events(news))

    async def look(self, tx: Tx, wanted: Sequence[Wanted], day: date) -> list[Quoted]:
        """The same without writing anything."""
        if not wanted:
            return []
        products = [one.product_id for one in wanted]
        rates, ways = await ratebook.load(tx), await policies.load(tx, self._default)
        fx, rivals = await _fx(tx, wanted, rates, ways), await _rivals(tx, wanted)
        said, lately = await quotes.last_said(tx, products), await quotes.lately(tx, products, tx.now - DAY)
        found = []
        for one in wanted:
            policy, key = ways.of(one.market, one.account), quotes.key_of(one)
            rates_known, rival = fx[policy.currency], watch.of(rivals[one.market], one.model)
            result = decide(Facts(one, rates, day, rates_known, rival, lately.get(key)), policy, tx.now)
            used = rates_known.get(one.purchase.currency) if one.purchase else None
            priced = Quoted(one, result, rival, policy.currency, used.quote.id if used and used.quote else None)
            found.append(replace(priced, is_news=said.get(key) != priced.said))
        return found


async def _fx(tx: Tx, wanted: Sequence[Wanted], rates: Rates, ways: Policies) -> dict[str, dict[str, Fx]]:
    """By the market's currency: the rates of all that anything here is paid in."""
    paid = {one.purchase.currency for one in wanted if one.purchase}
    paid |= {one.resale_floor.currency for one in wanted if one.resale_floor}
    paid |= {row.currency for row in rates.fees} | {row.currency for row in rates.freights}
    local = sorted({ways.of(one.market, one.account).currency for one in wanted})
    return {code: await fxbook.known(tx, code, paid) for code in local}


async def _rivals(tx: Tx, wanted: Sequence[Wanted]) -> dict[str, dict[str, Rival]]:
    models: dict[str, set[str]] = {}
    for one in wanted:
        models.setdefault(one.market, set()).add(one.model)
    return {market: await watch.rivals(tx, market, names) for market, names in sorted(models.items())}


def _events(news: Sequence[Quoted]) -> list[Event]:
    """One for each account and reason: a missing fee row holds ten thousand products and is one thing to mend."""
    parts: dict[tuple[str, str, str], list[Quoted]] = {}
    for one in news:
        if isinstance(one.result, Hold):
            parts.setdefault((one.wanted.market, one.wanted.account, one.result.reason), []).append(one)
    return [
        Event(
            "price.held",
            f"{market}/{account}/{reason}"[:200],
            {
                "market": market,
                "account": account,
                "reason": reason,
                "count": len(part),
                "detail": part[0].result.detail,
                "skus": [one.wanted.sku for one in part[:SHOWN]],
            },
        )
        for (market, account, reason), part in parts.items()
    ]
