"""Columns of a document that every index has where the product tells them, under the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bobusang.platform.search import Document


def told(document: Document, model: str, between: str) -> dict[str, Any]:
    """Those that a product may lack; `model` is its model number in one form, kept beside how it is written."""
    found: dict[str, Any] = {
        "models": f"{model}{between}{document.model}" if model else None,
        "price": document.price,
        "in_stock": document.in_stock,
        "brand": document.brand or document.brand_ko or None,
        "category": document.category or None,
    }
    return {name: value for name, value in found.items() if value is not None}
