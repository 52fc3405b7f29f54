"""Suppliers and webhooks on the command line: what is asked of the API, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub


def sent(stub: Stub) -> list[tuple[str, str, Any]]:
    return [(asked.method, asked.path, asked.body) for asked in stub.asked]


def test_a_supplier_is_added_and_told_what_is_wrong(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /suppliers", {"name": "acme", "problems": ["its source is off"]})

    found = run("supplier", "add", "acme", "--kind", "webhook", "--secret", "env:S", "--setting", "note=Monday")

    assert sent(stub) == [
        (
            "POST",
            "/suppliers",
            {"name": "acme", "kind": "webhook", "secret": "env:S", "settings": {"note": "Monday"}},
        )
    ]
    assert (found.out, found.err) == ("supplier acme was added\n", "acme: its source is off\n")


def test_what_is_set_and_what_is_taken_away(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("PATCH /suppliers/acme", {"name": "acme"})

    found = run("supplier", "set", "acme", "--address", "", "--setting", "note=null", "--lang", "ko")

    assert sent(stub) == [("PATCH", "/suppliers/acme", {"base_url": None, "settings": {"note": None}})]
    assert found.out == "공급사 acme을(를) 바꿨습니다\n"


def test_several_are_paused(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /suppliers/acme/pause", {})
    stub.on("POST /suppliers/hanbit/pause", {})

    found = run("supplier", "pause", "acme", "hanbit")

    assert found.out == "supplier acme is paused\nsupplier hanbit is paused\n"


def test_a_sync_names_its_job(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /product-sync", {"job_id": 7, "is_new": True})

    found = run("supplier", "sync", "acme")

    assert sent(stub) == [("POST", "/product-sync", {"suppliers": ["acme"]})]
    assert found.out == "job 7 syncs the suppliers\n"
    assert "bobusang job watch 7" in found.err


def test_webhooks_are_read_again(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /inbound/retry", {"source": "acme", "events": 3})

    found = run("inbound", "retry", "acme")

    assert sent(stub) == [("POST", "/inbound/retry", {"source": "acme", "event_id": 0})]
    assert found.out == "3 webhooks of acme are read again\n"
