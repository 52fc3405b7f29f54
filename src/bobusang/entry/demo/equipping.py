"""What a seller does on the first day, done for the demo: an account, the market's lists, a reviewed mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.entry.demo.places import ACCOUNT, BRANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.entry.api.desk import Desk

MARKET = "buyma"
KOREA, FREE = "2002003000", 888
"""The market's numbers of where we buy, and of a free delivery."""


def account() -> dict[str, Any]:
    """The demo's account; its secrets are references that only the sandbox knows."""
    return {
        "market": MARKET,
        "name": ACCOUNT,
        "buying_area": KOREA,
        "shipping_area": KOREA,
        "shipping_methods": [FREE],
        "shipping_charge": 0,
        "shop_name": "Seoul select shop",
        "duty": "included",
        "token_ref": "sandbox:token",
        "secret_ref": "sandbox:secret",
    }


def mapping() -> str:
    """Brands and categories of the sandbox, as a person would have reviewed them."""
    from bobusang.sandbox.reviewed import mapping as reviewed

    return reviewed(BRANDS)


async def equip(desk: Desk, told: Callable[[str], None]) -> str:
    """Equip an empty shop and start its first run, as somebody would by the API; the run. What is there is kept, so
    that it can be done again after it was interrupted."""
    from starlette.responses import Response

    from bobusang.entry.api import accounts, batches, mappings, masters
    from bobusang.flows.conveyor import watching
    from bobusang.flows.conveyor.watching import BatchFilter

    async with desk.read() as tx:
        begun = await watching.listed(tx, BatchFilter(), None, 1)
    if begun:
        return begun[0].batch_id
    told("lists")
    await masters.fetch_masters(desk, masters.MasterQuery(market=MARKET))
    told("mapping")
    await mappings.taken(desk, mapping(), MARKET)
    told("account")
    if not (await accounts.list_accounts(desk)).items:
        await accounts.add_account(desk, accounts.AccountForm(**account()))
    told("run")
    return (await batches.start_batch(desk, batches.BatchForm(), Response())).batch_id
