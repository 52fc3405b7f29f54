"""Accounts: our shops on markets, set up with secrets by reference, stopped and started by one switch."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from fastapi import Path
from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from bobusang.entry.api.desk import Admin, Desk, Operator, Viewer
from bobusang.entry.api.fields import Form, Id, Name, Numeric, Payload
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import MARKETS, Market
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict, Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Account, Policy
from bobusang.views import accounts as view
from bobusang.views.accounts import AccountDetail, AccountLine

router = Resource("accounts", "/accounts")

REFERENCE = re.compile(r"(env:[A-Za-z_][A-Za-z0-9_]*|file:\S.*|sandbox:(token|secret))")


def _reference(value: str) -> str:
    """What is refused is not repeated: it may be the secret itself."""
    if not REFERENCE.fullmatch(value):
        raise PydanticCustomError("reference", "should name where the secret is, as env:NAME or file:PATH")
    return value


MarketName = Annotated[str, Path(min_length=1, max_length=50, examples=["buyma"])]
AccountName = Annotated[str, Path(min_length=1, max_length=100, examples=["main"])]
Word = Annotated[str, Field(max_length=20)]
Area = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20)]
Secret = Annotated[
    str,
    Field(max_length=200, examples=["env:BUYMA_TOKEN"], json_schema_extra={"pattern": f"^{REFERENCE.pattern}$"}),
    AfterValidator(_reference),
]
Seller = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=100),
    Field(description="whom buyers see as the seller, so that our own offers are nobody's rivals; empty: `name`"),
]
Methods = Annotated[list[Id], Field(min_length=1, max_length=50, description="the market's numbers of them")]
Charge = Annotated[
    int,
    Field(ge=0, le=10**9, description="what buyers pay for the cheapest of them beside the price, in minor units"),
    Numeric,
]
Why = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=accounts.REASON_LENGTH)]


class AccountForm(Form):
    """A new account; the policy's names that are not given are the careful defaults."""

    market: Market = MARKETS[0]
    name: Name
    buying_area: Area
    shipping_area: Area
    shipping_methods: Methods
    shop_name: Name | None = None
    seller_name: Seller = ""
    shipping_charge: Charge | None = None
    duty: Word = ""
    fee_tier: Annotated[str, Field(max_length=50)] = ""
    token_ref: Secret
    secret_ref: Secret
    policy: Payload | None = None


class AccountChange(Form):
    """What is to be different; the policy's names that are not given stay."""

    buying_area: Area | None = None
    shipping_area: Area | None = None
    shipping_methods: Methods | None = None
    shop_name: Annotated[str | None, Field(max_length=100)] = None
    seller_name: Seller | None = None
    shipping_charge: Charge | None = None
    duty: Word | None = None
    fee_tier: Annotated[str | None, Field(max_length=50)] = None
    token_ref: Secret | None = None
    secret_ref: Secret | None = None
    policy: Payload | None = None


class StopForm(Form):
    """Why nothing may be sent."""

    why: Why


@router.get("", summary="List accounts")
async def list_accounts(desk: Viewer) -> Page[AccountLine]:
    """By market and name, with how many listings are live and how many sends are held."""
    async with desk.read() as tx:
        return Page(items=await view.listed(tx), next=None)


@router.post("", summary="Add an account", status_code=201)
async def add_account(desk: Admin, form: AccountForm) -> AccountDetail:
    """Secrets are named (`env:NAME`, `file:PATH`) and never stored."""
    given = form.model_dump(exclude={"policy", "shipping_methods", "shop_name"})
    wanted = Account(
        id=0,
        **given,
        shop_name=form.shop_name or "",
        shipping_methods=tuple(form.shipping_methods),
        policy=_policy(Policy(), form.policy),
    )

    async def work(tx: Tx) -> AccountDetail:
        if any((one.market, one.name) == (form.market, form.name) for one in await accounts.every(tx)):
            hint = f"`bobusang account set {form.name}` changes it"
            raise Conflict(f"there is an account {form.name} on {form.market} already", hint=hint, field="name")
        made = await accounts.add(tx, wanted)
        await desk.note(tx, "account.add", "account", made.id, after=given)
        return await view.one(tx, form.market, form.name)

    return await desk.write(work)


@router.get("/{market}/{name}", summary="Show an account")
async def show_account(desk: Viewer, market: MarketName, name: AccountName) -> AccountDetail:
    """With its policy, its listings by state, and the calls it has used."""
    async with desk.read() as tx:
        return await view.one(tx, market, name)


@router.patch("/{market}/{name}", summary="Change an account")
async def change_account(desk: Admin, market: MarketName, name: AccountName, form: AccountChange) -> AccountDetail:
    """Counts for what is sent from now on; areas and the shop's name stay as they are on listings that the market
    knows."""
    said = form.model_dump(exclude_none=True)

    async def work(tx: Tx) -> AccountDetail:
        before = await accounts.named(tx, market, name)
        changes: dict[str, Any] = {one: value for one, value in said.items() if one != "policy"}
        if form.shipping_methods is not None:
            changes["shipping_methods"] = tuple(form.shipping_methods)
        after = replace(before, **changes, policy=_policy(before.policy, form.policy))
        if after != before:
            await accounts.change(tx, after)
            was = {one: getattr(before, one) for one in said}
            await desk.note(tx, "account.change", "account", before.id, before=was, after=said)
        return await view.one(tx, market, name)

    return await desk.write(work)


@router.post("/{market}/{name}/stop", summary="Stop all sending of an account")
async def stop_account(desk: Operator, market: MarketName, name: AccountName, form: StopForm) -> AccountDetail:
    """The kill switch: nothing is sent for it until it is started again; what was sent is still confirmed."""
    return await _switch(desk, market, name, enabled=False, why=form.why)


@router.post("/{market}/{name}/start", summary="Let an account send again")
async def start_account(desk: Operator, market: MarketName, name: AccountName) -> AccountDetail:
    """What is due goes out with the next run."""
    return await _switch(desk, market, name, enabled=True, why="")


async def _switch(desk: Desk, market: str, name: str, *, enabled: bool, why: str) -> AccountDetail:
    async def work(tx: Tx) -> AccountDetail:
        account = await accounts.named(tx, market, name)
        if account.enabled != enabled:
            await accounts.switch(tx, account, enabled=enabled, why=why)
            action = "account.start" if enabled else "account.stop"
            await desk.note(tx, action, "account", account.id, after={"enabled": enabled, "why": why})
        return await view.one(tx, market, name)

    return await desk.write(work)


def _policy(before: Policy, said: dict[str, Any] | None) -> Policy:
    """The policy with what was said of it; a name that means nothing is refused rather than lost."""
    if not said:
        return before
    plain = msgspec.to_builtins(before)
    _known("policy", said, plain)
    merged = {name: {**plain[name], **value} if isinstance(value, dict) else value for name, value in said.items()}
    try:
        return msgspec.convert(plain | merged, Policy)
    except msgspec.ValidationError as error:
        raise Invalid(f"the account's policy: {error}", field="policy") from error


def _known(place: str, said: dict[str, Any], plain: dict[str, Any]) -> None:
    for name, value in said.items():
        if name not in plain:
            raise Invalid(f"{place} has no '{name}'", hint=did_you_mean(name, plain), field=f"{place}.{name}")
        if isinstance(value, dict) and isinstance(plain[name], dict):
            _known(f"{place}.{name}", value, plain[name])
