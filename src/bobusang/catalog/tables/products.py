"""Products: one row for every product that was ever collected, so that search finds all of them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, UniqueConstraint

from bobusang.catalog.tables.records import ID_LENGTH, SYSTEM_LENGTH
from bobusang.kit.schema import Id, Payload, at, key, metadata

NAME_LENGTH = 200
LONG_LENGTH = 500
URL_LENGTH = 1000
URL_PREFIX = {"url": 190}

products = Table(
    "products",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # source_records.id
    Column("mall", key(SYSTEM_LENGTH), nullable=False),
    Column("product_id", key(ID_LENGTH), nullable=False),
    Column("seller_id", key(ID_LENGTH)),
    Column("brand", key(NAME_LENGTH)),
    Column("brand_ko", key(NAME_LENGTH)),
    Column("name", String(LONG_LENGTH)),
    Column("model", key(NAME_LENGTH)),
    Column("price", BigInteger),
    Column("list_price", BigInteger),
    Column("currency", key(3)),
    Column("url", String(URL_LENGTH)),
    Column("image", String(URL_LENGTH)),
    Column("in_stock", Boolean),  # NULL: not known
    Column("listed", Boolean),  # false: proved absent from its list; NULL: nobody has said so
    Column("category", String(LONG_LENGTH)),
    Column("gender", key(20)),
    Column("locked", Payload),  # names of the columns that a person has edited
    Column("version", Integer, nullable=False),
    at("created_at"),
    at("updated_at"),
    Column("colours", String(LONG_LENGTH)),  # of its own and of its options; null: nobody has looked
    UniqueConstraint("mall", "product_id", name="uq_products_key"),
    Index("ix_products_brand", "mall", "brand", "id"),
    Index("ix_products_brand_ko", "mall", "brand_ko", "id"),
    Index("ix_products_seller", "mall", "seller_id", "id"),
    Index("ix_products_model", "model"),
    Index("ix_products_changed", "updated_at", "id"),
    Index("ix_products_mall", "mall", "id"),
    Index("ix_products_any_brand", "brand", "id"),
    Index("ix_products_price", "price", "id"),
    # An address is longer than an index entry may be on two of the databases; it is only ever asked for as a whole.
    Index("ix_products_url", "url", postgresql_using="hash", mysql_length=URL_PREFIX, mariadb_length=URL_PREFIX),
)

# By address it is known again what nobody wants back: its product's row is gone, and no index finds it in its record.
removed_products = Table(
    "removed_products",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # source_records.id
    Column("url", String(URL_LENGTH)),
    at("removed_at"),
    Index("ix_removed_url", "url", postgresql_using="hash", mysql_length=URL_PREFIX, mariadb_length=URL_PREFIX),
)
