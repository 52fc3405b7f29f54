"""A product as BUYMA keeps it, and how it shows it to the seller."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.buyma.rules import LOCKED, until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.sandbox.buyma.account import Account

TOKYO = timezone(timedelta(hours=9))
CDN = "https://cdn-images.buyma.com/imgdata/item"
UNSTORED = ("control", "id", "reference_number")


class Status(StrEnum):
    """The nine states of a product."""

    PUBLIC = "public"
    SOLDOUT = "soldout"
    DRAFT = "draft"
    BUYER_SUSPENDED = "buyer_suspended"
    ADMIN_SUSPENDED = "admin_suspended"
    IN_REVIEW = "in_review"
    NOT_APPROVED = "not_approved"
    BUYER_DELETED = "buyer_deleted"
    ADMIN_DELETED = "admin_deleted"


DELETED = frozenset({Status.BUYER_DELETED, Status.ADMIN_DELETED})
UNEDITABLE = frozenset({*DELETED, Status.ADMIN_SUSPENDED, Status.NOT_APPROVED})


@dataclass(slots=True)
class Listing:
    """One product of one seller, with what was done to it."""

    id: int
    account: Account
    reference: str
    fields: dict[str, Any]
    status: Status
    created_at: datetime
    updated_at: datetime
    published: bool = False
    """Whether it ever was public: then some fields are locked."""
    references: list[str] = field(default_factory=list)
    """Every reference it ever had, oldest first."""
    edits: int = 0
    idle_edits: int = 0
    """Those that changed nothing."""
    stock_calls: int = 0
    idle_stock_calls: int = 0
    fetches: int = 0

    def state(self, now: datetime) -> Status:
        """How it stands: an offer whose last day is over is no longer public, and nobody is told."""
        if self.status is Status.PUBLIC and self.is_lapsed(now):
            return Status.BUYER_SUSPENDED
        return self.status

    def is_lapsed(self, now: datetime) -> bool:
        """Whether its last day is over."""
        day = until(self.fields["available_until"])
        return day is not None and now.astimezone(TOKYO).date() > day

    @property
    def locked(self) -> dict[str, Any]:
        """The fields that an edit may leave out."""
        return {name: self.fields[name] for name in LOCKED if name in self.fields}

    @property
    def paths(self) -> set[str]:
        """The addresses its pictures were fetched from."""
        return {image["path"] for image in self.fields.get("images", ())}

    @property
    def model(self) -> str:
        """Its first style number."""
        styles = self.fields.get("style_numbers") or [{}]
        return str(styles[0].get("number", ""))

    @property
    def list_price(self) -> int:
        """With the cheapest shipping."""
        fees = [self.account.methods[one["shipping_method_id"]] for one in self.fields["shipping_methods"]]
        return int(self.fields["price"]) + min(fees)


def stored(product: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a request: a trailing blank of the name is not."""
    kept = {name: value for name, value in product.items() if name not in UNSTORED}
    if isinstance(kept.get("name"), str):
        kept["name"] = kept["name"].rstrip()
    return kept


def payload(listing: Listing, now: datetime) -> dict[str, Any]:
    """The product at the root of a webhook, its pictures on BUYMA's own host."""
    images = [
        {"path": f"{CDN}/{listing.id}/{image['position']}.jpg", "position": image["position"]}
        for image in listing.fields["images"]
    ]
    return {
        "id": listing.id,
        "reference_number": listing.reference,
        "status": listing.state(now),
        **listing.fields,
        "list_price": listing.list_price,
        "images": images,
        "created_at": listing.created_at.astimezone(TOKYO).isoformat(),
        "updated_at": listing.updated_at.astimezone(TOKYO).isoformat(),
    }
