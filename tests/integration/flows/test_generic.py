"""Design [E]'s own example runs as it stands: FETCH turns pages, PARSE reads them, STORE keeps what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import targets, workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.jobs import NewJob
from bobusang.kit import json

if TYPE_CHECKING:
    from bobusang.testing.yard import Yard

EXAMPLE = """
{
  "steps": [
    {
      "name": "fetch_list",
      "type": "FETCH",
      "config": {
        "url_pattern": "{base_url}/list?page={page}",
        "pagination": true,
        "max_pages": 100
      }
    },
    {
      "name": "parse_items",
      "type": "PARSE",
      "config": {
        "parser": "html",
        "selectors": {
          "items": ".product-item",
          "name": ".title",
          "price": ".price"
        }
      }
    }
  ]
}
"""
STORED = """
workflow: plain shop
steps:
  - name: fetch_list
    type: FETCH
    config: {url_pattern: "{base_url}/list?page={page}", pagination: true, max_pages: 2}
  - name: parse_items
    type: PARSE
    config: {parser: html, selectors: {items: .product-item, name: .title, price: ".price | won"}}
  - {name: keep, type: STORE, config: {key: name, record_type: supplier_product}}
"""


async def job_of(yard: Yard, text: str) -> int:
    definition = load(text, origin="example", name="plain")
    engine = yard.app.engine
    stored = await yard.db.transact(lambda tx: workflows.store(tx, engine.books, definition, handlers=engine.handlers))
    await yard.db.transact(lambda tx: targets.source_id(tx, "plain", f"{yard.door.url}/plain"))
    job, _ = await engine.submit(NewJob(stored.id, input={"source": "plain"}))
    return job


async def test_the_example_runs_as_it_stands(any_yard: Yard) -> None:
    job = await job_of(any_yard, EXAMPLE)

    assert await any_yard.ended(job) == "SUCCESS"
    rows = await any_yard.rows(
        "select t.output_data from tasks t join workflow_steps s on s.id = t.step_id "
        "where t.job_id = :job and s.step_name = 'parse_items'",
        job=job,
    )
    items = [item for row in rows for item in json.loads(row["output_data"])["items"]]
    assert len(items) > 20
    assert all(item["name"] and item["price"] for item in items)
    assert len({json.dumps(item) for item in items}) == len(items)


async def test_rows_are_stored_as_records_and_a_second_run_changes_nothing(yard: Yard) -> None:
    first = await job_of(yard, STORED)
    assert await yard.ended(first) == "SUCCESS"
    records = await yard.records("plain")
    second = await job_of(yard, STORED)
    assert await yard.ended(second) == "SUCCESS"

    assert await yard.records("plain") == records
    assert records
    assert all(isinstance(fields["price"], int) for fields in records.values())
    assert await yard.rows("select distinct version from source_records") == [{"version": 1}]


async def test_a_job_that_names_another_address_is_refused(yard: Yard) -> None:
    await yard.db.transact(lambda tx: targets.source_id(tx, "plain", f"{yard.door.url}/plain"))
    engine = yard.app.engine
    stored = await yard.db.transact(
        lambda tx: workflows.store(tx, engine.books, load(EXAMPLE, origin="example", name="plain"))
    )
    given = {"source": "plain", "base_url": "http://127.0.0.1:1"}
    job, _ = await engine.submit(NewJob(stored.id, input=given))

    assert await yard.ended(job) == "FAILED"
    [row] = await yard.rows("select error from dead_letters")
    assert row["error"] == f"source 'plain' is at {yard.door.url}/plain, not at http://127.0.0.1:1 (leave base_url out)"
