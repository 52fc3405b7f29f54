"""The tables that people know from the first conveyor ([A]), as read-only views over ours.

Columns have the names they had there; what we do not know has none. A truth is 1 or 0 and money a whole number, on all
three databases. A product with several accounts is shown with the listing that was made first, and is not retired.
"""

from __future__ import annotations

from bobusang.kit.sql import Dialect

MARKET = "buyma"

# Columns of `products` follow the mall, but for those a person has edited; the document is what the mall said.
_SCRAPED = """
    select r.id, r.source_system as source_site, r.source_id as mall_product_id, p.brand as brand_name_en,
      p.brand_ko as brand_name_kr, p.name as product_name, p.model as model_id, p.category as category_path,
      p.list_price as original_price, p.price as raw_price,
      case when p.in_stock then 'in_stock' when not p.in_stock then 'out_of_stock' end as stock_status,
      d.normalized_data as raw_json_data, p.url as product_url, r.created_at, p.updated_at
    from source_records r join source_data d on d.id = r.version_id join products p on p.id = r.id
    where r.source_type = 'supplier_product'"""

_LOWEST = f"""
    select id, model as model_id, total as lowest_price, seller as lowest_price_seller, title as lowest_price_title,
      comparable as competitor_count, excluded as price_data_json, search as last_result,
      checked_at as last_checked_at, due_at as next_check_at, found_at as updated_at
    from competitor_prices where market = '{MARKET}'"""

_CONTROL = """case when l.state = 'LIVE' then 'publish' when l.state in ('SOLD_OUT', 'SUSPENDED') then 'suspend'
      when l.state in ('DELETED', 'REMOVED') then 'delete' else 'draft' end"""


def _text(dialect: Dialect, column: str, *path: str) -> str:
    """What a document kept as text says at a path."""
    match dialect:
        case Dialect.SQLITE:
            return f"json_extract({column}, '$.{'.'.join(path)}')"
        case Dialect.POSTGRES:
            return f"({column}::jsonb #>> '{{{','.join(path)}}}')"
        case Dialect.MARIADB:
            return f"json_value({column}, '$.{'.'.join(path)}')"


def _whole(dialect: Dialect, column: str, *path: str) -> str:
    kind = "signed" if dialect is Dialect.MARIADB else "bigint"
    return f"cast({_text(dialect, column, *path)} as {kind})"


def _products(dialect: Dialect) -> str:
    """What CONVERT has made, with what became of it: made once, it stays, even while the product is held again."""
    price = f"coalesce({_whole(dialect, 'l.confirmed', 'price')}, q.price)"
    lowest = _whole(dialect, "q.competitor", "total", "amount_minor")
    brand = f"coalesce(nullif({_text(dialect, 'c.data', 'brand_name')}, ''), p.brand)"
    return f"""
    select c.product_id as id, c.product_id as raw_data_id, p.mall as source_site, l.reference as reference_number,
      l.market_id as buyma_product_id,
      (select min(m.confirmed_at) from market_calls m where m.listing_id = l.id and m.kind = 'CREATE')
        as buyma_registered_at,
      {_text(dialect, "c.data", "model")} as model_no, {_CONTROL} as control, l.state as status,
      {_text(dialect, "c.data", "name")} as name, {_text(dialect, "c.data", "comments")} as comments,
      {_whole(dialect, "c.data", "brand_id")} as brand_id, {brand} as brand_name,
      {_whole(dialect, "c.data", "category_id")} as category_id,
      case when p.currency = 'KRW' then p.list_price end as original_price_krw,
      case when p.currency = 'KRW' then p.price end as purchase_price_krw,
      {price} as price, {lowest} as buyma_lowest_price,
      case when {price} <= {lowest} then 1 when {price} > {lowest} then 0 end as is_lowest_price,
      q.created_at as margin_calculated_at, l.available_until, a.buying_area as buying_area_id,
      a.shipping_area as shipping_area_id, a.shop_name as buying_shop_name, a.duty,
      {_whole(dialect, "c.data", "season_id")} as season_id, {_text(dialect, "c.data", "size_unit")} as size_unit,
      p.url as source_product_url, p.model as source_model_id, p.list_price as source_original_price,
      p.price as source_sales_price,
      case when exists (select 1 from product_images i where i.product_id = c.product_id and i.state = 'READY')
        then 1 else 0 end as is_image_uploaded,
      case when c.state = 'READY' then 1 else 0 end as is_ready_to_publish,
      case when l.state = 'LIVE' then 1 else 0 end as is_published,
      case when p.listed is null or p.listed then 1 else 0 end as is_active, c.created_at, c.updated_at
    from conversions c join products p on p.id = c.product_id
      left join listings l on l.id = (select min(x.id) from market_accounts y join listings x
        on x.account_id = y.id and x.product_id = c.product_id and x.retired = 0 where y.market = '{MARKET}')
      left join market_accounts a on a.id = l.account_id
      left join price_quotes q on q.id = (select max(z.id) from price_quotes z
        where z.product_id = c.product_id and z.market = '{MARKET}')
    where c.market = '{MARKET}' and c.data is not null"""


def _images(dialect: Dialect) -> str:
    """`cloudflare_image_url` is the path of what the market is shown, below our public address."""
    shown = """coalesce((select max(f.sha256) from image_files f
        where f.made_from = i.sha256 and f.recipe <> 'original'), i.sha256)"""
    path = f"concat('/media/', {shown})" if dialect is Dialect.MARIADB else f"'/media/' || {shown}"
    return f"""
    select i.product_id * 100 + i.position as id, i.product_id as ace_product_id, i.position,
      i.source_url as source_image_url, case when i.state = 'READY' then {path} end as cloudflare_image_url,
      case when i.state = 'READY' then 1 else 0 end as is_uploaded, i.reason as upload_error, i.updated_at
    from product_images i"""


def definitions(dialect: Dialect) -> dict[str, str]:
    """View name → select."""
    return {
        "raw_scraped_data": _SCRAPED,
        "ace_products": _products(dialect),
        "ace_product_images": _images(dialect),
        "buyma_lowest_prices": _LOWEST,
    }


NAMES = tuple(definitions(Dialect.SQLITE))
