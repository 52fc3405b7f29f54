"""Sources and the gate before them: nothing is collected that nobody has decided about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.stages.collect.admission import Cause, Wait
from tests.integration.api.door import opened, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront

ACME = """\
shop: acme
description: 한 도매상
intake: {kind: http, base: "http://127.0.0.1:9", format: json}
identity: {kind: api_key, size: 2, apply: {headers: {X-Key: "{token}"}}}
limits: {rate: "2/s", concurrency: 3}
streams:
  list:
    request: {get: /items}
    records: items[*]
    key: id
    fields: {name: name}
    emits: record
"""


@pytest.fixture
async def acme(url: str, tmp_path: Path) -> AsyncIterator[Door]:
    """An API with a shop of the operator's own, at an address that is never called, and one that cannot be read."""
    for name, text in {"acme": ACME, "broken": "shop: broken\nintake: {kind: carrier pigeon}\n"}.items():
        (tmp_path / "shops" / name).mkdir(parents=True)
        (tmp_path / "shops" / name / "shop.yaml").write_text(text, "utf-8")
    async with opened(url, tmp_path, shops=str(tmp_path / "shops")) as door:
        yield door
        await door.app.collector.close()


def without(found: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in names}


async def test_a_source_is_off_until_a_person_enables_it(acme: Door) -> None:
    lines = {line["name"]: line for line in (await acme.get("/sources"))["items"]}
    assert list(lines) == sorted({"acme", "broken", *(path.parent.name for path in SHIPPED.glob("*/shop.yaml"))})
    assert without(lines["acme"], "version") == {
        "name": "acme",
        "origin": "folder",
        "intake": "http",
        "contains_code": False,
        "trusted": True,
        "problem": None,
        "description": "한 도매상",
        "base": "http://127.0.0.1:9",
        "kinds": ["list"],
        "enabled": False,
        "why": None,
        "decided_by": None,
        "decided_at": None,
        "rights": "unknown",
        "robots": None,
        "gate": "off",
        "health": "off",
        "last_answer_at": None,
        "pages_read": 0,
        "pages_failed": 0,
        "limits": {"rate": 2.0, "burst": 1.0, "concurrency": 3, "endpoints": {}},
        "identity": {"kind": "api_key", "size": 2, "quota_calls": None, "quota_seconds": None, "states": {}},
    }
    assert (lines["broken"]["gate"], lines["broken"]["limits"]) == ("broken", None)
    assert "carrier pigeon" in lines["broken"]["problem"]

    made = (await acme.admin.post("/sources/acme/enable", json={"why": "계약서 3조"})).json()

    assert (made["enabled"], made["why"], made["decided_by"]) == (True, "계약서 3조", "the admin")
    assert [line["name"] for line in (await acme.get("/sources", enabled=True))["items"]] == ["acme"]
    (act,) = (await acme.get("/audit", subject_type="source"))["items"]
    assert (act["action"], act["actor"], act["after"]["why"]) == ("source.enable", "the admin", "계약서 3조")


async def test_by_what_right_its_pictures_are_shown_is_said_once(acme: Door) -> None:
    said = [
        (await acme.admin.post("/sources/acme/enable", json=body)).json()
        for body in ({"why": "계약서 3조", "rights": "supplier"}, {"why": "계약서 4조"}, {"why": "x", "rights": "mine"})
    ]

    assert [one.get("rights") for one in said] == ["supplier", "supplier", None]
    assert (await acme.get("/sources/acme"))["rights"] == "supplier"
    assert [one["after"]["rights"] for one in (await acme.get("/audit", subject_type="source"))["items"]] == [
        "supplier",
        "supplier",
    ]


async def test_a_robots_txt_that_cannot_be_had_is_told_of_and_hinders_nothing(acme: Door) -> None:
    made = await acme.admin.post("/sources/acme/enable", json={"why": "terms"})

    robots = made.json()["robots"]
    assert made.status_code == 200
    assert (robots["standing"], robots["status"], robots["url"]) == ("unknown", None, "http://127.0.0.1:9/robots.txt")
    assert "127.0.0.1" in robots["error"]
    assert robots["endpoints"] == [
        {"endpoint": "list", "path": "/items", "standing": "unknown", "line": "robots.txt: no answer"}
    ]


async def test_a_source_that_wants_a_key_waits_for_it_and_never_shows_it(acme: Door) -> None:
    await acme.admin.post("/sources/acme/enable", json={"why": "terms"})
    collector = acme.app.collector
    policy = collector.source("acme").policy
    refused = await collector.gate.admit("acme", policy, "list")
    assert isinstance(refused, Wait)
    assert refused.cause is Cause.KEY
    (waits,) = (await acme.get("/gate", source="acme"))["items"]
    assert (waits["cause"], waits["until"], waits["needs_person"]) == ("key", None, True)
    assert (await acme.get("/queues/pools/source:acme"))["is_halted"] is True

    given = await acme.admin.post("/sources/acme/key", json={"key": "open sesame"})

    assert given.status_code == 204
    assert (await acme.get("/gate", source="acme"))["items"] == []
    assert (await acme.get("/queues/pools/source:acme"))["is_blocked"] is False
    told = str([await acme.get(path) for path in ("/sources/acme", "/identities", "/audit", "/gate/decisions")])
    assert "open sesame" not in told
    assert "source.key" in told
    wrong = await acme.admin.post("/sources/news/key", json={"key": "x"})
    assert (wrong.status_code, wrong.json()["detail"]) == (
        409,
        "news is not called with a key: its identity is 'none'",
    )


async def test_what_a_person_switches_is_written_into_the_journal_of_the_gate(acme: Door) -> None:
    await acme.admin.post("/sources/acme/enable", json={"why": "terms"})
    off = await acme.operator.post("/sources/acme/disable", json={"why": "they asked us to"})
    assert (off.json()["enabled"], off.json()["gate"]) == (False, "off")
    (line,) = (await acme.get("/gate", source="acme"))["items"]
    assert without(line, "updated_at") == {
        "source": "acme",
        "endpoint": None,
        "answer": "wait",
        "cause": "off",
        "until": None,
        "needs_person": True,
        "reason": "acme is off: they asked us to",
        "breaker": "CLOSED",
        "times_opened": 0,
        "tasks": 0,
    }
    await acme.admin.post("/sources/acme/enable", json={"why": "they agreed"})

    first = await acme.get("/gate/decisions", limit=1)
    second = await acme.get("/gate/decisions", limit=1, cursor=first["next"])
    entries = [*first["items"], *second["items"]]
    assert [(entry["source"], entry["answer"], entry["reason"]) for entry in entries] == [
        ("acme", "go", ""),
        ("acme", "wait", "acme is off: they asked us to"),
    ]
    assert second["next"] is None
    assert (await acme.get("/gate/decisions", source="okmall"))["items"] == []


async def test_a_place_that_no_shop_describes_is_listed_and_needs_a_decision(door: Door) -> None:
    await door.operator.post("/targets", json={"type": "keyword", "key": "k", "source": "동네 장터"})
    line = (await door.get("/sources"))["items"][-1]
    assert (line["name"], line["origin"], line["gate"]) == ("동네 장터", "undescribed", "off")

    made = await door.admin.post("/sources/동네 장터/enable", json={"why": "it is ours"})

    assert (made.json()["gate"], made.json()["robots"], made.json()["streams"]) == ("open", None, [])


async def test_a_supplier_that_sends_files_is_listed_so_that_its_pictures_can_be_allowed(door: Door) -> None:
    await door.admin.post("/suppliers", json={"name": "hanbit", "kind": "excel"})
    line = (await door.get("/sources"))["items"][-1]
    assert (line["name"], line["origin"], line["gate"]) == ("hanbit", "undescribed", "off")

    made = await door.admin.post("/sources/hanbit/enable", json={"why": "they sent us the list"})

    assert (made.status_code, made.json()["gate"]) == (200, "open")


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", "/resume"), ("POST", "/enable")])
async def test_a_source_that_is_not_there_is_told_with_one_that_is(small: Door, method: str, path: str) -> None:
    body = {"why": "x"} if path == "/enable" else None

    answer = await small.admin.request(method, f"/sources/okmal{path}", json=body)

    assert (answer.status_code, answer.json()["hint"]) == (404, "did you mean okmall?")


async def test_only_an_admin_enables_and_nobody_without_a_reason(small: Door) -> None:
    refused = await small.operator.post("/sources/okmall/enable", json={"why": "x"})
    mute = [await small.admin.post("/sources/okmall/enable", json=body) for body in ({}, {"why": ""}, {"why": " "})]

    assert refused.status_code == 403
    assert [(one.status_code, one.json()["field"]) for one in mute] == [(422, "why")] * 3
    assert (await small.get("/sources", enabled=True))["items"] == []


async def test_robots_txt_is_judged_for_each_endpoint_and_kept(front: Shopfront) -> None:
    made = (await front.door.admin.post("/sources/okmall/enable", json={"why": "the sandbox"})).json()

    robots = made["robots"]
    assert (robots["standing"], robots["status"], robots["error"]) == ("allowed", 200, None)
    assert robots["url"] == f"{front.sandbox.okmall}/robots.txt"
    assert [(one["endpoint"], one["path"]) for one in robots["endpoints"]] == [
        ("brands", "/html_data/gnb/V1/top_all_brand_V5.html"),
        ("list", "/products/list?brand=1"),
        ("detail", "/products/view?no=1"),
    ]
    assert (await front.door.get("/sources/okmall"))["robots"] == robots
    assert len(await front.sandbox.log(endpoint="robots")) == 1


async def test_a_robots_txt_that_fails_is_told_with_its_status(front: Shopfront) -> None:
    await front.sandbox.fault("okmall", "robots", "http_500")

    made = (await front.door.admin.post("/sources/okmall/enable", json={"why": "the sandbox"})).json()

    assert (made["enabled"], made["robots"]["standing"], made["robots"]["status"]) == (True, "unknown", 500)
    assert made["robots"]["line"] == "robots.txt: status 500"


async def test_a_closed_door_halts_the_source_until_a_person_resumes_it(front: Shopfront) -> None:
    door = front.door
    await front.sandbox.fault("okmall", "list", "http_403", count=1)
    async with door.working():
        job = await front.started({"source": "okmall", "keys": [await front.brand()]})
        (halted,) = await until(lambda: halts(door), bool)
        assert (halted["source"], halted["endpoint"], halted["needs_person"]) == ("okmall", None, True)
        assert halted["reason"] == "OKmall has closed the door; `bobusang source resume okmall` when mended"
        assert (await door.get("/sources/okmall"))["gate"] == f"halted: {halted['reason']}"
        assert (await door.get(f"/jobs/{job}"))["status"] == "RUNNING"

        resumed = await door.operator.post("/sources/okmall/resume")

        assert resumed.json() == {"source": "okmall", "resumed": True}
        assert (await door.ended(job))["status"] == "SUCCESS"
    assert (await door.get("/gate"))["items"] == []
    assert (await door.operator.post("/sources/okmall/resume")).json()["resumed"] is False
    shown = await door.get("/sources/okmall")
    assert [entry["answer"] for entry in shown["decisions"]] == ["go", "wait"]
    assert {line["endpoint"]: line["success"] for line in shown["today"]}["list"] >= 1


async def halts(door: Door) -> list[dict[str, Any]]:
    return [line for line in (await door.get("/gate"))["items"] if line["cause"] == "halted"]
