import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bobusang.connectors.sources.declared.fixture import expected, read_page, record, replay, replayed
from bobusang.connectors.sources.declared.redaction import redact_body, redact_headers
from bobusang.kit.errors import Invalid, Missing
from bobusang.stages.collect.source import Ask, Kind, Page, Target
from tests.unit.connectors.reading import compiled

SHOP = """\
shop: acme
intake: {kind: http, base: "https://acme.example.com"}
streams:
  list:
    request: {get: /list, headers: {X-Api-Key: abc}}
    records: items[*]
    key: id
    fields: {name: name, contact: contact}
"""

REDACTED = {
    "연락처 010-1234-5678 입니다": "연락처 010-0000-0000 입니다",
    "01012345678": "010-0000-0000",
    "+82 10-1234-5678": "010-0000-0000",
    "02-123-4567, 1588-1234": "02-000-0000, 1500-0000",
    "someone.else+x@shop.co.kr": "someone@example.com",
    "사업자 123-45-67890": "사업자 000-00-00000",
    'token: "abcdefghijkl"': 'token: "redacted"',
    '{"accessToken":"abcdefghijkl"}': '{"accessToken":"redacted"}',
    '<meta name="csrf_token" content="q1w2e3">': '<meta name="csrf_token" content="redacted">',
    "Authorization: Bearer abcdefgh12345678": "Authorization: Bearer redacted",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4": "redacted",
    "129,000원 (FQ2494-010) 2026-01-16": "129,000원 (FQ2494-010) 2026-01-16",
    "상품번호 118005032, 옵션 4134224619": "상품번호 118005032, 옵션 4134224619",
}


@pytest.mark.parametrize(("text", "kept"), REDACTED.items())
def test_what_belongs_to_a_person_is_taken_out(text: str, kept: str) -> None:
    assert redact_body(text.encode()).decode() == kept


def test_headers_that_open_doors_are_taken_out() -> None:
    assert redact_headers(
        {"set-cookie": "a=b", "authorization": "x", "content-type": "text/html", "x-api-key": "k"}
    ) == {
        "set-cookie": "redacted",
        "authorization": "redacted",
        "content-type": "text/html",
        "x-api-key": "redacted",
    }


def test_what_is_recorded_is_replayed(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    [ask] = shop.seeds(Target("list", "all"))
    body = json.dumps({"items": [{"id": 1, "name": "코트", "contact": "010-1234-5678"}]}, ensure_ascii=False).encode()
    page = Page(ask, body, headers={"set-cookie": "token=1"}, url=ask.url, fetched_at=datetime(2026, 1, 16, tzinfo=UTC))
    record(tmp_path / "f", page, shop.read(page))
    saved = read_page(tmp_path / "f")

    assert replayed(tmp_path / "f", shop) == expected(tmp_path / "f")
    assert saved == Page(
        Ask(ask.url, Kind.LIST, "list", headers={"X-Api-Key": "redacted"}, given=ask.given, key=ask.key),
        body.replace(b"010-1234-5678", b"010-0000-0000"),
        headers={"set-cookie": "redacted"},
        url=ask.url,
        fetched_at=datetime(2026, 1, 16, tzinfo=UTC),
    )
    assert "010-1234" not in "".join(path.read_text("utf-8") for path in (tmp_path / "f").iterdir())


def test_an_error_is_replayed_as_one(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    [ask] = shop.seeds(Target("list", "all"))
    record(tmp_path / "f", Page(ask, b'{"items": 5, "x"', url=ask.url), [])

    assert replayed(tmp_path / "f", shop) == [{"raises": "unavailable"}]


def test_half_a_fixture_is_said(tmp_path: Path) -> None:
    shop = compiled(tmp_path, SHOP)
    with pytest.raises(Missing, match=r"ask\.json is not there"):
        replay(tmp_path / "f", shop)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "ask.json").write_text('{"url": "x", "colour": "red"}')
    with pytest.raises(Missing, match="has no page"):
        replay(tmp_path / "f", shop)
    (tmp_path / "f" / "page.json").write_text("{}")
    with pytest.raises(Invalid, match="is no ask"):
        replay(tmp_path / "f", shop)
