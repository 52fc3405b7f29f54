"""The malls' categories with their review, and the market's category that each stands for."""

from dataclasses import dataclass
from datetime import datetime

from bobusang.catalog import reviews
from bobusang.catalog.model import Review
from bobusang.catalog.tables import mall_categories
from bobusang.kit.clock import utc
from bobusang.kit.db import Row
from bobusang.views.reviews import ReviewList


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryLine:
    """A category of a mall by its whole path."""

    id: int
    mall: str
    path: str
    gender: str | None
    url: str | None
    review: Review
    buyma_category_id: int | None
    last_seen_at: datetime
    created_at: datetime


def _category(row: Row) -> CategoryLine:
    return CategoryLine(
        id=row["id"],
        mall=row["mall_name"],
        path=row["full_path"],
        gender=row["gender"],
        url=row["mall_category_url"],
        review=reviews.REVIEWS[row["is_active"]],
        buyma_category_id=row["buyma_category_id"],
        last_seen_at=utc(row["last_seen_at"]),
        created_at=utc(row["created_at"]),
    )


CATEGORIES = ReviewList("category", mall_categories, ("full_path",), _category)
