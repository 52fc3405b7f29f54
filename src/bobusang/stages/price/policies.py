"""Price policies in the database: one for a market, or one of its own for an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import insert, select, update

from bobusang.kit.errors import Invalid
from bobusang.platform import audit
from bobusang.stages.price.policy import CAREFUL, Policy, checked
from bobusang.stages.price.tables import price_policies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Tx

_policies = msgspec.json.Decoder(Policy)


@dataclass(frozen=True, slots=True)
class Policies:
    """All policies by market and account; who has none is priced by the careful defaults."""

    by_account: Mapping[tuple[str, str], Policy]
    default: Policy = CAREFUL

    def of(self, market: str, account: str) -> Policy:
        """The account's own, else the market's, else the default."""
        own = self.by_account.get((market, account))
        return own or self.by_account.get((market, ""), self.default)


def read(text: str | bytes) -> Policy:
    """A policy from its JSON text."""
    try:
        return checked(_policies.decode(text))
    except msgspec.MsgspecError as error:
        raise Invalid(f"the price policy cannot be read: {error}", field="policy") from error


async def load(tx: Tx, default: Policy = CAREFUL) -> Policies:
    """All policies."""
    rows = await tx.fetch(select(price_policies))
    return Policies({(row["market"], row["account"]): _policies.decode(row["policy"]) for row in rows}, default)


async def put(tx: Tx, market: str, account: str, policy: Policy, who: str) -> None:
    """Say how an account prices; '' for all accounts of a market without their own."""
    text = msgspec.json.encode(checked(policy)).decode()
    table = price_policies
    where = (table.c.market == market, table.c.account == account)
    row = await tx.first(select(table.c.id, table.c.policy).where(*where))
    values = {"policy": text, "decided_by": who[:200], "decided_at": tx.now}
    if row is None:
        await tx.create(insert(table).values(market=market, account=account, **values))
    else:
        await tx.execute(update(table).where(table.c.id == row["id"]).values(**values))
    before = None if row is None else _policies.decode(row["policy"])
    await audit.record(tx, who, "price.policy", audit.Subject("price_policy", f"{market}/{account}"), before, policy)
