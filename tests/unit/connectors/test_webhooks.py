"""A shop that sends webhooks: how it is written down, whose signature counts, and which event a body is."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit import json
from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.stages.collect.inbound import (
    Encoding,
    Event,
    Signing,
    Verdict,
    happened,
    instant,
    key_of,
    packed,
    unpacked,
)
from bobusang.stages.collect.source import Ask, Page, Target
from tests.unit.connectors.reading import compiled, problems

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
shop: acme
intake:
  kind: webhook
  verify: {hmac_sha256: {header: X-Sign, prefix: "sha256=", timestamp: X-Time, tolerance: 5m, secret: "env:ACME"}}
  dedupe: event_id
  event: type
  at: occurred_at
  events: {product.updated: products, "*": other}
streams:
  products: {records: "data[*]", key: sku, fields: {name: name, price: price | won}}
  other: {records: "data[*]", key: sku, fields: {name?: name}}
"""
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
BODY = b'{"event_id": "e1"}'


def page(told: object, **headers: str) -> Page:
    return Page(Ask("/in/acme"), json.dumps(told).encode(), headers=headers)


def signed(text: bytes, secret: str = "s3cret") -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def test_a_shop_says_how_it_signs(tmp_path: Path) -> None:
    found = compiled(tmp_path, SHOP).inbound

    assert found is not None
    assert found.signing == Signing(
        "x-sign", "sha256=", Encoding.HEX, "x-time", timedelta(minutes=5), "{timestamp}.{body}", "env:ACME"
    )


def test_it_is_not_asked(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)

    assert shop.target_kinds == ()
    with pytest.raises(Invalid, match="acme is not collected by brand"):
        shop.seeds(Target("brand", "nike"))


def test_which_event_a_body_is(tmp_path: Path) -> None:
    found = compiled(tmp_path, SHOP).inbound
    assert found is not None
    told = {"event_id": 7, "type": "product.updated", "occurred_at": "2026-11-16T21:00:00+09:00"}

    assert found.event(page(told)) == Event("7", "products", NOW, "product.updated")
    assert found.event(page(told | {"type": "price.list"})) == Event("7", "other", NOW, "price.list")
    with pytest.raises(Drifted, match="does not say which event"):
        found.event(page({"type": "product.updated"}))
    with pytest.raises(Drifted, match="does not say when"):
        found.event(page(told | {"occurred_at": "yesterday"}))
    with pytest.raises(Unavailable, match="no JSON"):
        found.event(Page(Ask("/in/acme"), b"\xff not JSON"))


def test_headers_may_say_what_a_body_does_not(tmp_path: Path) -> None:
    text = SHOP.replace("dedupe: event_id", "dedupe: header:X-Event-Id").replace("event: type", "event: header:X-Topic")
    found = compiled(tmp_path, text).inbound
    assert found is not None
    sent = {"x-event-id": "e9", "x-topic": "product.updated", "authorization": "secret", "x-other": "a"}
    kept = packed(found.headers, sent, b'{"occurred_at": 1794830400}')

    headers, body = unpacked(kept)
    assert (headers, body) == ({"x-event-id": "e9", "x-topic": "product.updated"}, b'{"occurred_at": 1794830400}')
    assert found.event(Page(Ask(""), body, headers=headers)) == Event("e9", "products", NOW, "product.updated")
    assert unpacked(b'{"a": 1}\r\n\r\n') == ({}, b'{"a": 1}\r\n\r\n')


@pytest.mark.parametrize(
    ("before", "after", "place", "message"),
    [
        ("header: X-Sign, ", "", "intake.verify.hmac_sha256.header", "is missing"),
        ("X-Sign", "X Sign", "intake.verify.hmac_sha256.header", "'X Sign' is no header"),
        ("tolerance: 5m", "tolerance: 2d", "intake.verify.hmac_sha256.tolerance", "older than a day"),
        ("tolerance: 5m", 'signs: "{body}"', "intake.verify.hmac_sha256.signs", "not signed proves nothing"),
        ("tolerance: 5m", 'signs: "{timestamp}"', "intake.verify.hmac_sha256.signs", "has {body} in it"),
        ('"env:ACME"', "hunter2", "intake.verify.hmac_sha256.secret", "where the secret is, not what it is"),
        ("product.updated: products", "product.updated: product", "intake.events.product.updated", "no stream"),
        ("  event: type\n", "", "intake.event", "is missing"),
        ('  events: {product.updated: products, "*": other}\n', "", "intake.events", "is missing"),
        (
            "key: sku, fields: {name?",
            "key: sku, request: {get: /}, fields: {name?",
            "streams.other.request",
            "by itself",
        ),
        ("hmac_sha256", "md5", "intake.verify.hmac_sha256", "is missing"),
    ],
)
def test_a_mistake_is_told_where_it_stands(tmp_path: Path, before: str, after: str, place: str, message: str) -> None:
    assert before in SHOP
    found = problems(tmp_path, SHOP.replace(before, after))

    assert [one for one in found if place in one and message in one] != [], found


TIMED = Signing("x-sign", "sha256=", timestamp="x-time", signs="{timestamp}.{body}")
AT = str(int(NOW.timestamp()))


@pytest.mark.parametrize(
    ("signing", "headers", "verdict"),
    [
        (Signing("x-sign"), {"x-sign": signed(BODY)}, Verdict.GENUINE),
        (Signing("x-sign"), {"x-sign": signed(BODY).upper()}, Verdict.GENUINE),
        (Signing("x-sign"), {"x-sign": signed(BODY, "other")}, Verdict.FORGED),
        (Signing("x-sign"), {"x-sign": signed(BODY + b" ")}, Verdict.FORGED),
        (Signing("x-sign"), {"x-sign": ""}, Verdict.FORGED),
        (Signing("x-sign"), {"x-sign": "é" * 64}, Verdict.FORGED),
        (Signing("x-sign"), {}, Verdict.FORGED),
        (Signing("x-sign"), {"x-sign": f"{signed(BODY, 'old')}, {signed(BODY)}"}, Verdict.GENUINE),
        (Signing("x-sign", "v1="), {"x-sign": f"t=5,v1={signed(BODY)}"}, Verdict.GENUINE),
        (Signing("x-sign", "v1="), {"x-sign": signed(BODY)}, Verdict.FORGED),
        (
            Signing("x-sign", encoding=Encoding.BASE64),
            {"x-sign": base64.b64encode(bytes.fromhex(signed(BODY))).decode()},
            Verdict.GENUINE,
        ),
        (Signing("x-sign", encoding=Encoding.BASE64), {"x-sign": "!!"}, Verdict.FORGED),
        (TIMED, {"x-sign": f"sha256={signed(AT.encode() + b'.' + BODY)}", "x-time": AT}, Verdict.GENUINE),
        (TIMED, {"x-sign": f"sha256={signed(AT.encode() + b'.' + BODY)}"}, Verdict.FORGED),
        (TIMED, {"x-sign": f"sha256={signed(AT.encode() + b'.' + BODY)}", "x-time": "1"}, Verdict.FORGED),
        (TIMED, {"x-sign": f"sha256={signed(b'1.' + BODY)}", "x-time": "1"}, Verdict.STALE),
        (TIMED, {"x-sign": f"sha256={signed(b'soon.' + BODY)}", "x-time": "soon"}, Verdict.STALE),
    ],
)
def test_whose_signature_counts(signing: Signing, headers: dict[str, str], verdict: Verdict) -> None:
    assert signing.verify("s3cret", headers, BODY, NOW) is verdict
    assert signing.verify("", headers, BODY, NOW) is Verdict.FORGED


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (1794830400, NOW),
        (1794830400000, NOW),
        ("1794830400", NOW),
        ("1794830400.0", NOW),
        ("2026-11-16T12:00:00Z", NOW),
        ("2026-11-16T21:00:00+09:00", NOW),
        ("2026-11-16T12:00:00", None),
        ("", None),
        (None, None),
        (True, None),
        (10**30, None),
        ("9" * 40, None),
    ],
)
def test_instants_as_suppliers_write_them(told: object, found: datetime | None) -> None:
    assert instant(told) == found


def test_nothing_happens_later_than_it_is_told() -> None:
    assert happened(None, NOW) == NOW
    assert happened(NOW - timedelta(days=3), NOW) == NOW - timedelta(days=3)
    assert happened(NOW + timedelta(minutes=1), NOW) == NOW + timedelta(minutes=1)
    assert happened(NOW + timedelta(days=9000), NOW) == NOW


def test_the_key_of_an_event_is_bounded() -> None:
    assert key_of(" e1 ", BODY) == "e1"
    assert key_of("", BODY) == f"sha256:{hashlib.sha256(BODY).hexdigest()}"
    assert key_of("x" * 201, BODY) == f"long:{hashlib.sha256(b'x' * 201).hexdigest()}"
    assert key_of("a\0b", BODY).startswith("long:")
