"""`bobusang account`: our shops on markets."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.files import document
from bobusang.entry.cli.session import Session

app = group("Accounts on markets: add, set, stop, start.")

Name = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account's name.")]
Market = Annotated[str, typer.Option("--market", help="The market it is on.")]
Method = Annotated[list[int] | None, typer.Option("--method", help="Number of a shipping method; repeatable.")]
Charge = Annotated[
    int | None,
    typer.Option("--shipping-charge", min=0, help="What buyers pay for the cheapest of them, in yen; 0: nothing."),
]
Shop = Annotated[str | None, typer.Option("--shop-name", help="The shop that buyers are shown.")]
Seller = Annotated[
    str | None, typer.Option("--seller-name", help="Whom buyers see as the seller; without it the account's name.")
]
Duty = Annotated[str | None, typer.Option("--duty", help="Who pays duty, as the market words it.")]
Tier = Annotated[str | None, typer.Option("--fee-tier", help="The tier by which the market takes its fee.")]
Policy = Annotated[
    str | None, typer.Option("--policy", metavar="FILE", help="JSON: caution, budget, days, patience, …")
]
SECRET = "Where the {} is, as env:NAME or file:PATH; never the secret itself."  # noqa: S105

COLUMNS = "market name enabled live held rests_until stopped_why"
FACTS = (
    "market name enabled stopped_why rests_until buying_area shipping_area shipping_methods shipping_charge "
    "shop_name seller_name duty fee_tier token_ref secret_ref live held created_at updated_at"
)
CALLS = "span used limit"


@command(app, "list")
def list_accounts(session: Session) -> None:
    """List accounts with how many listings are live and how many sends are held."""
    session.screen.page(session.api.get("/accounts"), COLUMNS)


@command(app, "show")
def show(session: Session, account: Name, market: Market = "buyma") -> None:
    """Show an account: areas, shipping, policy, and the calls it has used of its budget."""
    found = session.api.get(_path(market, account))
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    calls = found["calls"]
    session.screen.title("calls")
    spans = (("hour", calls["hour"], calls["hour_limit"]), ("24 h", calls["day"], calls["day_limit"]))
    session.screen.table([{"span": span, "used": used, "limit": limit} for span, used, limit in spans], CALLS)
    if found["listings"]:
        session.screen.title("listings")
        counts = [{"state": state, "count": count} for state, count in found["listings"].items()]
        session.screen.table(counts, "state count")
    session.screen.title("policy")
    session.screen.record(found["policy"])


@command(app, "add")
def add(
    session: Session,
    account: Name,
    buying_area: Annotated[str, typer.Option("--buying-area", help="The market's number of it.")],
    shipping_area: Annotated[str, typer.Option("--shipping-area", help="The market's number of it.")],
    token_ref: Annotated[str, typer.Option("--token-ref", metavar="REF", help=SECRET.format("access token"))],
    secret_ref: Annotated[str, typer.Option("--secret-ref", metavar="REF", help=SECRET.format("webhooks' secret"))],
    method: Method = None,
    shipping_charge: Charge = None,
    shop_name: Shop = None,
    seller_name: Seller = None,
    duty: Duty = None,
    fee_tier: Tier = None,
    policy: Policy = None,
    market: Market = "buyma",
) -> None:
    """Add an account; its secrets are named, never given."""
    if not method:
        raise Failure("usage", "an account needs a shipping method", "as --method 101; repeat it for more")
    body = _body(
        buying_area=buying_area,
        shipping_area=shipping_area,
        shipping_methods=method,
        shipping_charge=shipping_charge,
        shop_name=shop_name,
        seller_name=seller_name,
        duty=duty,
        fee_tier=fee_tier,
        token_ref=token_ref,
        secret_ref=secret_ref,
        policy=policy,
    )
    made = session.api.post("/accounts", {"market": market, "name": account} | body)
    session.screen.done(made, "account {account} was added on {market}", account=account, market=market)
    if session.screen.reads_well:
        session.note("{command} shows what it may call", command=session.line(f"account show {account}"))


@command(app, "set")
def change(
    session: Session,
    account: Name,
    buying_area: Annotated[str | None, typer.Option("--buying-area", help="The market's number of it.")] = None,
    shipping_area: Annotated[str | None, typer.Option("--shipping-area", help="The market's number of it.")] = None,
    token_ref: Annotated[
        str | None, typer.Option("--token-ref", metavar="REF", help=SECRET.format("access token"))
    ] = None,
    secret_ref: Annotated[
        str | None, typer.Option("--secret-ref", metavar="REF", help=SECRET.format("webhooks' secret"))
    ] = None,
    method: Method = None,
    shipping_charge: Charge = None,
    shop_name: Shop = None,
    seller_name: Seller = None,
    duty: Duty = None,
    fee_tier: Tier = None,
    policy: Policy = None,
    market: Market = "buyma",
) -> None:
    """Change what is named; of a policy, what the file says."""
    body = _body(
        buying_area=buying_area,
        shipping_area=shipping_area,
        shipping_methods=method or None,
        shipping_charge=shipping_charge,
        shop_name=shop_name,
        seller_name=seller_name,
        duty=duty,
        fee_tier=fee_tier,
        token_ref=token_ref,
        secret_ref=secret_ref,
        policy=policy,
    )
    if not body:
        raise Failure("usage", "nothing is to be changed", "`bobusang account set --help` shows what can be")
    answer = session.api.patch(_path(market, account), body)
    session.screen.done(answer, "account {account} was changed", account=account)


@command(app, "stop")
def stop(
    session: Session,
    account: Name,
    why: Annotated[str, typer.Option("--why", help="Why, for whoever wonders.")],
    market: Market = "buyma",
) -> None:
    """Stop all sending of an account at once."""
    answer = session.api.post(f"{_path(market, account)}/stop", {"why": why})
    session.screen.done(answer, "account {account} sends nothing", account=account)


@command(app, "start")
def start(session: Session, account: Name, market: Market = "buyma") -> None:
    """Let an account send again."""
    answer = session.api.post(f"{_path(market, account)}/start")
    session.screen.done(answer, "account {account} may send again", account=account)


def _path(market: str, account: str) -> str:
    return f"/accounts/{quote(market, safe='')}/{quote(account, safe='')}"


def _body(*, policy: str | None, **said: Any) -> dict[str, Any]:
    found = {name: value for name, value in said.items() if value is not None}
    return found if policy is None else found | {"policy": document(policy)}
