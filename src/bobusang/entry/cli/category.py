"""`bobusang category`: the malls' categories, and which of them may go to the market."""

from __future__ import annotations

from bobusang.entry.cli.command import group
from bobusang.entry.cli.reviews import Reviews

app = group("Categories of malls: list, accept, block.")

COLUMNS = "id mall review buyma_category_id path"
REVIEWS = Reviews(app, "category", "categories", place="the path", example="신발")

REVIEWS.lists(COLUMNS)
REVIEWS.decides(
    "accept",
    "Accept categories, by id or by filter: their products may go to the market.",
    text="category {id} is accepted",
)
REVIEWS.decides(
    "block",
    "Block categories, by id or by filter: their products are held back.",
    text="category {id} is blocked",
)
REVIEWS.decides(
    "propose",
    "Set categories back, by id or by filter, as if nobody had reviewed them.",
    text="category {id} is proposed again",
)
