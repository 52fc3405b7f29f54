"""`pipeline_batches` and `pipeline_control` of design [A], which brand is in which batch, and what needs no look."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, UniqueConstraint, text

from bobusang.flows.conveyor.model import BatchStatus, Mode, Stage, StageStatus
from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

BATCH_LENGTH, MALL_LENGTH, BRAND_LENGTH = 50, 100, 200
MARKET_LENGTH, MODEL_LENGTH = 50, 100

pipeline_batches = Table(
    "pipeline_batches",
    metadata,
    serial(),
    Column("batch_id", key(BATCH_LENGTH), nullable=False),
    choice("run_mode", Mode),
    choice("status", BatchStatus, default=BatchStatus.RUNNING),
    at("start_time"),
    at("end_time", null=True),
    Column("total_brands", Integer, nullable=False, server_default=text("0")),
    Column("success_brands", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("batch_id", name="uk_batch_id"),
    Index("idx_pipeline_batches_status", "status"),
    Index("idx_pipeline_batches_start_time", "start_time"),
    allowed("run_mode", Mode),
    allowed("status", BatchStatus),
)

pipeline_control = Table(
    "pipeline_control",
    metadata,
    serial(),
    Column("batch_id", key(BATCH_LENGTH), nullable=False),
    Column("mall_name", key(MALL_LENGTH), nullable=False),
    Column("brand_name", key(BRAND_LENGTH), nullable=False),
    choice("run_mode", Mode),
    choice("stage", Stage),
    choice("status", StageStatus, default=StageStatus.PENDING),
    Column("item_count", Integer, nullable=False, server_default=text("0")),
    Column("error_msg", Payload),
    at("started_at", null=True),
    at("updated_at"),
    Column("job_id", Id),  # the engine's job that moves this row
    UniqueConstraint("batch_id", "mall_name", "brand_name", "stage", name="uk_batch_brand_stage"),
    Index("idx_pipeline_control_batch_id", "batch_id"),
    Index("idx_pipeline_control_status", "status"),
    Index("idx_pipeline_control_mall_brand", "mall_name", "brand_name"),
    Index("idx_pipeline_control_job", "job_id"),
    allowed("run_mode", Mode),
    allowed("stage", Stage),
    allowed("status", StageStatus),
)

# A brand is in one batch at a time: the row is taken when a batch begins with it and given back when its job ends.
pipeline_brands = Table(
    "pipeline_brands",
    metadata,
    Column("mall_name", key(MALL_LENGTH), primary_key=True),
    Column("brand_name", key(BRAND_LENGTH), primary_key=True),
    Column("batch_id", key(BATCH_LENGTH), nullable=False),
    Index("idx_pipeline_brands_batch", "batch_id"),
)

# What is right on the market as far as we know: a product is looked at again when one of these differs.
conveyor_marks = Table(
    "conveyor_marks",
    metadata,
    Column("product_id", Id, primary_key=True, autoincrement=False),
    Column("market", key(MARKET_LENGTH), primary_key=True),
    Column("version", Integer, nullable=False),  # of the product
    Column("stamp", key(64), nullable=False),  # rates, policies, accounts: what every price is made of
    Column("model", key(MODEL_LENGTH), nullable=False),  # whose rivals its price answers
    at("due_at"),  # at the latest then: before its listing ends, or where a price is still on its way
    at("marked_at"),
)
