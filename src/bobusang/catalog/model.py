"""The catalog's nouns: what a page said of one thing, and what that changes in the truth.

What was read is made by the thousand and names only what it is made of, never one another in a circle: `gc=False`
spares the looking for circles.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class SourceType(StrEnum):
    """What a record is about (design [C])."""

    SUPPLIER_PRODUCT = "supplier_product"
    MARKET_LISTING = "market_listing"
    ORDER = "order"
    INVENTORY = "inventory"
    PRICING = "pricing"
    CUSTOMER = "customer"
    ANALYTICS = "analytics"


class ProcessingStatus(StrEnum):
    """How far a version has come on its way to the markets."""

    RAW = "raw"
    PROCESSING = "processing"
    PROCESSED = "processed"
    ERROR = "error"
    ARCHIVED = "archived"


class Group(StrEnum):
    """Fields that are compared and refreshed together."""

    PRICE = "price"
    STOCK = "stock"
    IMAGES = "images"
    CONTENT = "content"


class Snapshot(msgspec.Struct, frozen=True, gc=False):
    """What one page said of one thing: only what it said.

    A field is known (in `fields`), absent (in `fields` as None: the page shows that there is none) or unknown (in
    `unknown`: the page should say, and we could not read it with certainty). What is in neither was not asked of this
    page. Unknown never becomes zero or sold out: the last known value stays, and grows old.

    Fields of a product: `name brand brand_ko model price list_price currency sold_out options images category gender
    season measurements materials origin url shipping_fee minimum_resale_price description seller`. Money is a whole
    number of minor units of `currency`. `options` is a list of `{code, color, size, available, stock, price, ...}`;
    `code` is the mall's own, or the text as read when there is none, never a translation.
    """

    source: str
    key: str
    fields: dict[str, Any]
    unknown: tuple[str, ...] = ()
    type: SourceType = SourceType.SUPPLIER_PRODUCT
    options_complete: bool = True
    """Whether an option that is not here is gone; False: this page may show only some of them."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A snapshot with where it comes from: evidence for each value that it changes."""

    snapshot: Snapshot
    stream: str
    """Which page of the source said so (list, detail, options): a stream speaks up only when what it says changes."""
    reader: str
    """The version of the reader."""
    raw_id: int | None = None
    """The archived page (`raw_pages.id`)."""
    scope: str = ""
    """In what it was seen: a list of a target (`list:brand:나이키(NIKE)`) or a stream (`detail`)."""


class SellerStatus(StrEnum):
    """Whether a mall's seller is crawled; paused by us or by itself, disabled by a person."""

    ACTIVE = "Active"
    PAUSED = "Paused"
    DISABLED = "Disabled"


class SupplierKind(StrEnum):
    """How a supplier's data comes (design [C])."""

    API = "api"
    EXCEL = "excel"
    WEBHOOK = "webhook"


class Review(StrEnum):
    """What a person has said of a proposal; `is_active` is NULL, 1 or 0."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    BLOCKED = "blocked"


class ChangeKind(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    SAME = "same"


class FieldChange(msgspec.Struct, frozen=True, gc=False):
    """One field, before and after; None stands for absent and for not known before.

    An option's is `options.<code>.<attribute>`; a new option is `options.<code>` as a whole, and the first options that
    a record gets are `options`.
    """

    field: str
    group: str
    old: Any
    new: Any


class Change(msgspec.Struct, frozen=True, gc=False):
    """What a reading would change in the truth; nothing is written yet."""

    kind: ChangeKind
    reading: Reading
    record_id: int = 0
    """0 for a new record."""
    version: int = 0
    """The version it was compared with; 0 for a new record."""
    before: dict[str, Any] | None = None
    after: dict[str, Any] = {}
    fields: tuple[FieldChange, ...] = ()
    """What differs; empty unless CHANGED."""
    digest: str = ""
    """What to remember of the stream's saying; empty when it is remembered already."""

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(change.group for change in self.fields)
