"""The malls' brands with their review: what collecting proposed, what a person accepted or blocked."""

from dataclasses import dataclass
from datetime import datetime

from bobusang.catalog import reviews
from bobusang.catalog.model import Review
from bobusang.catalog.tables import mall_brands
from bobusang.kit.clock import utc
from bobusang.kit.db import Row
from bobusang.views.reviews import ReviewList


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandLine:
    """A brand of a mall; `key` is what the mall is asked for it by."""

    id: int
    mall: str
    key: str
    name_ko: str | None
    name_en: str | None
    url: str | None
    review: Review
    buyma_brand_id: int | None
    buyma_brand_name: str | None
    last_seen_at: datetime
    created_at: datetime


def _brand(row: Row) -> BrandLine:
    return BrandLine(
        id=row["id"],
        mall=row["mall_name"],
        key=row["mall_brand_no"],
        name_ko=row["mall_brand_name_ko"],
        name_en=row["mall_brand_name_en"],
        url=row["mall_brand_url"],
        review=reviews.REVIEWS[row["is_active"]],
        buyma_brand_id=row["buyma_brand_id"],
        buyma_brand_name=row["buyma_brand_name"],
        last_seen_at=utc(row["last_seen_at"]),
        created_at=utc(row["created_at"]),
    )


BRANDS = ReviewList("brand", mall_brands, ("mall_brand_no", "mall_brand_name_ko", "mall_brand_name_en"), _brand)
