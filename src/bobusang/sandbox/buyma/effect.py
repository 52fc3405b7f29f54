"""What a request does to what is stored: refused, made, edited, restocked or ended."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.buyma import grid
from bobusang.sandbox.buyma.listing import DELETED, UNEDITABLE, Listing, Status, stored
from bobusang.sandbox.buyma.problem import Problems, Told
from bobusang.sandbox.buyma.rules import LABELS, LOCKED, Control

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    Fields = Mapping[str, Any]

HISTORY = timedelta(days=14)
WRONG_ID = {"id": ["商品IDは不正な値です"]}
WRONG_REFERENCE = {"reference_number": ["商品管理番号は不正な値です"]}
UNDELETABLE = {"base": ["削除できない商品です"]}
TOO_MANY = {"base": ["出品数の上限を超えました。"]}
NOT_EDITABLE = {"base": ["編集できない商品です"]}


def refusal(product: Fields, listing: Listing | None, now: datetime) -> Told:
    """Why a product call has no effect; nothing when it has one."""
    if listing is None:
        if product.get("id") is not None:
            return WRONG_ID
        if product["control"] == Control.DELETE:
            return UNDELETABLE
        return _without_history(product)
    if product["control"] == Control.DELETE:
        return UNDELETABLE if listing.status in DELETED else {}
    if listing.status in UNEDITABLE:
        return NOT_EDITABLE
    return _changed(product, listing, now)


def stock_refusal(product: Fields, listing: Listing | None) -> Told:
    """Why a stock call has no effect: it only looks up, and by the reference alone not what is suspended."""
    by_id = product.get("id") is not None
    if listing is None:
        return WRONG_ID if by_id else WRONG_REFERENCE
    if listing.status in UNEDITABLE:
        return NOT_EDITABLE
    if not by_id and listing.status is Status.BUYER_SUSPENDED:
        return WRONG_REFERENCE
    cells = [grid.cell(variant) for variant in product["variants"]]
    return {} if sorted(cells) == sorted(grid.wanted(listing.fields["options"])) else {"variants": [grid.HOLE]}


def edited(listing: Listing, product: Fields, now: datetime) -> bool:
    """Take the product as it is now told; whether anything is different."""
    before = (listing.fields, listing.status, listing.reference)
    if product["control"] == Control.DELETE:
        listing.status = Status.BUYER_DELETED
    else:
        listing.fields = {**listing.locked, **stored(product)}
        listing.status = standing(product)
        listing.published |= product["control"] == Control.PUBLISH
    rename(listing, product.get("reference_number"))
    listing.updated_at = now
    return before != (listing.fields, listing.status, listing.reference)


def restocked(listing: Listing, product: Fields, now: datetime) -> bool:
    """Take the stock; whether anything is different."""
    before = (listing.fields, listing.status)
    told = {name: product[name] for name in ("variants", "order_quantity") if name in product}
    listing.fields = {**listing.fields, **told}
    if listing.status in (Status.PUBLIC, Status.BUYER_SUSPENDED, Status.SOLDOUT):
        listing.status = Status.BUYER_SUSPENDED if grid.is_out(product["variants"]) else Status.PUBLIC
    listing.updated_at = now
    return before != (listing.fields, listing.status)


def rename(listing: Listing, reference: str | None) -> None:
    """An edit by id overwrites the reference, right or wrong."""
    if reference and reference != listing.reference:
        listing.reference = reference
        listing.references.append(reference)


def standing(product: Fields) -> Status:
    """The state that a request asks for: what nobody can buy is suspended."""
    match product["control"]:
        case Control.DRAFT:
            return Status.DRAFT
        case Control.SUSPEND:
            return Status.BUYER_SUSPENDED
    return Status.BUYER_SUSPENDED if grid.is_out(product["variants"]) else Status.PUBLIC


def _without_history(product: Fields) -> Told:
    if product.get("regular_price") is None:
        return {}
    return {"regular_price": ["通常価格は14日以上の販売実績がある場合に設定できます。"]}


def _changed(product: Fields, listing: Listing, now: datetime) -> Told:
    found = Problems()
    if listing.published and product["control"] == Control.DRAFT:
        found.add("control", "公開した商品は下書きに変更できません。")
    given = stored(product)
    for name in LOCKED if listing.published else ():
        if name in given and given[name] != listing.fields.get(name):
            found.add(name, f"{LABELS[name]}は変更できません。")
    if now - listing.created_at < HISTORY and (told := _without_history(product)):
        found.add("regular_price", *told["regular_price"])
    return found.told()
