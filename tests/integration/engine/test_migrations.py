"""The history of the tables: applied once, refused when newer, finished when it died half-way, and kind to data."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import inspect
from sqlalchemy.ext.asyncio import create_async_engine

from bobusang import migrations
from bobusang.engine import tables
from bobusang.kit import clock as clocks
from bobusang.kit.db import connect
from bobusang.kit.dbs.sqlite import place
from bobusang.kit.errors import Conflict, Invalid, Unavailable
from bobusang.kit.sql import Dialect, Statement
from bobusang.migrations import embedded
from bobusang.migrations.applying import _with_connection, apply, scripts
from bobusang.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection

VIEWS = ("claimed_tasks", "crawling_tasks", "crawling_queues", "v_job_statistics")
FILLED = {
    "0001": ("crawling_workflows", "workflow_steps", "crawling_jobs", "tasks", "queue_ready"),
    "0002": ("source_records", "source_data", "source_seen", "products", "sellers", "mall_brands"),
    "0003": ("crawl_agents", "source_gates", "source_decisions", "raw_pages", "held_writes", "collect_runs"),
    "0004": ("product_options", "product_variants", "conversions", "market_masters", "glossary_terms"),
    "0005": ("product_images", "image_files", "image_fetches", "image_blocks"),
    "0006": ("fx_quotes", "market_fees", "duty_rates", "competitor_prices", "price_policies", "price_quotes"),
    "0007": ("market_accounts", "listings", "market_calls", "listing_holds", "webhook_inbox", "call_ledger"),
    "0008": ("pipeline_batches", "pipeline_control", "pipeline_brands"),
    "0009": (),  # views alone
    "0010": ("conveyor_marks",),
    "0011": ("listing_claims",),
    "0012": ("api_replies",),
    "0013": ("users", "sessions", "invitations", "preferences", "engine_history"),
    "0014": ("sync_marks", "supplier_files", "inbound_events"),
    "0015": (),  # columns alone
    "0016": (),  # an index alone
    "0017": (),  # a column alone
    "0018": ("removed_products",),
    "0019": (),  # columns and indexes alone
    "0020": ("search_rebuilds",),
    "0021": (),  # an index alone
    "0022": (),  # a constraint alone
    "0023": (),  # a column and a constraint alone
    "0024": ("image_doubts", "image_revisits"),
    "0025": (),  # a column and a unique key alone
    "0026": (),  # how SQLite numbers rows alone
}
"""The tables of each revision that its frozen data (and that of those before it) has rows in."""


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def fresh(request: pytest.FixtureRequest) -> str:
    """The address of a database without any table."""
    found: str = request.getfixturevalue(f"fresh_{request.param}")
    return found


async def with_mariadb(url: str, work: Callable[[Connection], Any]) -> Any:
    engine = create_async_engine(url.replace("mariadb://", "mariadb+asyncmy://"))
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


def shape(connection: Connection) -> dict[str, tuple[set[Any], set[Any]]]:
    """Columns and indexes of every table."""
    found = inspect(connection)
    return {
        name: (
            {column["name"] for column in found.get_columns(name)},
            {index["name"] for index in found.get_indexes(name)},
        )
        for name in found.get_table_names()
    }


async def test_the_history_is_applied_once_and_what_is_newer_is_refused(fresh: str) -> None:
    head = migrations.head()
    assert await migrations.status(fresh) == migrations.Status(None, head)
    assert await migrations.upgrade(fresh) == migrations.Status(head, head)
    assert await migrations.upgrade(fresh) == migrations.Status(head, head)

    db = await connect(fresh)
    async with db.begin() as tx:
        await tx.execute(Statement("update alembic_version set version_num = '9999'"))
    await db.close()
    for refused in (migrations.status(fresh), migrations.upgrade(fresh)):
        with pytest.raises(Conflict, match=r"revision 9999.*newer version"):
            await refused


async def test_two_processes_that_start_together_upgrade_once(fresh: str) -> None:
    both = await asyncio.gather(migrations.upgrade(fresh), migrations.upgrade(fresh))

    assert [status.is_current for status in both] == [True, True]


async def test_a_new_file_that_somebody_else_has_open_is_waited_for(fresh_sqlite: str) -> None:
    """SQLite itself does not wait when it begins to keep a log, so of two first starts one failed now and then."""
    other = sqlite3.connect(place(fresh_sqlite), isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    leaving = threading.Timer(0.2, other.close)
    leaving.start()

    assert (await migrations.upgrade(fresh_sqlite)).is_current
    leaving.join()


async def test_who_upgrades_second_waits_longer_than_sqlite_does_unasked(fresh_sqlite: str) -> None:
    """On a busy machine the first takes longer than five seconds."""

    def patience(connection: Connection) -> int:
        return int(connection.exec_driver_sql("pragma busy_timeout").scalar_one())

    assert await _with_connection(fresh_sqlite, patience) == 60_000


async def test_an_unreachable_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unavailable, match="file cannot be made"):
        await migrations.upgrade(f"sqlite:///{tmp_path}/file/bobusang.db")
    with pytest.raises(Unavailable, match="BOBUSANG_DATABASE_URL"):
        await migrations.upgrade("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(Invalid, match="MySQL is not supported"):
        await migrations.upgrade("mysql://root@127.0.0.1/x")


async def test_a_mariadb_upgrade_that_died_half_way_is_finished_by_the_next(
    fresh_mariadb: str, migrated_mariadb: str
) -> None:
    """It died between a table and its first index, as it can, because each is committed at once."""

    def die(connection: Connection) -> None:
        for table in (tables.crawl_sources, tables.queue_ready):
            table.create(connection)
        for index in tables.queue_ready.indexes:
            index.drop(connection)

    await with_mariadb(fresh_mariadb, die)
    await migrations.upgrade(fresh_mariadb)

    assert await with_mariadb(fresh_mariadb, shape) == await with_mariadb(migrated_mariadb, shape)


REVISIONS = [script.revision for script in reversed(list(scripts().walk_revisions()))]


async def test_data_of_every_revision_survives_the_way_to_the_newest(fresh: str) -> None:
    """Each revision finds rows in the tables of all before it, and gets its own."""
    before: dict[str, int] = {}
    for revision in REVISIONS:
        await migrations.upgrade(fresh, revision)
        assert await contents(fresh, list(before)) == before, revision
        await _fill(fresh, FROZEN[revision])
        before |= dict.fromkeys(FILLED[revision], 1)
    assert await contents(fresh, list(before)) == before

    async with Workshop.opened(fresh) as shop:
        new = await shop.job(None, "new")
        await shop.drain()
        assert [await shop.status(job) for job in (1, new)] == ["SUCCESS", "SUCCESS"]
        assert {view: len(await shop.rows(f"select * from {view}")) for view in VIEWS} == {
            "claimed_tasks": 0,
            "crawling_tasks": 2,
            "crawling_queues": 0,
            "v_job_statistics": 2,
        }


async def _fill(url: str, statements: list[str]) -> None:
    db = await connect(url)
    async with db.begin() as tx:
        for statement in statements:
            await tx._execute(statement.replace("NOW", f"'{clocks.text(tx.now)}'"), ())
        if tx.dialect is Dialect.POSTGRES:  # the rows brought their ids along
            for table in ("crawling_workflows", "workflow_steps", "crawling_jobs", "lanes"):
                await tx._execute(f"select setval(pg_get_serial_sequence('{table}', 'id'), 100)", ())
    await db.close()


async def contents(url: str, names: list[str]) -> dict[str, int]:
    """How many rows each of these tables has."""
    db = await connect(url)
    async with db.read() as tx:
        found = {
            name: (await tx.fetch(Statement(f"select count(*) as rows_there from {name}")))[0]["rows_there"]
            for name in names
        }
    await db.close()
    return found


FROZEN = {
    "0001": [
        """insert into crawling_workflows (id, workflow_name, workflow_type, workflow_definition, version, checksum,
          created_at, updated_at) values (1, '보부상', 'TARGETED', '{}', 1, 'x', NOW, NOW)""",
        """insert into workflow_steps (id, workflow_id, workflow_version, step_order, step_name, step_type, handler,
          created_at) values (1, 1, 1, 1, 'fetch', 'FETCH', 'work', NOW)""",
        """insert into crawling_jobs (id, workflow_id, workflow_version, status, created_at, updated_at)
          values (1, 1, 1, 'RUNNING', NOW, NOW)""",
        "insert into job_steps (job_id, step_id, step_order, state, created) values (1, 1, 1, 'RUNNING', 1)",
        """insert into tasks (id, job_id, step_id, task_key, task_type, status, created_at, updated_at)
          values (500001, 1, 1, '🧥', 'FETCH', 'PENDING', NOW, NOW)""",
        "insert into lanes (id, handler) values (1, 'work')",
        """insert into queue_ready (task_id, job_id, lane, due, queue, priority, attempt, dispatches)
          values (500001, 1, 1, 0, 1, 5, 0, 0)""",
    ],
    "0002": [
        """insert into source_records (id, source_type, source_system, source_id, version, version_id, digests, hashes,
          last_changed_at, created_at) values (500001, 'supplier_product', 'okmall', '🧥', 1, 500001, '{}', '{}',
          NOW, NOW)""",
        """insert into source_data (id, record_id, source_type, source_system, source_id, version, raw_data,
          normalized_data, hash, processing_status, created_at, updated_at, last_changed_at) values (500001, 500001,
          'supplier_product', 'okmall', '🧥', 1, '{}', '{"name": "패딩"}', 'x', 'raw', NOW, NOW, NOW)""",
        "insert into seen_scopes (id, source_system, name) values (500001, 'okmall', 'detail')",
        """insert into source_seen (scope_id, record_id, last_seen_at, last_run, missed, missed_run, interval_seconds)
          values (500001, 500001, NOW, 1, 0, 0, 3600)""",
        """insert into products (id, mall, product_id, name, price, currency, version, created_at, updated_at)
          values (500001, 'okmall', '🧥', '패딩', 129000, 'KRW', 1, NOW, NOW)""",
        """insert into sellers (id, mall, seller_id, cadence_minutes, created_at, updated_at)
          values (500001, 'mustit', 'dmont', 60, NOW, NOW)""",
        """insert into mall_brands (id, mall_name, mall_brand_no, last_seen_at, created_at, updated_at)
          values (500001, 'okmall', '나이키(NIKE)', NOW, NOW, NOW)""",
    ],
    "0003": [
        """insert into crawl_agents (id, source, place, user_agent, created_at, updated_at)
          values (500001, 'mustit', 0, '보부상', NOW, NOW)""",
        "insert into source_gates (source, endpoint, updated_at) values ('mustit', 'detail', NOW)",
        """insert into source_decisions (source, enabled, why, decided_by, decided_at)
          values ('mustit', true, '계약', 'owner', NOW)""",
        """insert into raw_pages (id, source, endpoint, url, sha256, status, size, fetched_at)
          values (500001, 'mustit', 'detail', '/🧥', 'x', 200, 1, NOW)""",
        """insert into held_writes (id, source, target, record_key, stream, guard, reason, reading, open_key,
          created_at) values (500001, 'mustit', 'seller:dmont', '🧥', 'detail', 'price_jump', 'x', '{}', 'x', NOW)""",
        """insert into collect_runs (job_id, source, target, scope, mode, started_at)
          values (1, 'mustit', 'seller:dmont', 'list:seller:dmont', 'FULL', NOW)""",
    ],
    "0004": [
        """insert into product_options (id, product_id, market, axis, source_key, source_text, market_text, position,
          details, created_at, updated_at) values (500001, 500001, 'buyma', 'color', '블랙', '블랙', '🧥', 1, '[]',
          NOW, NOW)""",
        """insert into product_variants (id, product_id, market, source_key, source_text, color_key, size_key,
          stock_kind, created_at, updated_at) values (500001, 500001, 'buyma', '7001', '블랙 / S', '블랙', 'S',
          'unknown', NOW, NOW)""",
        """insert into conversions (product_id, market, source_version, converter_version, state, reasons, created_at,
          updated_at) values (500001, 'buyma', 1, '1', 'HELD', '[]', NOW, NOW)""",
        """insert into market_masters (id, market, kind, version, checksum, row_count, content, created_at)
          values (500001, 'buyma', 'colors', 1, 'x', 0, '[]', NOW)""",
        """insert into glossary_terms (id, source_lang, target_lang, term, translation, kind, created_at)
          values (500001, 'ko', 'ja', '블랙', 'ブラック', 'color', NOW)""",
    ],
    "0005": [
        """insert into product_images (product_id, position, source_url, url_hash, sha256, state, rights, updated_at)
          values (500001, 1, '/🧥', 'x', 'x', 'READY', 'supplier', NOW)""",
        """insert into image_files (made_from, recipe, sha256, media, width, height, bytes, phash, colours, created_at)
          values ('x', 'original', 'x', 'image/jpeg', 600, 600, 1, 'x', 'x', NOW)""",
        "insert into image_fetches (url_hash, source_url, sha256, fetched_at) values ('x', '/🧥', 'x', NOW)",
        """insert into image_blocks (phash, colours, reason, created_by, created_at)
          values ('x', 'x', '배너', 'x', NOW)""",
    ],
    "0006": [
        """insert into fx_quotes (id, base, quote, rate, spread, source, quoted_at, created_at)
          values (500001, 'JPY', 'KRW', '9.2', '0', '은행', NOW, NOW)""",
        """insert into market_fees (id, market, kind, valid_from, rate, currency, source)
          values (500001, 'buyma', 'sale', '2026-01-01', '0.077', 'JPY', 'x')""",
        """insert into duty_rates (id, country, valid_from, rate, source)
          values (500001, 'JP', '2026-01-01', '0.05', '세관')""",
        """insert into competitor_prices (id, market, model, interval_seconds, due_at)
          values (500001, 'buyma', 'AB123', 3600, NOW)""",
        """insert into price_policies (id, market, policy, decided_by, decided_at)
          values (500001, 'buyma', '{}', 'owner', NOW)""",
        """insert into price_quotes (id, product_id, sku, market, account, decision, reason, currency, steps, rules,
          created_at) values (500001, 500001, '🧥', 'buyma', 'main', 'HOLD', 'no_fx', 'JPY', '[]', '1', NOW)""",
    ],
    "0007": [
        """insert into market_accounts (id, market, name, buying_area, shipping_area, shipping_methods, policy,
          created_at, updated_at) values (500001, 'buyma', '본점', '2002003000', '2002003000', '[888]', '{}', NOW,
          NOW)""",
        """insert into listings (id, account_id, product_id, sku, reference, state, created_at, updated_at)
          values (500001, 500001, 500001, 'okmall/🧥', 'B1', 'SENT', NOW, NOW)""",
        """insert into market_calls (id, listing_id, account_id, run_id, kind, family, urgency, path, payload, draft,
          due_at, created_at, updated_at) values (500001, 500001, 500001, '20260127_01', 'CREATE', 'product', 4, '/x',
          '{}', '{}', NOW, NOW, NOW)""",
        """insert into listing_holds (id, account_id, listing_id, run_id, guard, reason, digest, created_at, updated_at)
          values (500001, 500001, 500001, '20260127_01', 'step', '가격', 'x', NOW, NOW)""",
        """insert into webhook_inbox (id, account_id, dedupe, headers, body, genuine, received_at)
          values (500001, 500001, 'x', '{}', '{}', true, NOW)""",
        "insert into call_ledger (account_id, slot, family, calls) values (500001, NOW, 'product', 1)",
    ],
    "0008": [
        """insert into pipeline_batches (id, batch_id, run_mode, start_time, total_brands)
          values (500001, '20260127_01', 'FULL', NOW, 1)""",
        """insert into pipeline_control (id, batch_id, mall_name, brand_name, run_mode, stage, updated_at, job_id)
          values (500001, '20260127_01', 'okmall', '나이키(NIKE)', 'FULL', 'COLLECT', NOW, 1)""",
        """insert into pipeline_brands (mall_name, brand_name, batch_id)
          values ('okmall', '나이키(NIKE)', '20260127_01')""",
    ],
    "0009": [],
    "0010": [
        """insert into conveyor_marks (product_id, market, version, stamp, model, due_at, marked_at)
          values (500001, 'buyma', 1, 'x', 'AB1234', NOW, NOW)""",
    ],
    "0011": [
        """insert into listing_claims (account_id, goods, product_id, mall, claimed_at)
          values (500001, '4047 AB1234', 500001, 'okmall', NOW)""",
    ],
    "0012": [
        """insert into api_replies (actor, name, digest, status, headers, body, created_at)
          values ('보부상', 'x', 'x', 201, '{}', '{}', NOW)""",
    ],
    "0013": [
        """insert into users (id, name, role, password, created_at) values (500001, '보부상', 'admin', 'x', NOW)""",
        """insert into sessions (id, user_id, hash, agent, created_at, seen_at, expires_at)
          values (500001, 500001, 'x', 'x', NOW, NOW, NOW)""",
        """insert into invitations (id, hash, role, made_by, created_at, expires_at)
          values (500001, 'x', 'admin', 'x', NOW, NOW)""",
        """insert into preferences (user_id, name, value, updated_at) values (500001, 'x', '{}', NOW)""",
        """insert into engine_history (name, label, at, value) values ('x', 'x', NOW, 1.5)""",
    ],
    "0014": [
        """insert into sync_marks (source, stream, until, updated_at) values ('ownerclan', 'items', NOW, NOW)""",
        """insert into supplier_files (id, supplier, name, sha256, size, created_by, created_at, updated_at)
          values (500001, '보부상', '상품.xlsx', 'x', 1, 'x', NOW, NOW)""",
        """insert into inbound_events (id, source, event, sha256, received_at)
          values (500001, 'acme', 'x', 'x', NOW)""",
    ],
    "0015": [],
    "0016": [],
    "0017": ["update products set colours = '블랙, Black'"],
    "0018": ["insert into removed_products (id, url, removed_at) values (500002, 'https://mall.example/2', NOW)"],
    "0019": [
        """update listings set closed_at = NOW, closed_by = '보부상', closed_why = '반품', unseen_at = NOW
          where id = 500001""",
    ],
    "0020": [
        """insert into search_rebuilds (name, number, phase, done, total, asked_at)
          values ('products', 1, 'reading', 5000, 10000, NOW)""",
    ],
    "0021": [
        """insert into translation_memory (id, source_lang, target_lang, source_hash, source_text, target_text, origin,
          created_at) values (500002, 'ko', 'ja', 'f00d', '보부상', '褓負商', 'person', NOW)""",
    ],
    "0022": ["update competitor_prices set search = 'UNCLEAR' where id = 500001"],
    "0023": [
        """insert into duty_rates (id, country, valid_from, rate, source, up_to)
          values (500002, 'JP', '2026-01-01', '0.05', '세관', 200000)""",
        "delete from duty_rates where id = 500002",
    ],
    "0024": [
        """insert into image_doubts (id, kind, sha256, product_id, reason, raised_at)
          values (500001, 'SHARED', 'f00d', 0, '배너', NOW)""",
        "insert into image_revisits (id, product_id, refresh, asked_at) values (500001, 500001, true, NOW)",
        "update source_decisions set rights = 'supplier'",
    ],
    "0025": [
        "update listings set retired = id where id = 500001",
        """insert into listings (id, account_id, product_id, sku, reference, state, created_at, updated_at)
          values (500002, 500001, 500001, 'okmall/🧥', 'B2', 'NEW', NOW, NOW)""",
        "delete from listings where id = 500002",
    ],
    "0026": [
        "update market_fees set source = '도움말' where id = 500001",
    ],
}


def test_every_revision_has_frozen_data() -> None:
    assert list(FROZEN) == REVISIONS


def test_the_history_has_one_head() -> None:
    assert len(scripts().get_heads()) == 1
    assert list(migrations.revisions()) == REVISIONS


async def test_embedded_tables_made_at_once_are_those_of_the_history(tmp_path: Path) -> None:
    """`make docs` writes the script anew; the history itself is proved above."""
    made, migrated = tmp_path / "made.db", tmp_path / "migrated.db"

    await apply(f"sqlite:///{migrated}", "head")

    assert embedded.make(made)
    assert embedded.written(made) == embedded.written(migrated) == embedded.SCRIPT.read_text("utf-8")


async def test_a_file_with_tables_is_left_to_the_history(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bobusang.db'}"
    await apply(url, "0018")

    assert not embedded.make(tmp_path / "bobusang.db")
    assert await migrations.begun(url) == migrations.Status("0018", migrations.head())


def test_a_file_that_is_no_database_is_left_to_the_history(tmp_path: Path) -> None:
    path = tmp_path / "bobusang.db"
    path.write_text("보부상" * 100)

    assert not embedded.make(path)
    assert path.read_text() == "보부상" * 100
