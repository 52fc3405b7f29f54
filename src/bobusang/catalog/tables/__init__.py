"""The catalog's tables: the versioned truth, what was seen when, products, sellers, suppliers and the malls' own names.

There are no foreign keys between them: all but the last few are written by every batch that is collected (ADR 5).
"""

from bobusang.catalog.tables.images import product_images
from bobusang.catalog.tables.malls import mall_brands, mall_categories, sellers, suppliers
from bobusang.catalog.tables.products import products, removed_products
from bobusang.catalog.tables.records import (
    data_lineage,
    field_changes,
    seen_scopes,
    source_data,
    source_markets,
    source_records,
    source_seen,
)
from bobusang.catalog.tables.variants import product_options, product_variants

__all__ = [
    "data_lineage",
    "field_changes",
    "mall_brands",
    "mall_categories",
    "product_images",
    "product_options",
    "product_variants",
    "products",
    "removed_products",
    "seen_scopes",
    "sellers",
    "source_data",
    "source_markets",
    "source_records",
    "source_seen",
    "suppliers",
]
