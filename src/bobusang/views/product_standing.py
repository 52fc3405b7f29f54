"""Why a product is on sale or not, in one word that a screen makes a sentence of: the first thing that stands in the
way, in the order in which a product is made ready."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bobusang.catalog.tables.images import ImageState
from bobusang.stages.convert.model import Why
from bobusang.stages.convert.tables import State as Readiness
from bobusang.stages.price.model import Decision
from bobusang.stages.register.model import State
from bobusang.views.listings import ListingDetail
from bobusang.views.product_page import ProductPage


class Where(StrEnum):
    """How far a product has come."""

    ON_SALE = "on_sale"
    SOLD_OUT = "sold_out"
    SENT = "sent"
    REVIEWED = "reviewed"
    REFUSED = "refused"
    BLOCKED = "blocked"
    TAKEN_DOWN = "taken_down"
    HELD_SEND = "held_send"
    HELD = "held"
    GONE = "gone"
    SOURCE_SOLD_OUT = "source_sold_out"
    NOT_CONVERTED = "not_converted"
    NO_PICTURE = "no_picture"
    NO_PRICE = "no_price"
    NOT_PRICED = "not_priced"
    NEXT_RUN = "next_run"


GOOD = frozenset({Where.ON_SALE})
BUSY = frozenset({Where.SENT, Where.REVIEWED, Where.NEXT_RUN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where it stands; `said` are the words of whoever stopped it, `why` the first reason of a conversion."""

    where: Where
    said: str = ""
    why: Why | None = None
    field: str = ""
    sku: str = ""
    market_id: str = ""
    at: datetime | None = None

    @property
    def tone(self) -> str:
        """Its colour."""
        if self.where in GOOD:
            return "good"
        if self.where in BUSY:
            return "busy"
        return "warn" if self.where in (Where.SOLD_OUT, Where.SOURCE_SOLD_OUT, Where.GONE) else "bad"


def standing(page: ProductPage) -> Standing:
    """The first that holds."""
    listing = page.listing
    found = _listed(listing, page) if listing else None
    return found or _not_listed(page)


def _listed(listing: ListingDetail, page: ProductPage) -> Standing | None:
    """None where its listing says nothing of why it is not on sale."""

    def there(where: Where, said: str | None = "") -> Standing:
        at, number = listing.confirmed_at, listing.market_id or ""
        return Standing(where=where, said=said or "", sku=listing.sku, market_id=number, at=at)

    match listing.state:
        case State.LIVE:
            return there(Where.ON_SALE)
        case State.SOLD_OUT | State.SUSPENDED:
            return there(Where.SOLD_OUT)
        case State.IN_REVIEW | State.DRAFT:
            return there(Where.REVIEWED)
        case State.SENT:
            return there(Where.SENT)
        case State.BLOCKED | State.NOT_APPROVED:
            return there(Where.BLOCKED, listing.refused)
        case State.DELETED | State.REMOVED:
            return there(Where.TAKEN_DOWN, listing.refused)
    if page.holds:
        hold = page.holds[0]
        return Standing(where=Where.HELD_SEND, said=hold.reason, sku=listing.sku, at=hold.at)
    if listing.refused:
        return there(Where.REFUSED, listing.refused)
    return there(Where.SENT) if listing.open_call is not None else None


def _not_listed(page: ProductPage) -> Standing:
    product, made, price = page.product, page.conversion, page.price
    if product.listed is False:
        return Standing(where=Where.GONE, at=page.changed_at)
    if made is not None and made.state is Readiness.HELD:
        first = made.reasons[0] if made.reasons else None
        said, why, named = (first.text, first.why, first.field) if first else ("", None, "")
        return Standing(where=Where.HELD, said=said, why=why, field=named, at=made.at)
    if product.in_stock is False:
        return Standing(where=Where.SOURCE_SOLD_OUT, at=page.changed_at)
    if made is None:
        return Standing(where=Where.NOT_CONVERTED, at=page.changed_at)
    if not any(one.is_ready for one in page.pictures):
        said = next((one.reason for one in page.pictures if one.state is not ImageState.PENDING and one.reason), "")
        return Standing(where=Where.NO_PICTURE, said=said or "", at=made.at)
    if price is None:
        return Standing(where=Where.NOT_PRICED, at=made.at)
    if price.decision is Decision.HOLD:
        return Standing(where=Where.NO_PRICE, said=price.detail, at=price.decided_at)
    return Standing(where=Where.NEXT_RUN, at=price.decided_at)
